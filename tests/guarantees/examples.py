"""The inequality that a certificate rests on, by plain sampling."""

import math
from typing import Any

import numpy as np


def phi(x: np.ndarray, c: float) -> np.ndarray:
    values: np.ndarray = np.exp(np.maximum(x, 0.0) ** 2 / (2 * c))
    return values


def assert_by_sampling(proof: dict[str, Any]) -> None:
    """The inequality as it stands in the induction, for any x, any gain and any confidence."""
    claim = proof["claim"]
    rows = np.array(proof["intervals"], dtype=float)
    c, n, level = float(claim["c"]), claim["n_experts"], float(claim["potential"])
    rng = np.random.default_rng(0)
    draws = 40_000
    rate = rng.uniform(float(claim["alpha_from"]), float(claim["alpha"]), draws)
    m = rng.uniform(-1, 1, draws)
    start, end, a, beta = rows[np.searchsorted(rows[:, 1], m)].T
    assert ((start <= m) & (m <= end)).all()
    x_max = math.sqrt(2 * c * math.log(n * (level - 1) + 1))
    x = rng.uniform(-0.2 * x_max, x_max, draws)
    r = rng.uniform(0, 1, draws) ** rng.integers(0, 2, draws) * (rng.choice([-1, 1], draws) - m)
    left = phi((1 - rate) * x + np.sqrt(rate) * r, c) / phi(x, c) - 1
    slope = np.maximum(x, 0) / c
    lambda1 = np.sqrt(rate) * (1 + np.sqrt(rate) * beta)
    right = rate * a * (level / phi(x, c) - 1) + lambda1 * slope * r
    assert (left <= right + 1e-15 * (1 + rate * a * level)).all()
    assert (rate * a <= 1).all()
