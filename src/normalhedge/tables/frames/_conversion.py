"""Read tables of any kind (pandas, polars, pyarrow).

Every table is converted to Arrow, and the result back to the kind that was given.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from normalhedge.boundary import extras
from normalhedge.tables.frames._frames import free_name

TIME_OF_INDEX = b"normalhedge.time"
"""The entry of a schema that names the column of the dates of a pandas index."""


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
    names = _names(frame)
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"frame must be a pandas, polars or pyarrow table, got {type(frame).__name__}"
        ) from None
    if names is not None and hasattr(frame, "set_axis"):
        native = nw.from_native(frame.set_axis(names, axis=1), eager_only=True)
    try:
        table = native.to_arrow()
    except (OSError, MemoryError):  # such as TimeoutError, of a signal handler
        raise
    except Exception as error:  # pandas holds any object of Python in its cells
        raise _unreadable(native, error) from None
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


def _names(frame: object) -> list[str] | None:
    """Return the labels of columns as text, which pandas does not require; None if they are text.

    Labels that become the same text are refused, and text that UTF-8 cannot hold.
    """
    labels = getattr(frame, "columns", ())
    labels = list(labels) if isinstance(labels, Iterable) else []
    for kind in (labels, list(map(str, labels))):  # 1 and True are one label, 1 and "1" one text
        twice = next((name for name, count in Counter(kind).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"column {twice!a} appears twice: names must differ, as text, too")
    for name in map(str, labels):
        if not _is_utf8(name):
            raise ValueError(f"the name of a column must be text that UTF-8 can hold, got {name!a}")
    return None if all(type(name) is str for name in labels) else list(map(str, labels))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


def _unreadable(frame: Any, error: Exception) -> ValueError:
    """Return the error for a frame that Arrow cannot hold, which names the first such column."""
    for column in frame.iter_columns():
        try:
            column.to_arrow()
        except Exception as reason:
            return ValueError(f"column {column.name} cannot be read: {_reason(reason)}")
    return ValueError(f"the table cannot be read: {_reason(error)}")


def _reason(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return "a whole number in it has more than 64 bits"
    if isinstance(error, UnicodeError):
        return "UTF-8 cannot hold some of its text, such as half of a pair of surrogates"
    return next(iter(str(error).splitlines()), type(error).__name__)


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


def time_of_index(table: Any) -> str | None:
    """Return the column that holds the dates of a pandas index; None if there is none."""
    name = (table.schema.metadata or {}).get(TIME_OF_INDEX)
    return None if name is None else str(name.decode())
