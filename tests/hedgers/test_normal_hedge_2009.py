"""NormalHedge of 2009: its equation, and the same in sktime."""

import math

import numpy as np
import pytest

from normalhedge import hedgers


def test_normal_hedge_2009_solves_its_equation() -> None:
    hedger, rng = hedgers.NormalHedge2009(), np.random.default_rng(5)
    for n in (2, 3, 100, 5000):
        state = hedger.run(rng.choice([-1.0, 1.0], (20, n))).state
        positive = np.maximum(state.regrets, 0)
        assert np.mean(np.exp(positive**2 / (2 * hedger.spread(state)))) == pytest.approx(math.e)
    assert hedger.spread(hedger.init(3)) == 0.0


def test_sktime() -> None:
    """What sktime 1.2.0's NormalHedgeEnsemble gives for these losses; its c is by bisection."""
    losses = (1 + np.sin(np.outer(np.arange(1, 31), [1.0, 1.3, 1.7, 2.1, 2.9]))) / 2
    theirs = [0.1939195950969, 0.1357529434215, 0.1774215751799, 0.2148875329091, 0.2780183533926]
    state = hedgers.NormalHedge2009().run(1 - 2 * losses).state
    np.testing.assert_allclose(state.weights, theirs, atol=1e-11)
