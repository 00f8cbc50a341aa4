"""Dates with the year at the end: 31.12.2024, 31/12/2024 and, month first, 12/31/2024."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.tables.frames._columns import TIMES, Columns
from normalhedge.tables.frames._conversion import time_of_index
from normalhedge.tables.frames._frames import is_text, replace_column, words
from normalhedge.tables.frames._times import as_dates

YEAR_LAST = (
    r"^\s*(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-](?P<year>\d{4})"
    r"(?:[ T]+(?P<clock>\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?))?\s*$"
)
"""A date with the year at the end, and perhaps a time of the day."""


@dataclass
class WrittenDates:
    """Dates as they are written in a table, and the dates that they stand for."""

    columns: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # distinct texts and dates
    dayfirst: bool | None = None  # whether the day comes before the month; None without such dates
    notes: list[str] = field(default_factory=list)

    def decode(self, table: Any) -> Any:
        """Return a table with dates as they were written."""
        pc = extras.require("pyarrow.compute")
        for name, (texts, dates) in self.columns.items():
            if name in table.column_names:
                places = pc.index_in(table[name], value_set=dates)
                table = replace_column(table, name, texts.take(places))
        return table


def read_dates(table: Any, spec: Columns) -> tuple[Any, WrittenDates]:
    """Return a table with dates in place of text with the year at the end, in columns of times."""
    written = WrittenDates()
    for name in _columns_of_times(table, spec):
        column = table[name]
        if not is_text(column.type) or column.null_count:
            continue
        pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
        texts = pc.unique(column.cast(pa.string()))
        if not pc.all(pc.match_substring_regex(texts, YEAR_LAST)).as_py():
            continue
        dates, written.dayfirst = _read(name, texts, spec.dayfirst)
        places = pc.index_in(column.cast(pa.string()), value_set=texts)
        table = replace_column(table, name, dates.take(places.combine_chunks()))
        written.columns[name] = texts, dates
        first, form = texts[0].as_py(), "day first" if written.dayfirst else "month first"
        written.notes.append(f"{name}: {form}, {first} is {_spelled(dates[0])}")
    return table, written


def _columns_of_times(table: Any, spec: Columns) -> list[str]:
    """Return the columns of the time and the cutoff: as given, or with a usual name."""
    others = {spec.target, spec.model, spec.forecast, *spec.by, *spec.classes}
    counts = Counter(table.column_names)  # a name that appears twice is refused later
    free = {name for name, count in counts.items() if count == 1} - others
    usual = [name for name in (time_of_index(table), *TIMES) if name in free]
    time = spec.time if spec.time is not None else next(iter(usual), None)
    cutoff = spec.cutoff if spec.cutoff is not None else "cutoff"
    return [name for name in dict.fromkeys((time, cutoff)) if name is not None and name in free]


def _read(name: str, texts: Any, dayfirst: bool | None) -> tuple[Any, bool]:  # noqa: FBT001
    """Return the dates of texts, and whether their day comes first; refuse ambiguous ones."""
    readings = {first: _dates(texts, dayfirst=first) for first in (True, False)}
    if dayfirst is not None:
        dates = readings[dayfirst]
        if dates is None:
            wanted = "day" if dayfirst else "month"
            raise ValueError(
                f"column {name} has dates such as {texts[0].as_py()!r}, and not all of them are "
                f"dates with the {wanted} first: leave out dayfirst, or mend the dates"
            )
        return dates, dayfirst
    day, month = readings[True], readings[False]
    if day is None and month is None:
        raise ValueError(
            f"times such as {texts[0].as_py()!r} do not sort in the order of time, and column "
            f"{name} has some that are dates neither with the day first nor with the month first: "
            "write them as 2024-09-30"
        )
    if day is None or month is None:
        return (month, False) if day is None else (day, True)
    if not day.equals(month):
        pc = extras.require("pyarrow.compute")
        k = pc.index(pc.not_equal(day, month), value=True).as_py()
        raise ValueError(
            f"column {name} is ambiguous: {texts[k].as_py()} is {_spelled(day[k])} with "
            f"the day first, and {_spelled(month[k])} with the month first: choose with "
            "dayfirst=True or False (--dayfirst or --monthfirst)"
        )
    return day, True


def _dates(texts: Any, *, dayfirst: bool) -> Any:
    """Return texts as timestamps; None if some are no such dates."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    parts = pc.extract_regex(texts, YEAR_LAST)
    first, second, year, clock = (
        pc.struct_field(parts, part) for part in ("first", "second", "year", "clock")
    )
    day, month = (first, second) if dayfirst else (second, first)
    pads = [pc.utf8_lpad(part, 2, "0") for part in (month, day)]
    days = pc.binary_join_element_wise(year, *pads, "-")
    clock = pc.if_else(pc.equal(clock, ""), "00:00", clock)
    hours = pc.replace_substring_regex(clock, r"^(\d):", r"0\1:")
    try:
        return pc.binary_join_element_wise(days, hours, " ").cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None


def _spelled(date: Any) -> str:
    day = date.as_py()
    return f"{day.day} {day:%B %Y}"


def written_order(column: Any, name: str) -> np.ndarray | None:
    """Return dates of any form, of which only the order is used; None if they are not dates."""
    dates = as_dates(column, name)
    if dates is not None or not is_text(column.type) or column.null_count:
        return dates
    texts = words(column)
    if not extras.require("pyarrow.compute").match_substring_regex(texts[0], YEAR_LAST).as_py():
        return None
    readings = (_dates(texts, dayfirst=first) for first in (True, False))
    return next((times.to_numpy() for times in readings if times is not None), None)
