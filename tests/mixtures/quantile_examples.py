"""Forecasters of quantiles, some absurd, some crossing, some asleep."""

from typing import Any

import numpy as np

LEVELS = (0.1, 0.5, 0.9)
MANY = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
NAMES = ["ant", "bee", "cat", "dog", "eel"]


def forecasters(
    rounds: int,
    seed: int,
    levels: tuple[float, ...] = LEVELS,
    *,
    items: int = 1,
    n: int = 5,
    asleep: float = 0.2,
    wild: float = 0.03,
    crossing: float = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    """Return quantiles, rounds x items x levels x n, some absurd and some crossing; outcomes."""
    rng = np.random.default_rng(seed)
    y = 3.0 * rng.normal(size=(rounds, items)).cumsum(axis=0)
    middle = y[..., np.newaxis] + rng.normal(size=(rounds, items, n)) * np.linspace(0.3, 2.0, n)
    chances = np.array(levels)
    spread = np.log(chances / (1.0 - chances))
    said = middle[:, :, np.newaxis] + spread[:, np.newaxis] * np.linspace(1.5, 0.3, n)
    said[rng.random(said.shape) < wild] *= 1e3
    crossed = np.broadcast_to(rng.random((rounds, items, 1, n)) < crossing, said.shape)
    said = np.where(crossed, rng.permuted(said, axis=2), said)
    sleeps = np.broadcast_to(rng.random((rounds, items, 1, n)) < asleep, said.shape)
    return np.where(sleeps, np.nan, said), y


def said_by(names: list[str], rows: np.ndarray, items: list[int], *, alone: bool) -> dict[str, Any]:
    """Return the forecasts of a round, items x levels x n, as a mixture takes them."""
    if alone:
        return {name: rows[0, :, k] for k, name in enumerate(names)}
    return {
        name: {f"i{item}": row[:, k] for item, row in zip(items, rows, strict=True)}
        for k, name in enumerate(names)
    }
