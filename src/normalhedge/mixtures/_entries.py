"""Entries of a file, checked: each refusal names the entry and what is accepted."""

from typing import Any

import numpy as np

from normalhedge._inputs import Floats

MOST = (1 << 53) - 1
"""The largest whole number: a float holds all up to it."""


def floats(
    name: str,
    values: Any,
    shape: tuple[int, ...],
    low: float,
    high: float,
    *,
    missing: bool = False,
    integral: bool = False,
) -> Floats:
    """Return nested lists of numbers as an array.

    Parameters
    ----------
    name, values
        What it is called, and what it is.
    shape
        How many lists of how many lists of ... it must have.
    low, high
        What the numbers must lie in.
    missing
        Whether some may be null; they become NaN.
    integral
        Whether they must be whole.
    """
    flat = [values]
    for length in shape:
        if not all(type(part) is list and len(part) == length for part in flat):
            raise ValueError(f"{name} must have shape {shape}")
        flat = [value for part in flat for value in part]
    accepted = {int} | ({float} if not integral else set()) | ({type(None)} if missing else set())
    array = np.array(flat, dtype=np.float64) if set(map(type, flat)) <= accepted else None
    if (
        array is None
        or not (
            (np.isfinite(array) & (array >= low) & (array <= high)) | (np.isnan(array) & missing)
        ).all()
    ):
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]")
    return array.reshape(shape)


def listed(name: str, value: Any, length: int | None = None) -> list[Any]:
    """Return a list, of a certain length where one is given."""
    if not isinstance(value, list) or length not in {None, len(value)}:
        raise ValueError(f"{name} must be a list, it is {value!r}")
    return value


def words(name: str, value: Any) -> list[str]:
    """Return a list of different words."""
    given = listed(name, value)
    if not all(isinstance(word, str) for word in given) or len(set(given)) < len(given):
        raise ValueError(f"{name} must be different words")
    return given


def whole(name: str, value: Any) -> int:
    """Return a whole number from 0 on; true and false are none."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{name} must be a whole number, it is {value!r}")
    return value


def below(name: str, value: Any, end: int) -> int:
    """Return a whole number from 0 on that is below an end."""
    if whole(name, value) >= end:
        raise ValueError(f"{name} must be below {end}, it is {value!r}")
    return int(value)
