"""Cells of a hub's files as people write them: texts, numbers, dates and whole steps."""

import re
from collections.abc import Callable
from datetime import date as Date  # noqa: N812 -- a type
from typing import Any

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.tables.frames import floats

EMPTY = {"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"}
"""Cells without a value, in small letters."""

SHOWN = 40
"""The longest cell that a sentence shows whole."""

_AROUND = " \t\r\n\f\v\u00a0\u2009\u202f\ufeff\"'"
_MARKED = rf"^[{_AROUND}]|[{_AROUND}]$"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:([ ,'\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(\.\d*)?", re.ASCII
)
_DATE = re.compile(r"(\d{4}-?\d\d-?\d\d)([ T]00:00(:00(\.0+)?)?Z?)?", re.ASCII)


def show(cell: str) -> str:
    """Return a cell as a sentence shows it: in quotes, and not too long."""
    return repr(cell if len(cell) <= SHOWN else cell[: SHOWN - 3] + "...")


def clean(column: Any) -> Any:
    """Return a column of texts without spaces and quotes around them; words for nothing are ''."""
    pc = extras.require("pyarrow.compute")
    if pc.any(pc.match_substring_regex(column, _MARKED)).as_py():
        column = pc.utf8_trim(column, _AROUND)
    empty = pc.is_in(
        pc.utf8_lower(column), value_set=extras.require("pyarrow").array(sorted(EMPTY))
    )
    return pc.if_else(empty, "", column) if pc.any(empty).as_py() else column


def convert(column: Any, function: Callable[[str], str]) -> Any:
    """Return a column of texts with a function of each, which is called once for equal texts."""
    pa = extras.require("pyarrow")
    coded = column.combine_chunks().dictionary_encode()
    distinct = pa.array([function(text) for text in coded.dictionary.to_pylist()], pa.string())
    return distinct.take(coded.indices)


def as_date(name: str) -> Callable[[str], str]:
    """Return a function that writes the cells of a column as dates; empty cells stay empty."""

    def read(text: str) -> str:
        if not text:
            return text
        parts = _DATE.fullmatch(text)
        try:
            return Date.fromisoformat(parts[1] if parts else "").isoformat()
        except ValueError:
            raise ValueError(
                f"{name} must be a date such as 2024-01-06, it is {show(text)}"
            ) from None

    return read


def as_step(text: str) -> str:
    """Return a whole number of steps as it is usually written, '1' for '1.0'; else the cell."""
    value = _plain(text)
    whole = value is not None and abs(value) < LARGEST and value == int(value)
    return str(int(value)) if whole and value is not None else text


def _plain(text: str) -> float | None:
    text = text.replace("\u2212", "-")  # the minus sign of typography
    if _GROUPED.fullmatch(text):
        text = re.sub(r"[^\d.+-]", "", text)
    return float(text) if _NUMBER.fullmatch(text) else None


def read_numbers(column: Any, name: str) -> Floats:
    """Return a column of clean texts as numbers, NaN where it is empty; refuse other cells.

    ``+5``, ``1e3``, ``1,234.5`` and ``1 234`` are numbers. Commas stand between thousands: a column
    with ``12,5`` has decimal commas, and is refused.
    """
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    known = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    try:
        numbers = known.cast(pa.float64())
    except pa.ArrowInvalid:
        numbers = convert(known.fill_null(""), lambda text: _written(text, name))
        numbers = pc.if_else(pc.equal(numbers, ""), None, numbers).cast(pa.float64())
    refused = pc.invert(pc.less(pc.abs(numbers.fill_null(0.0)), LARGEST))
    if pc.any(refused).as_py():
        cell = column.filter(refused)[0].as_py()
        raise ValueError(f"{name} must be a finite number below {LARGEST:g}, it is {show(cell)}")
    return floats(pa.chunked_array([numbers]) if isinstance(numbers, pa.Array) else numbers)


def _written(text: str, name: str) -> str:
    """Return a number as Arrow reads it; refuse other texts."""
    number = _plain(text) if text else None
    if text and number is None:
        hint = "; write 12.5 for 12,5" if re.fullmatch(r"[+-]?\d+,\d+", text) else ""
        raise ValueError(f"{name} must be a number, it is {show(text)}{hint}")
    return "" if number is None else repr(number)


def find_thousands(column: Any) -> str:
    """Return the first cell whose thousands are marked by commas; '' without one."""
    pc = extras.require("pyarrow.compute")
    marked = column.filter(pc.match_substring(column, ","))
    return str(marked[0].as_py()) if len(marked) else ""
