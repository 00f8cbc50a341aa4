"""What people observe, as numbers: symbols are counted from zero, and what is missing is NaN."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats

FEW = 12
"""Whole numbers of at most this many different values are taken for symbols."""

MANY = 200
"""More symbols than this are refused."""

KINDS = ("symbols", "numbers")


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
    plain = [None if _missing(value) else value for value in values]
    known = [value for value in plain if value is not None]
    if not known:
        raise ValueError("there is nothing to predict: no value is given")
    if above is not None:
        if kind == "numbers":
            raise ValueError("above makes symbols of numbers: kind cannot be numbers")
        limit = _inputs.number("above", above, -_inputs.LARGEST, _inputs.LARGEST)
        numbers = _numbers(plain)
        binary = np.where(np.isnan(numbers), np.nan, numbers > limit)
        return _checked(binary, (f"at most {limit:g}", f"above {limit:g}"), "two symbols")
    numeric = all(_is_number(value) for value in known)
    distinct = set(known)
    if kind is None:
        whole = numeric and all(float(value).is_integer() for value in distinct)
        kind = "numbers" if numeric and not (whole and len(distinct) <= FEW) else "symbols"
        said = "real numbers" if kind == "numbers" else f"{len(distinct)} symbols"
    else:
        said = ""
    if kind == "numbers":
        if not numeric:
            odd = next(value for value in known if not _is_number(value))
            raise ValueError(f"numbers are wanted, got {odd!r}")
        return _checked(_numbers(plain), (), said)
    if len(distinct) > MANY:
        raise ValueError(
            f"{len(distinct):,} different symbols are too many (at most {MANY}): are these times, "
            "or numbers?"
        )
    order = sorted(distinct) if numeric else sorted(distinct, key=str)
    place = {value: float(k) for k, value in enumerate(order)}
    coded = np.array([math.nan if value is None else place[value] for value in plain])
    labels = tuple(f"{value:g}" if numeric else str(value) for value in order)
    return _checked(coded, labels, said)


def _checked(numbers: Floats, labels: tuple[str, ...], said: str) -> Sequence:
    known = numbers[~np.isnan(numbers)]
    if known.min() == known.max():
        same = labels[int(known[0])] if labels else f"{known[0]:g}"
        raise ValueError(f"there is nothing to predict: every value is {same}")
    return Sequence(numbers, labels, said)


def _missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _numbers(values: list[Any]) -> Floats:
    for row, value in enumerate(values, start=1):
        if value is not None and not _is_number(value):
            raise ValueError(f"numbers are wanted, got {value!r} in row {row}")
        if value is not None and not abs(value) <= _inputs.LARGEST:
            raise ValueError(f"numbers must be finite, got {value!r} in row {row}")
    return np.array([math.nan if value is None else float(value) for value in values])
