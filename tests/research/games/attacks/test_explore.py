"""The search beside brute force."""

import math
from itertools import product

import numpy as np
import pytest

from normalhedge.research.games.attacks import explore


def brute_force(alpha: float, n: int, c: float, rounds: int) -> tuple[float, float]:
    """Play every sequence of extreme gains; the highest potential and the largest sqrt(alpha) R."""
    moves = np.array(list(product([-1.0, 1.0], repeat=n)))
    regrets = np.zeros((1, n))
    highest, largest = 1.0, 0.0
    for _ in range(rounds):
        ahead = np.maximum(regrets, 0)
        weights = ahead * np.exp(alpha * ahead**2 / (2 * c))
        weights[weights.sum(axis=1) == 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        earned = weights @ moves.T
        regrets = (1 - alpha) * regrets[:, None] + moves - earned[:, :, None]
        regrets = np.unique(np.sort(regrets.reshape(-1, n)).round(12), axis=0)
        potentials = np.exp(alpha * np.maximum(regrets, 0) ** 2 / (2 * c)).mean(axis=1)
        highest = max(highest, potentials.max())
        largest = max(largest, regrets.max())
    return highest, math.sqrt(alpha) * largest


@pytest.mark.parametrize(("alpha", "n", "rounds"), [(0.1, 2, 10), (0.3, 2, 10), (0.1, 3, 6)])
@pytest.mark.parametrize("c", [0.5, 1.0, 4.0])
def test_a_short_search_equals_brute_force(alpha: float, n: int, rounds: int, c: float) -> None:
    width = 0.002 if n == 2 else 0.03
    highest, largest = brute_force(alpha, n, c, rounds)
    ones = (1,) * n
    found = explore(alpha, ones, c, width=width, rounds=rounds)
    assert found.rounds <= rounds
    assert found.potential == pytest.approx(highest, rel=1e-9)
    assert explore(alpha, ones, c, "regret", width=width, rounds=rounds).regret == pytest.approx(
        largest, rel=1e-9
    )


def test_gains_inside_the_range_do_not_help_two_experts() -> None:
    for c in (0.6, 1.0, 4.0):
        extreme = explore(0.1, (1, 1), c, width=0.02)
        inside = explore(0.1, (1, 1), c, width=0.02, levels=(-1.0, -0.5, 0.0, 0.5, 1.0))
        assert inside.potential == pytest.approx(extreme.potential, rel=1e-3)
