"""Times as dates, and the hours, weekdays and months that rows fall into."""

from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

DAY = np.timedelta64(1, "D")

FIRST_DAY, LAST_DAY = 19000101, 21001231
"""Whole numbers between these are read as dates, such as 20240930, if all of them are."""


class Grouping(NamedTuple):
    """A way to divide rows into groups."""

    title: str  # what the groups are, such as ``hour``
    labels: list[str]  # the name of each group, in the order in which to show them
    codes: np.ndarray  # the group of each row


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


def calendar(dates: np.ndarray) -> list[Grouping]:
    """Return the rows by hour, weekday and month, as far as these vary over a longer time.

    Rows a day apart have no hours worth a comparison, and rows a month apart no weekdays.
    """
    if not len(dates):
        return []
    days = dates.astype("datetime64[D]")
    hours = ((dates - days) // np.timedelta64(1, "h")).astype(np.int64)
    weekdays = (days.astype(np.int64) + 3) % 7  # 1 January 1970 was a Thursday
    months = dates.astype("datetime64[M]").astype(np.int64) % 12
    distinct = np.unique(dates)
    span = (distinct[-1] - distinct[0]) / DAY
    gap = float(np.median(np.diff(distinct) / DAY)) if len(distinct) > 1 else np.inf
    found = []
    if span >= 2 and gap < 1:
        found.append(_present("hour of the day", [f"{h:02d}:00" for h in range(24)], hours))
    if span >= 14 and gap < 2:
        found.append(_present("weekday", list(WEEKDAYS), weekdays))
    if span >= 90 and gap < 100:
        found.append(_present("month", list(MONTHS), months))
    return [grouping for grouping in found if len(grouping.labels) > 1]


def _present(title: str, labels: list[str], codes: np.ndarray) -> Grouping:
    """Return a grouping without its empty groups."""
    there, place = np.unique(codes, return_inverse=True)
    return Grouping(title, [labels[k] for k in there], place)
