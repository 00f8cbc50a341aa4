"""Experts and tables for the tests of the automatic mixture."""

from typing import Any

import numpy as np
import pyarrow as pa

NAMES = ["ant", "bee", "cat", "dog", "eel"]


def experts(
    rounds: int,
    seed: int,
    *,
    items: int = 1,
    n: int = 5,
    asleep: float = 0.2,
    wild: float = 0.02,
) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts, rounds x items x n, some NaN and some absurd, and outcomes."""
    rng = np.random.default_rng(seed)
    y = 3.0 * rng.normal(size=(rounds, items)).cumsum(axis=0)
    noise = rng.normal(size=(rounds, items, n)) * np.linspace(0.3, 2.0, n)
    forecasts = y[..., np.newaxis] + noise + np.linspace(-0.5, 0.7, n)
    forecasts[rng.random(forecasts.shape) < wild] *= 1e4
    forecasts[rng.random(forecasts.shape) < asleep] = np.nan
    return forecasts, y


def table_of(y: np.ndarray, forecasts: np.ndarray) -> Any:
    columns = {f"m{i}": forecasts[:, i] for i in range(forecasts.shape[1])}
    return pa.table({"y": y, **columns})
