"""What is handed to hedgers, checked."""

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs


def tables(
    gains: npt.ArrayLike, confidence: npt.ArrayLike | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return gains and confidences, a row for each round and a column for each expert."""
    table = _table("gains", gains)
    if confidence is None:
        return table, None
    rated = _table("confidence", confidence)
    if rated.shape != table.shape:
        raise ValueError(
            f"confidence must have the shape of gains, {table.shape}, got {rated.shape}"
        )
    return table, rated


def _table(name: str, values: object) -> np.ndarray:
    if name == "confidence" and np.asarray(values).dtype == np.bool_:
        values = np.asarray(values, dtype=np.int8)
    table = _inputs.numbers_array(name, values)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"{name} must have a row for each round and a column for each expert, at least one of "
            f"each, got shape {table.shape}"
        )
    return table


def check_columns(table: np.ndarray, experts: int) -> None:
    """Refuse gains for another number of experts than a state has."""
    if table.shape[1] != experts:
        raise ValueError(
            f"gains must have {experts} columns, one for each expert of state, got {table.shape[1]}"
        )


def leaving(experts: npt.ArrayLike, n: int) -> np.ndarray:
    """Return the indices of experts that leave; at least one must stay."""
    indices = np.atleast_1d(_inputs.numbers_array("experts", experts))
    if indices.size == 0:
        return indices.astype(np.intp)
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise TypeError(f"experts must be whole numbers, got {experts!r}")
    if not (indices.min() >= 0 and indices.max() < n):
        raise ValueError(f"experts must be indices in 0..{n - 1}, got {experts!r}")
    if len(np.unique(indices)) == n:
        raise ValueError("experts must leave at least one expert behind")
    return indices
