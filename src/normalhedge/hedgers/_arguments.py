"""Checks of the arguments that hedgers are called with."""

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs


def read_tables(
    gains: npt.ArrayLike, confidence: npt.ArrayLike | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Check the gains and confidences of many rounds, and return them as arrays."""
    gain_table = read_table("gains", gains)
    if confidence is None:
        return gain_table, None
    confidences = read_table("confidence", confidence)
    if confidences.shape != gain_table.shape:
        raise ValueError(
            f"confidence must have the shape of gains, {gain_table.shape}, got {confidences.shape}"
        )
    return gain_table, confidences


def read_table(name: str, values: object) -> np.ndarray:
    """Check that there is a row for each round and a column for each expert."""
    if name == "confidence" and np.asarray(values).dtype == np.bool_:
        values = np.asarray(values, dtype=np.int8)
    table = inputs.numbers_array(name, values)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"{name} must have a row for each round and a column for each expert, at least one of "
            f"each, got shape {table.shape}"
        )
    return table


def read_leavers(experts: npt.ArrayLike, n: int) -> np.ndarray:
    """Check the indices of the experts that leave, and return them as an array."""
    indices = np.atleast_1d(inputs.numbers_array("experts", experts))
    if indices.size == 0:
        return indices.astype(np.intp)
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise TypeError(f"experts must be whole numbers, got {experts!r}")
    if not (indices.min() >= 0 and indices.max() < n):
        raise ValueError(f"experts must be indices in 0..{n - 1}, got {experts!r}")
    if len(np.unique(indices)) == n:
        raise ValueError("experts must leave at least one expert behind")
    return indices
