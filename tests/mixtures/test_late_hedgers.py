"""Hedgers that know how late outcomes come, in mixtures whose outcomes are as late."""

from collections import deque

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.hedgers import DORM, AdaHedgeD, CompiledHedger, DORMPlus
from tests.mixtures.hedger_examples import KNOWN, WIDTH


@pytest.mark.parametrize("hedger", [DORM(3), DORMPlus(3, 1.0), AdaHedgeD(3, 0.5)], ids=repr)
def test_a_mixture_with_a_lag_plays_the_game(hedger: CompiledHedger) -> None:
    rng, lag = np.random.default_rng(4), 3
    mixture = Mixture(hedger, KNOWN, gradient=False)
    truth, said = rng.uniform(-1, 1, 60), rng.uniform(-1, 1, (60, 4))
    waiting, played = deque[tuple[int, float]](), []
    for y, row in zip(truth, said, strict=True):
        made = mixture.predict(dict(zip("abcd", row.tolist(), strict=True)))
        played.append(list(made.weights.values()))
        waiting.append((made.ticket, float(y)))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
    losses = np.abs(said - truth[:, None])
    run = hedger.run(1.0 - 2.0 * losses / WIDTH, keep_weights=True)
    assert run.weights is not None
    np.testing.assert_allclose(played, run.weights, atol=1e-9)
    while waiting:
        mixture.update(*waiting.popleft())
    # Regrets to the played distributions, which no bound without a delay covers.
    np.testing.assert_allclose(mixture.regrets[0], run.state.regrets, atol=1e-9)
    assert run.state.best_regret <= mixture.bound().regret < np.inf
