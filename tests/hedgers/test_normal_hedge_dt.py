"""NormalHedge.DT: what its bound rests on."""

import math

import numpy as np

from normalhedge.boundary.inputs import Floats


def test_a_round_of_normal_hedge_dt_adds_little() -> None:
    """The average of the potential after +1 and after -1 exceeds that before by b / 2t at most."""

    def potential(S: Floats, t: float) -> Floats:
        return np.exp(np.maximum(S, 0.0) ** 2 / (3 * t))

    for t in (2, 3, 5, 10, 100, 10_000):
        S = np.linspace(-3.0, min(t - 1.0, math.sqrt(1500.0 * t)), 20_001)
        after = (potential(S + 1, t) + potential(S - 1, t)) / 2
        assert (after - potential(S, t - 1)).max() <= math.expm1(4 / 3) / (2 * t)
