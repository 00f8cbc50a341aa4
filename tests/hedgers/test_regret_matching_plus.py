"""Regret matching plus: clipped regrets."""

import numpy as np

from normalhedge import hedgers


def test_clipped_regrets_bound_regrets_in_spite_of_rounding() -> None:
    rng = np.random.default_rng(1)
    for alpha in (0.0, 0.003, 0.1):
        hedger = hedgers.RegretMatchingPlus(alpha)
        state = hedger.init(10)
        for _ in range(2000):
            gains = np.ones(10)
            gains[state.weights.argmax()] = rng.uniform(-1, 0)
            state = hedger.step(state, gains)
            assert (state.regrets <= hedger.bounds(state)).all()
