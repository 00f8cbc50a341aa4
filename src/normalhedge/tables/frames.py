"""Read tables of any kind (pandas, polars, pyarrow), and their columns as numbers, words and times.

Every table is converted to Arrow, and the result back to the kind that was given.
"""

from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats

DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
"""Dates that do not sort as words."""


def to_arrow(frame: Any) -> tuple[Any, Any]:
    """Return a table of any kind as an Arrow table, and a function that converts one back."""
    if isinstance(frame, _extras.require("pyarrow").Table):
        return frame, lambda result: result
    nw = _extras.require("narwhals")
    try:
        own = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"frame must be a pandas, polars or pyarrow table, got {type(frame).__name__}"
        ) from None
    table = own.to_arrow()
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    table = table.drop_columns(index)  # the index of pandas is not one of its columns

    def back(result: Any) -> Any:
        native = nw.from_arrow(result, backend=own.implementation).to_native()
        if hasattr(frame, "index") and hasattr(native, "index") and len(native) == len(frame):
            native.index = frame.index  # of pandas
        return native

    return table, back


def is_number(kind: Any) -> bool:
    """Tell whether an Arrow type is one of numbers."""
    types = _extras.require("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def may_hold_numbers(kind: Any) -> bool:
    """Tell whether a column of this Arrow type can be read as numbers; an empty one has no type."""
    return is_number(kind) or bool(_extras.require("pyarrow.types").is_null(kind))


def floats(column: Any) -> Floats:
    """Return a column of numbers as an array; NaN where it is empty."""
    pa = _extras.require("pyarrow")
    array = column.cast(pa.float64(), safe=False).combine_chunks()
    values: Floats = array.to_numpy(zero_copy_only=False)
    return values


def words(column: Any) -> Any:
    """Return a column as strings; empty strings where it is empty."""
    pa, pc = _extras.require("pyarrow"), _extras.require("pyarrow.compute")
    return pc.fill_null(column.cast(pa.string()), "")


def encoded(column: Any) -> tuple[list[str], np.ndarray]:
    """Return the distinct values of a column as strings, and the index of each row's value."""
    types = _extras.require("pyarrow.types")
    if column.null_count or types.is_dictionary(column.type):
        column = words(column)
    coded = column.combine_chunks().dictionary_encode()
    codes: np.ndarray = coded.indices.to_numpy()
    return words(coded.dictionary).to_pylist(), codes.astype(np.int32, copy=False)


def sortable(column: Any) -> Any:
    """Return times as numbers or strings, which JSON can hold and which sort as the times do."""
    pa, types = _extras.require("pyarrow"), _extras.require("pyarrow.types")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        raise ValueError("the time must be given in every row")
    if types.is_timestamp(column.type) or types.is_date(column.type):
        whole = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
        return whole.cast(pa.int64())
    if types.is_temporal(column.type) or types.is_nested(column.type):
        raise TypeError(f"the time must be a date, a number or a word, it is {column.type}")
    if types.is_integer(column.type) or types.is_floating(column.type):
        return column
    texts = column.cast(pa.string())
    pc = _extras.require("pyarrow.compute")
    if pc.any(pc.match_substring_regex(texts, DAY_FIRST)).as_py():
        raise ValueError(
            f"times such as {texts[0].as_py()!r} do not sort in the order of time: write them as "
            "2024-09-30"
        )
    return texts


def time_kind(kind: Any) -> str:
    """Return whether times of an Arrow type are dates, numbers or words."""
    types = _extras.require("pyarrow.types")
    if types.is_temporal(kind):
        return "dates"
    return "numbers" if is_number(kind) else "words"


def times(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's time, 0, 1, ..., and the distinct times in their order."""
    pc = _extras.require("pyarrow.compute")
    ordered = sortable(column).combine_chunks()
    distinct = pc.unique(ordered)
    distinct = distinct.take(pc.sort_indices(distinct))
    codes: np.ndarray = pc.index_in(ordered, value_set=distinct).to_numpy()
    return codes.astype(np.int32), distinct.to_numpy(zero_copy_only=False)
