"""Values of a series as numbers: symbols are counted from zero, missing values are NaN."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped
from normalhedge.latent.regimes import _values
from normalhedge.latent.regimes._code import KINDS, Code

TWO = 2
"""Whole numbers with at most this many different values are taken for symbols."""

FEW = 12
"""With more symbols than this, each must occur twice on average."""

MANY = 200
"""The largest number of symbols."""

COUNTS = 1000
"""Whole numbers from 0 up to this are taken for counts, larger ones for real numbers."""

COLUMNS = 50
"""The largest number of columns."""

DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{4}")


@dataclass(frozen=True, eq=False)
class Sequence:
    """Observations as numbers."""

    # symbols as 0, 1, ..., counts or real numbers, T, or T x d with several columns; NaN where
    # missing
    numbers: Floats
    code: Code  # the meaning of the numbers
    # the guessed kind in words, to be shown to the user; empty if the kind was given
    guess: str = ""
    # the original numbers, if a limit turned them into two symbols; else None
    raw: Floats | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the symbols; empty for numbers."""
        return self.code.labels

    @property
    def known(self) -> np.ndarray:
        """Whether each round has an observation in all columns."""
        table = self.numbers.reshape(len(self.numbers), -1)
        return np.asarray(~np.isnan(table).any(axis=1))

    def decoded(self) -> dict[str, list[Any]]:
        """Return the observations as they were given, by column; None where missing."""
        if self.code.columns:
            return {name: _present(self.numbers[:, k]) for k, name in enumerate(self.code.columns)}
        values = _present(self.numbers)
        if self.labels:
            values = [None if x is None else self.labels[int(x)] for x in values]
        return {"observed": values}


def encode(
    values: Any,
    *,
    kind: str | None = None,
    above: float | None = None,
    code: Code | None = None,
) -> Sequence:
    """Return values as a sequence of symbols, counts or real numbers.

    Words, booleans, and whole numbers with at most two different values are symbols; other whole
    numbers from 0 to 1000 are counts; everything else is real numbers.

    Examples
    --------
    >>> encode([0.0, 2.5, None, 7.1], above=1).labels
    ('at most 1', 'above 1')
    >>> encode({"a": [1.5, 2.5, 3.5], "b": [0.5, None, 1.5]}).numbers.shape
    (3, 2)
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    columns = _columns(values)
    _check_shape(values, columns, code)
    if columns is not None and len(columns) > 1:
        return _several(columns, kind, above, code)
    one = values if columns is None else next(iter(columns.values()))
    plain = [_values.plain(row, value) for row, value in enumerate(one, start=1)]
    if code is not None:
        coded = np.array([code.number(value) for value in plain], dtype=float)
        return Sequence(coded, code, raw=None if code.above is None else _values.numbers(plain))
    known = [value for value in plain if value is not None]
    if not known:
        raise ValueError("there is nothing to learn from: no value is given")
    if above is not None:
        return _above(plain, above, kind)
    _refuse_dates(known)
    guess = _guess(known)
    if (kind or guess) == "symbols":
        return _symbols(plain, known, guessed=kind is None)
    words = {"counts": "counts", "numbers": "real numbers"}
    if guess == "symbols":
        _values.numbers(plain)  # refuses the first word, with its row
    numbers = _values.numbers(plain)
    if kind == "counts":
        _values.refuse_fractions(numbers)
    return _checked(numbers, Code(kind or guess), words[guess] if kind is None else "")


def _check_shape(values: Any, columns: dict[str, Any] | None, code: Code | None) -> None:
    if columns is None and (isinstance(values, str | bytes) or not isinstance(values, Iterable)):
        raise TypeError(f"values must be a series or a table, got {clipped(repr(values), 60)}")
    now = 1 if columns is None else len(columns)
    if code is not None and max(len(code.columns), 1) != now:
        raise ValueError(f"there were {max(len(code.columns), 1)} columns before, and now {now}")


def _columns(values: Any) -> dict[str, Any] | None:
    """Return several columns by name; None for a single column without a name."""
    if isinstance(values, Mapping):
        return {str(name): column for name, column in values.items()}
    if getattr(values, "ndim", 2) == 2 and hasattr(values, "columns"):
        return {str(name): values[name] for name in values.columns}
    if isinstance(values, np.ndarray) and values.ndim > 1:
        if values.ndim > 2:
            raise ValueError(f"values must be T or T x d, got shape {values.shape}")
        return {f"column {k}": values[:, k].tolist() for k in range(values.shape[1])}
    if isinstance(values, list | tuple) and values and isinstance(values[0], list | tuple):
        widths = {len(row) if isinstance(row, list | tuple) else 0 for row in values}
        if len(widths) > 1 or 0 in widths:
            raise ValueError("values must have the same number of columns in each row")
        return {f"column {k}": [row[k] for row in values] for k in range(widths.pop())}
    return None


def _several(
    columns: dict[str, Any], kind: str | None, above: float | None, code: Code | None
) -> Sequence:
    """Return several columns of real numbers as a sequence."""
    _check_several(columns, kind, above)
    parts = []
    for name, column in columns.items():
        try:
            parts.append(
                _values.numbers([_values.plain(row, x) for row, x in enumerate(column, start=1)])
            )
        except ValueError as error:
            raise ValueError(
                f"several columns must all be numbers: in column {name}, {error}"
            ) from None
    lengths = {len(part) for part in parts}
    if len(lengths) > 1:
        raise ValueError(f"columns must have the same length, got {sorted(lengths)}")
    table = np.column_stack(parts)
    whole = ~np.isnan(table).any(axis=1)
    if code is not None:
        return Sequence(table, code)
    if not whole.any():
        raise ValueError("there is nothing to learn from: no row has a value in each column")
    for name, part in zip(columns, parts, strict=True):
        if np.ptp(part[whole]) == 0.0:
            raise ValueError(f"there is nothing to learn from: every value of {name} is the same")
    guess = f"{len(columns)} columns of real numbers" if kind is None else ""
    return Sequence(table, Code("numbers", columns=tuple(columns)), guess)


def _check_several(columns: dict[str, Any], kind: str | None, above: float | None) -> None:
    if above is not None:
        raise ValueError("above needs a single column")
    if kind not in {None, "numbers"}:
        raise ValueError(f"several columns must be real numbers: kind cannot be {kind}")
    if len(columns) > COLUMNS:
        raise ValueError(f"there may be at most {COLUMNS} columns, got {len(columns)}")


def _guess(known: list[Any]) -> str:
    if not all(inputs.is_number(value) for value in known):
        return "symbols"
    if not all(float(value).is_integer() for value in known):
        return "numbers"
    if len(set(known)) <= TWO:
        return "symbols"
    return "counts" if min(known) >= 0 and max(known) <= COUNTS else "numbers"


def _refuse_dates(known: list[Any]) -> None:
    if all(isinstance(x, date) or (isinstance(x, str) and DATE.match(x.strip())) for x in known):
        raise ValueError(
            f"these are dates, such as {clipped(str(known[0]), 40)}, not observations: "
            "name them as time"
        )


def _above(plain: list[Any], above: float, kind: str | None) -> Sequence:
    if kind not in {None, "symbols"}:
        raise ValueError(f"above makes symbols of numbers: kind cannot be {kind}")
    limit = inputs.number("above", above, -inputs.LARGEST, inputs.LARGEST)
    numbers = _values.numbers(plain)
    binary = np.where(np.isnan(numbers), np.nan, numbers > limit)
    code = Code("symbols", (f"at most {limit:g}", f"above {limit:g}"), limit)
    return replace(_checked(binary, code, ""), raw=numbers)


def _symbols(plain: list[Any], known: list[Any], *, guessed: bool) -> Sequence:
    distinct = set(known)
    many = len(distinct) > MANY or (len(distinct) > FEW and 2 * len(distinct) > len(known))
    if many or (guessed and len(distinct) > FEW):
        _refuse_text_among_numbers(plain)
    if many:
        raise ValueError(
            f"{len(distinct):,} different symbols in {len(known):,} rows are too many: are these "
            "times, or names?"
        )
    numeric = all(inputs.is_number(value) for value in distinct)
    order = sorted(distinct) if numeric else sorted(distinct, key=str)
    place = {value: float(k) for k, value in enumerate(order)}
    coded = np.array([math.nan if value is None else place[value] for value in plain])
    labels = tuple(_values.label(value) for value in order)
    if len(set(labels)) < len(labels):
        raise ValueError("different values have the same label: words and numbers are mixed")
    guess = f"{len(distinct)} symbols" if guessed else ""
    return _checked(coded, Code("symbols", labels), guess)


def _refuse_text_among_numbers(plain: list[Any]) -> None:
    """Refuse text in a column that holds mostly numbers, which may be written as text."""
    words = [(row, x) for row, x in enumerate(plain, start=1) if x is not None and not _reads(x)]
    if words and 2 * len(words) <= sum(x is not None for x in plain):
        row, word = words[0]
        raise ValueError(f"values must be numbers, got {clipped(repr(word), 60)} in row {row}")


def _reads(value: Any) -> bool:
    """Return whether a value is a number, or text that reads as one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _checked(numbers: Floats, code: Code, guess: str) -> Sequence:
    known = numbers[~np.isnan(numbers)]
    if known.min() == known.max():
        same = code.labels[int(known[0])] if code.labels else f"{known[0]:g}"
        raise ValueError(f"there is nothing to learn from: every value is {clipped(same, 60)}")
    return Sequence(numbers, code, guess)


def _present(values: Floats) -> list[Any]:
    return [None if math.isnan(value) else value for value in values.tolist()]
