"""Read the columns of Arrow tables as times: dates, numbers or words."""

from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.tables.frames._frames import is_number, is_text, words

WITH_OFFSET = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$"
"""Times with their distance from UTC, which do not sort as words."""

DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
"""Dates that do not sort as words."""

FIRST_DAY, LAST_DAY = 19000101, 21001231
"""Whole numbers between these are read as dates, such as 20240930, if all of them are."""


DATE, FEW_WORDS = r"^\s*(\d{4}-\d\d?-\d\d?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})", 0.05
"""The beginning of a date; and the largest share of rows without one that is taken for an error."""


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
    if is_number(column.type):
        return column.cast(pa.float64()) if types.is_decimal(column.type) else column
    texts = column.cast(pa.string())
    pc = extras.require("pyarrow.compute")
    if _have_offsets(texts):
        return texts.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    _refuse_a_few_words(texts)
    if pc.any(pc.match_substring_regex(texts, DAY_FIRST)).as_py():
        raise ValueError(
            f"times such as {texts[0].as_py()!r} do not sort in the order of time: write them as "
            "2024-09-30"
        )
    return texts


def _refuse_a_few_words(texts: Any) -> None:
    """Refuse times that are dates in nearly all rows, such as a last row of totals."""
    pc = extras.require("pyarrow.compute")
    dates = pc.match_substring_regex(texts, DATE).to_numpy(zero_copy_only=False)
    others = np.flatnonzero(~dates)
    if 0 < len(others) <= FEW_WORDS * len(dates):
        row = int(others[0])
        raise ValueError(
            f"the time must be a date in every row, as in the others: in row {row + 1} it is "
            f"{texts[row].as_py()!r}"
        )


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


def zone_of(column: Any) -> str:
    """Return the zone of times: its name, or their offsets from UTC; empty without one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> zone_of(pa.array(["2024-07-01T01:00+02:00", "2024-01-01T01:00+01:00"]))
    'UTC+01:00 and UTC+02:00'
    >>> zone_of(pa.array(["2024-07-01T01:00"]))
    ''
    """
    pc, types = extras.require("pyarrow.compute"), extras.require("pyarrow.types")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_timestamp(kind):
        return kind.tz or ""
    if not is_text(kind) or not _have_offsets(words(column)):
        return ""
    ends = pc.unique(pc.replace_substring_regex(words(column), r"^.*:\d\d(\.\d+)?([Z+-])", r"\2"))
    zones = sorted({"UTC" if end == "Z" else f"UTC{end}" for end in ends.to_pylist()})
    return " and ".join([", ".join(zones[:-1]), zones[-1]][len(zones) < 2 :])


def times(column: Any, every: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's time, 0, 1, ..., and the distinct times in their order."""
    pc = extras.require("pyarrow.compute")
    ordered = sortable(column).combine_chunks()
    if every is not None:
        return np.searchsorted(every, ordered.to_numpy()).astype(np.int32), every
    if is_number(ordered.type):
        numbers = ordered.to_numpy(zero_copy_only=False)
        if (numbers[1:] >= numbers[:-1]).all():  # mostly, tables are in the order of time
            first = np.append(True, numbers[1:] != numbers[:-1])
            return np.cumsum(first, dtype=np.int32) - np.int32(1), numbers[first]
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
        return _dates_of_numbers(column.cast(pa.int64(), safe=False).to_numpy(), name)
    try:
        if types.is_string(column.type) or types.is_large_string(column.type):
            if _have_offsets(column):  # the clock of the place
                pc = extras.require("pyarrow.compute")
                column = pc.replace_substring_regex(column, r"(Z|[+-]\d\d:?\d\d)$", "")
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
