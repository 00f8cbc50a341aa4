"""Single values of a series: numbers, words, or missing."""

import math
from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped

LARGEST_COUNT = 10_000
"""The largest count: the distribution of counts is a sum over all smaller ones."""

MISSING = {"NAType", "NaTType", "MaskedConstant"}
"""The missing values of pandas and of masked arrays."""

PLAIN = (str, bool, int, float, np.integer, np.floating, np.bool_, date)
"""The accepted types of a value."""


def plain(row: int, value: Any) -> Any:
    """Return a value, None where it is missing; refuse anything but words and numbers."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return None
    if type(value).__name__ in MISSING:
        return None
    if not isinstance(value, PLAIN):
        raise ValueError(f"values must be words or numbers, got {str(value)[:60]} in row {row}")
    if inputs.is_number(value) and not -inputs.LARGEST <= value <= inputs.LARGEST:  # type: ignore[operator]
        raise ValueError(f"numbers must be within ±1e100, got {str(value)[:60]} in row {row}")
    return value


def refuse_fractions(numbers: Floats) -> None:
    """Refuse numbers that are not counts, or too large."""
    known = numbers[~np.isnan(numbers)]
    wrong = (known < 0.0) | (known != np.floor(known))
    if wrong.any():
        raise ValueError(f"counts must be whole numbers from 0 on, got {known[wrong][0]:g}")
    if (known > LARGEST_COUNT).any():
        raise ValueError(
            f"counts must be at most {LARGEST_COUNT:,}, got {known.max():g}: larger ones are "
            "better taken as numbers"
        )


def label(value: Any) -> str:
    """Return the name of a symbol; whole numbers have no decimals."""
    return str(int(value)) if inputs.is_number(value) and float(value).is_integer() else str(value)


def number(row: int, value: Any) -> float:
    """Return a number, NaN where it is missing; refuse words."""
    if value is None:
        return math.nan
    if not inputs.is_number(value):
        raise ValueError(f"values must be numbers, got {clipped(repr(value), 60)} in row {row}")
    return float(value)


def numbers(values: Iterable[Any]) -> Floats:
    """Return numbers, NaN where missing; refuse words."""
    return np.array([number(row, value) for row, value in enumerate(values, start=1)], dtype=float)
