"""Observations of a tracker, checked: numbers, some of them missing."""

import numbers
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats

LARGEST = 1e50
"""The largest observation; with larger ones, ratios of variances overflow."""


def observed_row(observation: Any) -> Floats:
    """Return a number for each column, NaN where it is missing."""
    if isinstance(observation, str | bytes | bool):
        raise TypeError(f"observation must be numbers or None, got {observation!r}")
    if isinstance(observation, numbers.Real):
        observation = [observation]
    row = _floats("observation", observation)
    if row.ndim == 0:
        row = row[np.newaxis]
    if row.ndim != 1 or not row.size:
        raise ValueError(f"observation must be a number for each column, got shape {row.shape}")
    return row


def observed_table(table: Any) -> Floats:
    """Return T x k numbers, NaN where missing."""
    rows = _floats("table", table)
    if rows.ndim == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or not rows.shape[1]:
        raise ValueError(f"table must be T x k, a round in each row, got shape {rows.shape}")
    return rows


def _floats(name: str, values: Any) -> Floats:
    """Return finite numbers, NaN where missing."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have the same number of columns in each row") from None
    if array.dtype == object:
        wrong = [v for v in array.ravel() if not (v is None or inputs.is_number(v))]
        if wrong:
            raise TypeError(f"{name} must be numbers or None, got {wrong[0]!r}")
    elif array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers or None, got {array.dtype.name}")
    floats = array.astype(np.float64)
    if (np.abs(floats) > LARGEST).any():
        raise ValueError(f"{name} must be finite, within ±{LARGEST:g}; NaN or None is missing")
    return floats


def whole(name: str, value: Any, most: int | None = None) -> int:
    """Return a whole number of at least zero."""
    found = inputs.count(name, value, 0)
    if most is not None and found > most:
        raise ValueError(f"{name} must be at most {most}, got {found}")
    return found


def seed(rng: Any) -> Any:
    """Return a seed or generator that `numpy.random.default_rng` accepts."""
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    return whole("rng", rng)
