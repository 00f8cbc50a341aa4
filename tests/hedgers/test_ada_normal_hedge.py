"""AdaNormalHedge: what its bound rests on."""

import math

import numpy as np

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats


def test_leaving_does_not_lower_what_others_are_promised() -> None:
    hedger = hedgers.AdaNormalHedge()
    gains = np.tile([1.0, -1.0, 1.0, -1.0], (500, 1))
    awake = np.ones((500, 4))
    awake[1:, 3] = 0.0  # a young clock
    state = hedger.run(gains, awake).state
    before, after = hedger.bounds(state), hedger.bounds(hedger.leave(state, [0, 1, 2]))
    assert after[0] >= before[3]


def test_a_round_of_ada_normal_hedge_adds_little() -> None:
    """Phi(S + r, C + |r|) <= Phi(S, C) + w r + |r| / 2(C + 1): docs/two-levels.md."""

    def potential(S: Floats, clock: Floats) -> Floats:
        return np.exp(np.maximum(S, 0.0) ** 2 / (3 * clock))

    r = np.linspace(-1.0, 1.0, 201)[None, :]
    for clock in (1e-6, 0.01, 0.3, 1.0, 3.0, 30.0, 1000.0):
        C = np.full((1, 1), clock)
        S = np.linspace(-min(clock, 3.0), min(clock, math.sqrt(900.0 * clock)), 501)[:, None]
        w = (potential(S + 1, C + 1) - potential(S - 1, C + 1)) / 2
        before = potential(S, C)
        more = potential(S + r, C + np.abs(r)) - before - w * r
        assert (more <= 0.5 * np.abs(r) / (C + 1) + 1e-12 * before).all()
