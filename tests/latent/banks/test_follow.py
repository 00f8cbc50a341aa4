"""Following a sequence is predicting and observing round by round."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.latent import (
    BayesAverage,
    HMMBank,
    LearningBank,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    follow,
    random_categorical_bank,
    random_gaussian_bank,
)
from tests.latent.banks.examples import bank_of, sequence


@pytest.mark.parametrize("kind", [StateExperts, ModelExperts])
def test_what_was_inferred(kind: Any) -> None:
    bank = bank_of((0.99, 0.9, 0.1), (0.99, 0.4, 0.3))
    rng = np.random.default_rng(13)
    hidden = np.repeat([0, 1, 0, 1, 0], 200)
    symbols = [int(rng.random() < (0.9, 0.1)[s]) for s in hidden]
    went = follow(kind(bank, NormalHedge(alpha=0.02)), symbols)
    assert went.predictions.shape == (1000, 2)
    assert went.loss == pytest.approx(went.losses.sum())
    assert went.errors == (went.predictions.argmax(axis=1) != symbols).sum()
    assert (went.states[100:] == hidden[100:]).mean() > 0.9
    assert went.candidates[500:, 0].mean() > 0.9
    np.testing.assert_allclose(went.candidates.sum(axis=1), 1.0)
    assert went.time_to_switch(0, 0, 0.9) is not None
    assert went.time_to_switch(500, 1, 0.9) is None


def test_the_time_to_switch_after_a_change_of_truth() -> None:
    bank = bank_of((0.98, 0.95, 0.05), (0.02, 0.95, 0.05))
    symbols = sequence(2000, 0.98, 0.95, 0.05) + sequence(2000, 0.02, 0.95, 0.05, seed=1)
    hedged = follow(ModelExperts(bank, NormalHedge(alpha=0.01)), symbols)
    bayes = follow(BayesAverage(bank), symbols)
    switched = hedged.time_to_switch(2000, 1)
    assert switched is not None
    assert switched < 200  # two memories
    late = bayes.time_to_switch(2000, 1)
    assert late is None or late > 5 * switched


def test_nothing_to_follow_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="at least one observation"):
        follow(Persistence(2), [])


def every_predictor(bank: HMMBank) -> list[tuple[Predictor, Predictor]]:
    """Return pairs of equal predictors."""
    hedger, rounded = NormalHedge(alpha=0.05, c=1.0), {"rounded": True} if bank.symbol_count else {}
    makers: list[Any] = [
        lambda: StateExperts(bank, hedger),
        lambda: ModelExperts(bank, hedger),
        lambda: BayesAverage(bank),
        lambda: BayesAverage(bank, 0.9),
        lambda: StateExperts(bank, hedger, **rounded),
        lambda: ModelExperts(bank, hedger, **rounded),
        lambda: BayesAverage(bank, **rounded),
        lambda: LearningBank(bank, np.random.default_rng(0), hedger),
    ]
    return [(make(), make()) for make in makers]


@pytest.mark.parametrize("real", [False, True])
def test_following_is_predicting_and_observing_one_by_one(real: bool) -> None:
    rng = np.random.default_rng(15)
    if real:
        bank: HMMBank = random_gaussian_bank(7, 3, 1.0, 2.0, rng)
        symbols = rng.normal(1.0, 2.0, size=90)
        symbols[31] = 1e9  # impossible under all
    else:
        bank = random_categorical_bank(7, 3, 4, rng)
        symbols = rng.integers(4, size=90).astype(float)
    symbols[[0, 40, 41, 89]] = np.nan
    for one, other in every_predictor(bank):
        went = follow(one, symbols)
        for t, x in enumerate(symbols.tolist()):
            weights = other.weights  # type: ignore[attr-defined]
            np.testing.assert_allclose(went.candidates[t], weights.sum(axis=0), atol=1e-12)
            np.testing.assert_allclose(went.state_weights[t], weights.sum(axis=1), atol=1e-12)
            said = other.predict()
            np.testing.assert_allclose(went.predictions[t], said, atol=1e-12, rtol=1e-12)
            if math.isnan(x):
                assert math.isnan(went.losses[t])
                assert not went.wrong[t]
            else:
                assert went.losses[t] == pytest.approx(1.0 - other.score(x), abs=1e-12)
                if not real:
                    assert went.losses[t] == pytest.approx(1.0 - said[int(x)], abs=1e-12)
                    assert went.wrong[t] == (said.argmax() != x)
            other.observe(x)
        assert one.state.impossible == other.state.impossible == int(real)  # type: ignore[attr-defined]


def test_what_cannot_be_followed_teaches_nothing() -> None:
    predictor = ModelExperts(bank_of((0.9, 0.9, 0.1)))
    with pytest.raises(ValueError, match=r"symbol in 0\.\.1, got 3"):
        follow(predictor, [0, 1, 3])
    assert predictor.state.rounds == 0
