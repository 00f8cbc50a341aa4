"""The contexts of the rows of a table: columns of categories, and parts of the date."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras, specs
from normalhedge.mixtures.state import check_count, check_name, value_text
from normalhedge.tables.frames._columns import Columns
from normalhedge.tables.frames._frames import is_number, is_text
from normalhedge.tables.frames._times import as_dates, time_kind


class RowContext(NamedTuple):
    """A context of the rows of a table."""

    words: list[str]
    codes: np.ndarray  # the place of the value of each row in ``words``; -1 where it is missing


class Calendar(NamedTuple):
    """The dates of the rows of a table, in the clock of their place."""

    dates: np.ndarray
    # the time before each row: the cutoff of a first step ahead, or else the time before in the
    # table; not a time in the other rows
    previous: np.ndarray
    zone: str | None  # the time zone of the column of times


class DatePart(NamedTuple):
    """A part of a date that is a context."""

    size: int  # the number of its values
    cycle: np.timedelta64  # the time after which they come again
    values: Callable[[np.ndarray], np.ndarray]  # the values of dates, whole numbers


DATE_PARTS = {
    "hour": DatePart(
        24,
        np.timedelta64(1, "D"),
        lambda dates: (dates.astype("datetime64[h]").astype(np.int64) % 24).astype(np.int32),
    ),
    "weekday": DatePart(
        7,
        np.timedelta64(7, "D"),  # the first day of 1970 was a Thursday
        lambda dates: ((dates.astype("datetime64[D]").astype(np.int64) + 3) % 7).astype(np.int32),
    ),
    "month": DatePart(
        12,
        np.timedelta64(366, "D"),
        lambda dates: (dates.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(np.int32),
    ),
}
"""The contexts that times have: the hour, 0 to 23; the day of the week, 0 for Monday; the month."""

STEP = "step"
"""The context of tables with a cutoff: the number of steps ahead."""


def check_contexts(names: Sequence[str] | None, table: Any, columns: Columns) -> None:
    """Refuse names of contexts that a table does not have."""
    for name in names or ():
        check_name(name)
        derived = [*DATE_PARTS, *[STEP] * (columns.cutoff is not None)]
        if name not in table.column_names and name not in derived:
            raise specs.nearest("context", name, [*table.column_names, *derived])
        if name in {columns.target, columns.forecast, *(columns.experts or ()), *columns.classes}:
            raise ValueError(f"column {name} cannot be a context: it has another role")
    check_count(list(names or ()))


def read_contexts(
    table: Any, columns: Columns, steps: np.ndarray | None, times: np.ndarray
) -> tuple[dict[str, RowContext], Calendar | None]:
    """Return the contexts of the rows of a table by name, and their dates.

    Without names of contexts, there are the parts of dates that are no columns of the table.
    """
    given = columns.context is not None
    names = DATE_PARTS.keys() - table.column_names if columns.context is None else columns.context
    contexts, calendar = dict[str, RowContext](), None
    for name in names if given else [name for name in DATE_PARTS if name in names]:
        if name in table.column_names:
            contexts[name] = _read_column(table[name], name)
        elif name in DATE_PARTS:
            calendar = calendar or _read_calendar(table, columns, steps, times, given=given)
            if calendar is None:
                break
            values = DATE_PARTS[name].values(calendar.dates)
            words = [str(value) for value in range(values.max() + 1)]
            contexts[name] = RowContext(words, values)
        elif steps is not None:
            words = [str(step + 1) for step in range(int(steps.max()) + 1)]
            contexts[name] = RowContext(words, steps)
    return contexts, calendar


def local_date(key: Any, calendar: Calendar) -> np.datetime64:
    """Return a date that `sortable` made a number, in the clock of a calendar."""
    pa = extras.require("pyarrow")
    dates = as_dates(pa.array([key], pa.timestamp("us", calendar.zone)), "")
    assert dates is not None
    return np.datetime64(dates[0])


def _read_column(column: Any, name: str) -> RowContext:
    """Return a column of categories as a context."""
    pa, types = extras.require("pyarrow"), extras.require("pyarrow.types")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or is_number(kind) or types.is_boolean(kind) or types.is_null(kind)):
        raise TypeError(
            f"context {name} must hold text, whole numbers, or true and false, it holds {kind}"
        )
    coded = pa.chunked_array(column.cast(kind).chunks, kind).combine_chunks().dictionary_encode()
    texts = [value_text(name, value) for value in coded.dictionary.to_pylist()]
    words = list(dict.fromkeys(text for text in texts if text is not None))
    place = {text: k for k, text in enumerate(words)}
    places = np.array([-1 if text is None else place[text] for text in texts] + [-1], np.int32)
    codes = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return RowContext(words, places[codes])


def _read_calendar(
    table: Any, columns: Columns, steps: np.ndarray | None, times: np.ndarray, *, given: bool
) -> Calendar | None:
    """Return the dates of the rows of a table; None if nobody asked and the times are not dates."""
    dates = None
    if columns.time is not None and (given or time_kind(table[columns.time]) == "dates"):
        dates = as_dates(table[columns.time].combine_chunks(), columns.time)
    if dates is None:
        if not given:
            return None
        raise ValueError(
            "the contexts hour, weekday and month need a column of times that are dates"
            + (f", and {columns.time} has others" if columns.time is not None else "")
            + ": context=[] leaves them out"
        )
    if columns.cutoff is not None and steps is not None:
        made = as_dates(table[columns.cutoff].combine_chunks(), columns.cutoff)
        previous = np.full(len(dates), np.datetime64("NaT"), dates.dtype)
        if made is not None:
            previous[steps == 0] = made[steps == 0]
    else:
        every = np.full(int(times.max()) + 1, np.datetime64("NaT"), dates.dtype)
        every[times] = dates
        previous = np.append(np.datetime64("NaT"), every[:-1])[times]
    zone = getattr(table[columns.time].type, "tz", None)
    return Calendar(dates, previous, zone)
