"""What people observe, as numbers: symbols are counted from zero, and what is missing is NaN."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats

FEW = 12
"""Whole numbers of at most this many different values are taken for symbols."""

MANY = 200
"""More symbols than this are refused."""

KINDS = ("symbols", "numbers")

PLAIN = (str, bool, int, float, np.integer, np.floating, np.bool_, date)
"""What a value may be; a date is a word."""


@dataclass(frozen=True, eq=False)
class Sequence:
    """Observations as numbers.

    Attributes
    ----------
    numbers
        Symbols as 0, 1, ..., or real numbers; NaN where missing.
    labels
        What the symbols mean; none of them for real numbers.
    said
        What was guessed, for people to see.
    """

    numbers: Floats
    labels: tuple[str, ...]
    said: str

    def decoded(self) -> list[Any]:
        """Return the observations as they were given; None where missing."""
        known = ~np.isnan(self.numbers)
        if not self.labels:
            return [float(x) if k else None for x, k in zip(self.numbers, known, strict=True)]
        return [self.labels[int(x)] if k else None
                for x, k in zip(self.numbers, known, strict=True)]  # fmt: skip


def encode(
    values: Iterable[Any], *, kind: str | None = None, above: float | None = None
) -> Sequence:
    """Return values as a sequence of symbols or of real numbers.

    Words, booleans, and whole numbers of at most 12 different values are symbols; other numbers are
    real ones.

    Parameters
    ----------
    values
        None, NaN and empty strings are missing.
    kind
        "symbols" or "numbers"; none to see for itself.
    above
        Turns numbers into two symbols: whether they are above this.

    Raises
    ------
    ValueError
        If there is nothing to predict: no values, or all of them the same; or if they are too many
        different words, or not what ``kind`` says.

    Examples
    --------
    >>> encode([0.0, 2.5, None, 7.1], above=1).labels
    ('at most 1', 'above 1')
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    plain = [_plain(row, value) for row, value in enumerate(values, start=1)]
    known = [value for value in plain if value is not None]
    if not known:
        raise ValueError("there is nothing to predict: no value is given")
    if above is not None:
        return _above(plain, above, kind)
    guess = "symbols" if _look_like_symbols(known) else "numbers"
    if (kind or guess) == "numbers":
        return _checked(_numbers(plain), (), "real numbers" if kind is None else "")
    return _symbols(plain, known, guessed=kind is None)


def _plain(row: int, value: Any) -> Any:
    """Return a value, None where it is missing; refuse what is neither word nor number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return None
    if not isinstance(value, PLAIN):
        raise ValueError(f"words or numbers are wanted, got {str(value)[:60]} in row {row}")
    if _is_number(value) and not -_inputs.LARGEST <= value <= _inputs.LARGEST:  # type: ignore[operator]
        raise ValueError(f"numbers must be within ±1e100, got {str(value)[:60]} in row {row}")
    return value


def _look_like_symbols(known: list[Any]) -> bool:
    if not all(_is_number(value) for value in known):
        return True
    distinct = set(known)
    return len(distinct) <= FEW and all(float(value).is_integer() for value in distinct)


def _above(plain: list[Any], above: float, kind: str | None) -> Sequence:
    if kind == "numbers":
        raise ValueError("above makes symbols of numbers: kind cannot be numbers")
    limit = _inputs.number("above", above, -_inputs.LARGEST, _inputs.LARGEST)
    numbers = _numbers(plain)
    binary = np.where(np.isnan(numbers), np.nan, numbers > limit)
    return _checked(binary, (f"at most {limit:g}", f"above {limit:g}"), "two symbols")


def _symbols(plain: list[Any], known: list[Any], *, guessed: bool) -> Sequence:
    distinct = set(known)
    if len(distinct) > MANY or (len(distinct) > FEW and 2 * len(distinct) > len(known)):
        raise ValueError(
            f"{len(distinct):,} different symbols in {len(known):,} rows are too many: are these "
            "times, or names?"
        )
    numeric = all(_is_number(value) for value in distinct)
    order = sorted(distinct) if numeric else sorted(distinct, key=str)
    place = {value: float(k) for k, value in enumerate(order)}
    coded = np.array([math.nan if value is None else place[value] for value in plain])
    labels = tuple(_label(value) for value in order)
    if len(set(labels)) < len(labels):
        raise ValueError("different values look the same: words and numbers are mixed")
    return _checked(coded, labels, f"{len(distinct)} symbols" if guessed else "")


def _label(value: Any) -> str:
    return str(int(value)) if _is_number(value) and float(value).is_integer() else str(value)


def _checked(numbers: Floats, labels: tuple[str, ...], said: str) -> Sequence:
    known = numbers[~np.isnan(numbers)]
    if known.min() == known.max():
        same = labels[int(known[0])] if labels else f"{known[0]:g}"
        raise ValueError(f"there is nothing to predict: every value is {same}")
    return Sequence(numbers, labels, said)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _numbers(values: list[Any]) -> Floats:
    for row, value in enumerate(values, start=1):
        if value is not None and not _is_number(value):
            raise ValueError(f"numbers are wanted, got {value!r} in row {row}")
    return np.array([math.nan if value is None else float(value) for value in values])
