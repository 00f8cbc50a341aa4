"""Checks of the arguments that hedgers are called with."""

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats


def read_round(
    gains: npt.ArrayLike, confidence: npt.ArrayLike | None, n: int
) -> tuple[Floats, Floats]:
    """Check the arguments of a `step`; return gains and confidences, both float64, of n experts.

    It is for the `step` of your own hedger. Experts without a confidence are awake, and the gain of
    a sleeping expert, which may be NaN, becomes 0.

    Parameters
    ----------
    gains, confidence
        The arguments of `Hedger.step`.
    n
        The number of experts.

    Raises
    ------
    ValueError, TypeError
        If there is not one gain in [-1, 1], or one confidence in [0, 1], for each expert.

    Examples
    --------
    >>> read_round([1.0, float("nan")], [0.5, 0.0], 2)
    (array([1., 0.]), array([0.5, 0. ]))
    """
    row = inputs.vector("gains", gains, n).astype(np.float64)
    awake = np.ones(n) if confidence is None else inputs.confidences(confidence, n)
    if not ((awake >= 0.0) & (awake <= 1.0) & ((np.abs(row) <= 1.0) | (awake == 0.0))).all():
        inputs.refuse(row, awake)
    return np.where(awake > 0.0, row, 0.0), awake


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
