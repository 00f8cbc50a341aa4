"""The Bayesian average, which does not recover from a change."""

from normalhedge import NormalHedge
from normalhedge.latent import (
    BayesAverage,
    ModelExperts,
    Predictor,
)
from tests.latent.banks.examples import bank_of, losses, sequence


def test_after_a_change_of_truth_hedging_recovers_and_bayes_does_not() -> None:
    bank = bank_of((0.98, 0.95, 0.05), (0.02, 0.95, 0.05))
    predictors: dict[str, Predictor] = {
        "bayes": BayesAverage(bank),
        "hedged": ModelExperts(bank, NormalHedge(alpha=0.01)),
    }
    losses(predictors, sequence(3000, 0.98, 0.95, 0.05))
    found = losses(predictors, [k % 2 for k in range(1000)])
    assert found["hedged"] < 0.5 * found["bayes"]
