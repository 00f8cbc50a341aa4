"""AdaHedge at rates so high that exponents differ by less than their rounding."""

import math

import numpy as np
import pytest

from normalhedge import hedgers
from normalhedge.hedgers import State


def test_mixability_gap_at_any_rate() -> None:
    """At an infinite rate the gap is what the leader gains on the hedger."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = rng.dirichlet(np.ones(3))
        gains = rng.uniform(-1.0, 1.0, 3)
        level = float(weights @ gains)
        for exponent in (16, 19, 20, 25, 40, 150, 280):
            eta = 10.0**exponent
            before = math.log(3) / eta
            state = State(weights, [np.log(weights) / eta], [before], 1, 3, 0.0)
            found = hedgers.AdaHedge().step(state, gains).totals[0] - before
            assert found == pytest.approx(gains.max() - level, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-17, 1e-20, 1e-150, 1e-280])
def test_ada_hedge_when_gains_become_large(scale: float) -> None:
    """A rate learnt from tiny gains falls in the first round of large ones."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for hedger in (hedgers.AdaHedge(), hedgers.FlipFlop()):
            state = hedger.run(scale * rng.choice([-1.0, 0.0, 1.0], (20, 2))).state
            for _ in range(5):
                state = hedger.step(state, rng.choice([-1.0, 1.0], 2))
                assert state.best_regret <= hedger.bounds(state)[0] + 1e-9
