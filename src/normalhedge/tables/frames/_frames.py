"""Read tables of any kind (pandas, polars, pyarrow), and their columns as numbers, words and times.

Every table is converted to Arrow, and the result back to the kind that was given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats

TIME_OF_INDEX = b"normalhedge.time"
"""The entry of a schema that names the column of the dates of a pandas index."""

WITH_OFFSET = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$"
"""Times with their distance from UTC, which do not sort as words."""

DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
"""Dates that do not sort as words."""

FIRST_DAY, LAST_DAY = 19000101, 21001231
"""Whole numbers between these are read as dates, such as 20240930, if all of them are."""


def to_arrow(frame: Any) -> tuple[Any, Any]:
    """Return a table of any kind as an Arrow table, and a function that converts one back."""
    if isinstance(frame, extras.require("pyarrow").Table):
        return frame, lambda result: result
    if type(frame).__module__.startswith(("dask.", "pyspark.")):
        raise TypeError(
            "frame is spread over a cluster: call normalhedge.integrations.clusters.blend with "
            "the same arguments"
        )
    nw = extras.require("narwhals")
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"frame must be a pandas, polars or pyarrow table, got {type(frame).__name__}"
        ) from None
    table = native.to_arrow()
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    table = table.drop_columns(index)  # the index of pandas is not one of its columns
    table, dates = _with_dates(frame, table)

    def back(result: Any) -> Any:
        if dates in result.column_names and len(result) == len(frame):
            result = result.drop_columns([dates])  # it is the index again
        result = nw.from_arrow(result, backend=native.implementation).to_native()
        if hasattr(frame, "index") and hasattr(result, "index") and len(result) == len(frame):
            result.index = frame.index  # of pandas
        return result

    return table, back


def _with_dates(frame: Any, table: Any) -> tuple[Any, str]:
    """Return a table with the dates of a pandas index as a column, and its name; else empty."""
    pa = extras.require("pyarrow")
    index: Any = getattr(frame, "index", None)
    kind = type(index).__name__
    if kind not in {"DatetimeIndex", "PeriodIndex"}:
        return table, ""
    dates = index.to_timestamp() if kind == "PeriodIndex" else index
    name = free_name("time", table) if index.name is None else str(index.name)
    if name in table.column_names:
        table = table.drop_columns([name])
    table = table.append_column(name, pa.array(dates))
    return table.replace_schema_metadata({TIME_OF_INDEX: name}), name


def free_name(name: str, table: Any) -> str:
    """Return a name that no column of a table has: the given one, with underscores if needed."""
    while name in table.column_names:
        name += "_"
    return name


def replace_column(table: Any, name: str, values: Any) -> Any:
    """Return a table with other values in one of its columns; NaN becomes a missing value."""
    if isinstance(values, np.ndarray):
        values = extras.require("pyarrow").array(values, from_pandas=True)
    return table.set_column(table.column_names.index(name), name, values)


def time_of_index(table: Any) -> str | None:
    """Return the column that holds the dates of a pandas index; None if there is none."""
    name = (table.schema.metadata or {}).get(TIME_OF_INDEX)
    return None if name is None else str(name.decode())


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type holds words."""
    types = extras.require("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Tell whether an Arrow type holds numbers."""
    types = extras.require("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_empty(kind: Any) -> bool:
    """Tell whether an Arrow type has no values: no cell of its column has one."""
    return bool(extras.require("pyarrow.types").is_null(kind))


def may_hold_numbers(kind: Any) -> bool:
    """Tell whether a column of this Arrow type can be read as numbers; an empty one has no type."""
    return is_number(kind) or is_empty(kind)


def refuse_other_than_numbers(table: Any, name: str) -> None:
    """Raise TypeError if a column cannot be read as numbers."""
    kind = table.schema.field(name).type
    if not may_hold_numbers(kind):
        held = "text" if is_text(kind) else kind
        raise TypeError(f"column {name} must hold numbers, it holds {held}")


def floats(column: Any) -> Floats:
    """Return a column of numbers as an array; NaN where it is empty."""
    pa = extras.require("pyarrow")
    array = column.cast(pa.float64(), safe=False).combine_chunks()
    values: Floats = array.to_numpy(zero_copy_only=False)
    return values


def words(column: Any) -> Any:
    """Return a column as strings; empty strings where it is empty."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    return pc.fill_null(column.cast(pa.string()), "")


def encode(column: Any, every: Sequence[str] | None = None) -> tuple[list[str], np.ndarray]:
    """Return the distinct values of a column as strings, and the index of each row's value."""
    types = extras.require("pyarrow.types")
    if column.null_count or types.is_dictionary(column.type):
        column = words(column)
    coded = column.combine_chunks().dictionary_encode()
    codes: np.ndarray = coded.indices.to_numpy()
    names, codes = words(coded.dictionary).to_pylist(), codes.astype(np.int32, copy=False)
    if every is None:
        return names, codes
    place = {name: k for k, name in enumerate(every)}
    return list(every), np.array([place[name] for name in names], dtype=np.int32)[codes]


def sortable(column: Any) -> Any:
    """Return times as numbers or strings, which JSON can hold and which sort as the times do."""
    pa, types = extras.require("pyarrow"), extras.require("pyarrow.types")
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
    pc = extras.require("pyarrow.compute")
    if _have_offsets(texts):
        return texts.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    if pc.any(pc.match_substring_regex(texts, DAY_FIRST)).as_py():
        raise ValueError(
            f"times such as {texts[0].as_py()!r} do not sort in the order of time: write them as "
            "2024-09-30"
        )
    return texts


def time_kind(column: Any) -> str:
    """Return whether the times of a column are dates, numbers or words."""
    types = extras.require("pyarrow.types")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_temporal(kind):
        return "dates"
    if is_number(kind):
        return "numbers"
    return "dates" if is_text(kind) and _have_offsets(words(column)) else "words"


def _have_offsets(texts: Any) -> bool:
    """Tell whether all texts are times with their offset, which are sorted as dates are."""
    pc = extras.require("pyarrow.compute")
    return bool(pc.all(pc.match_substring_regex(texts, WITH_OFFSET)).as_py())


def times(column: Any, every: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's time, 0, 1, ..., and the distinct times in their order."""
    pc = extras.require("pyarrow.compute")
    ordered = sortable(column).combine_chunks()
    if every is not None:
        return np.searchsorted(every, ordered.to_numpy()).astype(np.int32), every
    distinct = pc.unique(ordered)
    distinct = distinct.take(pc.sort_indices(distinct))
    codes: np.ndarray = pc.index_in(ordered, value_set=distinct).to_numpy()
    return codes.astype(np.int32), distinct.to_numpy(zero_copy_only=False)


def as_dates(column: Any, name: str | None) -> np.ndarray | None:
    """Return times as dates (``datetime64``), in the clock of their place; None if they are not.

    Dates are also whole numbers such as 20240930, words such as ``2024-09-30``, and, in a column
    whose name says so, the ordinals of Python.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_dates(pa.array([20240229, 20240301]), "day").astype("datetime64[D]").tolist()
    [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
    >>> as_dates(pa.array([1, 2]), "day") is None
    True
    """
    pa, types = extras.require("pyarrow"), extras.require("pyarrow.types")
    if name is None or not len(column) or column.null_count:
        return None
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_integer(column.type):
        return _dates_of_numbers(column.cast(pa.int64()).to_numpy(), name)
    try:
        if types.is_string(column.type) or types.is_large_string(column.type):
            column = column.cast(pa.timestamp("us"))
        if types.is_timestamp(column.type) and column.type.tz is not None:
            column = extras.require("pyarrow.compute").local_timestamp(column)
        if types.is_timestamp(column.type) or types.is_date(column.type):
            whole: np.ndarray = column.cast(pa.timestamp("us"), safe=False).to_numpy()
            return whole
    except pa.ArrowException:
        return None
    return None


def _dates_of_numbers(numbers: np.ndarray, name: str) -> np.ndarray | None:
    if "ordinal" in name.lower() and numbers.min() > 600_000 and numbers.max() < 800_000:
        return (numbers - 719_163).astype("datetime64[D]").astype("datetime64[us]")
    if numbers.min() < FIRST_DAY or numbers.max() > LAST_DAY:
        return None
    year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
    if month.min() < 1 or month.max() > 12 or day.min() < 1:
        return None
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1)
    return dates.astype("datetime64[us]") if (dates.astype(months.dtype) == months).all() else None
