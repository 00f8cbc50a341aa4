"""Check values of a file: each error message names the entry and the accepted values."""

from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.live.arrays import read_array

MOST = (1 << 53) - 1
"""The largest whole number that is accepted: a float holds every whole number up to it."""


def check_floats(
    name: str,
    values: Any,
    shape: tuple[int, ...],
    low: float,
    high: float,
    *,
    missing: bool = False,
    integral: bool = False,
) -> Floats:
    """Return an array from its text, or from nested lists as in files before version 6.

    Lists have null in place of NaN and infinities, which text can hold.
    """
    array: np.ndarray | None
    if isinstance(values, str):
        array = read_array(name, values, shape, whole=integral)
    elif isinstance(values, np.ndarray):
        array = values
    else:
        array = _read_lists(name, values, shape, missing=missing, integral=integral)
    if array is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}")
    if (
        array is None
        or not (((array >= low) & (array <= high)) | (np.isnan(array) & missing)).all()
    ):
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]")
    return array


def _read_lists(
    name: str, values: Any, shape: tuple[int, ...], *, missing: bool, integral: bool
) -> np.ndarray | None:
    """Return nested lists of numbers as an array; None if they hold anything else."""
    flat = [values]
    for length in shape:
        if not all(type(part) is list and len(part) == length for part in flat):
            raise ValueError(f"{name} must have shape {shape}")
        flat = [value for part in flat for value in part]
    accepted = {int} | ({float} if not integral else set()) | ({type(None)} if missing else set())
    if not set(map(type, flat)) <= accepted:
        return None
    array = np.array(flat, dtype=np.float64)
    return None if np.isinf(array).any() else array.reshape(shape)


def check_list(name: str, value: Any, length: int | None = None) -> list[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list) or length not in {None, len(value)}:
        raise ValueError(f"{name} must be a list, it is {value!r}")
    return value


def check_words(name: str, value: Any) -> list[str]:
    """Return a value that must be a list of different strings."""
    values = check_list(name, value)
    if not all(isinstance(word, str) for word in values) or len(set(values)) < len(values):
        raise ValueError(f"{name} must be different words")
    return values


def check_truth(name: str, value: Any) -> bool:
    """Return a value that must be true or false."""
    if type(value) is not bool:
        raise ValueError(f"{name} must be true or false, it is {value!r}")
    return value


def check_whole(name: str, value: Any, end: int = MOST + 1) -> int:
    """Return a value that must be a whole number of at least 0, below a limit; not a truth."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{name} must be a whole number, it is {value!r}")
    if value >= end:
        raise ValueError(f"{name} must be below {end}, it is {value!r}")
    return value
