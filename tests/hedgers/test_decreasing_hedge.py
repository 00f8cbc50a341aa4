"""Hedge at a rate that decreases."""

import math

import numpy as np

from normalhedge import hedgers
from tests import family_oracles as oracles
from tests.hedgers.examples import drawn_games


def test_decreasing_rate_with_a_discount() -> None:
    gains, alpha = next(drawn_games())[0], 0.1
    n, R, time = 2, np.zeros(2), 1.0
    run = hedgers.DecreasingHedge(alpha).run(gains, keep_weights=True)
    assert run.weights is not None
    for row, played in zip(gains, run.weights, strict=True):
        p = oracles.normal(np.exp(math.sqrt(math.log(n) / time) * (1 - alpha) * R))
        np.testing.assert_allclose(played, p, atol=1e-12)
        R = (1 - alpha) * R + row - p @ row
        time = 1 + (1 - alpha) ** 2 * time
