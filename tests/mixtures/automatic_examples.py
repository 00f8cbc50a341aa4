"""Experts and tables for the tests of the automatic mixture."""

import math
from typing import Any

import numpy as np
import pyarrow as pa

NAMES = ["ant", "bee", "cat", "dog", "eel"]

ALIKE, APART = (1.0,) * 5, (1.0, 1.2, 1.5, 2.0, 3.0)
"""The sizes of the errors of five models."""


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


def five_models(
    sizes: tuple[float, ...], common: float, seed: int, rounds: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and forecasts whose errors have a common share."""
    rng = np.random.default_rng(seed)
    y = 10.0 * np.sin(np.arange(rounds) * np.pi / 12.0) + 0.1 * rng.normal(size=rounds).cumsum()
    own, joint = rng.normal(size=(rounds, 5)), rng.normal(size=(rounds, 1))
    errors = (math.sqrt(common) * joint + math.sqrt(1.0 - common) * own) * np.array(sizes)
    return y, y[:, np.newaxis] + errors
