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
from normalhedge.boundary.terminal import clipped, counted
from normalhedge.latent.regimes._encoding import (
    KINDS,
    WORDS,
    Encoding,
    check_counts,
    read_number,
    read_numbers,
    read_value,
    symbol_label,
)

TWO = 2  # whole numbers with at most this many different values are taken for symbols
FEW = 12  # with more symbols than this, each must occur twice on average
MANY = 200  # the largest number of symbols
COUNTS = 1000  # whole numbers from 0 up to this are taken for counts, larger ones for real numbers
COLUMNS = 50  # the largest number of columns
COVARIATES = 20  # the largest number of covariates

DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{4}")


@dataclass(frozen=True, eq=False)
class Sequence:
    """Observations as numbers."""

    # symbols as 0, 1, ..., counts or real numbers, T, or T x d with several columns; NaN where
    # missing
    numbers: Floats
    encoding: Encoding  # the meaning of the numbers
    # the guessed kind in words, to be shown to the user; empty if the kind was given
    guess: str = ""
    # the original numbers, if a limit turned them into two symbols; else None
    raw: Floats | None = None
    pandas: bool = False  # whether the observations came from pandas
    given: Floats | None = None  # the covariates, T x p, NaN where missing; None without any

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the symbols; empty for numbers."""
        return self.encoding.labels

    @property
    def known(self) -> np.ndarray:
        """Whether each round has an observation in all columns."""
        return np.asarray(~np.isnan(self.table).any(axis=1))

    @property
    def table(self) -> Floats:
        """The observations with their covariates, T x (d + p)."""
        table = self.numbers.reshape(len(self.numbers), -1)
        return table if self.given is None else np.column_stack([table, self.given])

    def decode(self) -> dict[str, list[Any]]:
        """Return the observations as they were given, by column; None where missing."""
        if columns := self.encoding.columns:
            return {name: plain_list(self.numbers[:, k]) for k, name in enumerate(columns)}
        values = plain_list(self.numbers)
        if self.labels:
            return {"observed": [None if x is None else self.labels[int(x)] for x in values]}
        covariates = () if self.given is None else self.given.T
        names = zip(self.encoding.given, covariates, strict=True)
        return {"observed": values, **{name: plain_list(column) for name, column in names}}


def encode(
    values: Any,
    *,
    kind: str | None = None,
    above: float | None = None,
    encoding: Encoding | None = None,
    given: Any = None,
) -> Sequence:
    """Return values as a sequence of symbols, counts or real numbers.

    Words, booleans, and whole numbers with at most two different values are symbols; other whole
    numbers from 0 to 1000 are counts; everything else is real numbers. Values with covariates are
    real numbers.

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
    if given is not None:
        if kind not in {None, "numbers"} or above is not None:
            raise ValueError("given needs a column of real numbers, without kind or above")
        kind = "numbers"
    if columns is None and (isinstance(values, str | bytes) or not isinstance(values, Iterable)):
        raise TypeError(f"values must be a series or a table, got {clipped(repr(values), 60)}")
    width = 1 if columns is None else len(columns)
    if encoding is not None and max(len(encoding.columns), 1) != width:
        former = max(len(encoding.columns), 1)
        raise ValueError(f"{counted(former, 'column')} came before, and now {width}")
    if columns is not None and width > 1:
        sequence = _encode_columns(columns, kind, above, encoding)
    else:
        column = values if columns is None else next(iter(columns.values()))
        sequence = _encode_column(column, kind, above, encoding)
    if given is not None or sequence.encoding.given:
        sequence = _with_covariates(sequence, given)
    return replace(sequence, pandas=type(values).__module__.partition(".")[0] == "pandas")


def _with_covariates(sequence: Sequence, given: Any) -> Sequence:
    """Return a sequence with its covariates, checked."""
    if sequence.numbers.ndim > 1 or sequence.encoding.kind != "numbers":
        raise ValueError("given needs a single column of real numbers")
    columns = read_covariates(given, len(sequence.numbers), sequence.encoding.given)
    encoding = replace(sequence.encoding, given=tuple(columns))
    return replace(sequence, encoding=encoding, given=np.column_stack(list(columns.values())))


def read_covariates(given: Any, rounds: int, names: tuple[str, ...] = ()) -> dict[str, Floats]:
    """Return covariates of so many rounds as columns of numbers; their names may be known."""
    if given is None:
        raise ValueError(f"given is needed: the covariates {', '.join(names)} came before")
    columns = _columns(given)
    if columns is None:
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise TypeError(f"given must be a series or a table, got {clipped(repr(given), 60)}")
        columns = {str(getattr(given, "name", None) or "given"): given}
    if not 1 <= len(columns) <= COVARIATES:
        raise ValueError(f"given must have 1 to {COVARIATES} columns, got {len(columns)}")
    named = isinstance(given, Mapping) or hasattr(given, "columns")
    if names and (set(columns) != set(names) if named else len(columns) != len(names)):
        raise ValueError(
            f"given must have the covariates {', '.join(names)}, got {', '.join(columns)}"
        )
    if names:
        wanted = names if named else tuple(columns)
        columns = {name: columns[old] for name, old in zip(names, wanted, strict=True)}
    table = _table(columns)
    if len(table) != rounds:
        raise ValueError(
            f"given must have a row for each of {counted(rounds, 'round')}, got {len(table):,}"
        )
    return dict(zip(columns, table.T, strict=True))


def _encode_column(
    values: Any, kind: str | None, above: float | None, encoding: Encoding | None
) -> Sequence:
    plain = [read_value(row, value) for row, value in enumerate(values, start=1)]
    if encoding is not None:
        numbers = np.array([encoding.number(value) for value in plain], dtype=float)
        raw = None if encoding.above is None else read_numbers(plain)
        return Sequence(numbers, encoding, raw=raw)
    known = [value for value in plain if value is not None]
    if not known:
        raise ValueError("there is nothing to learn from: no value is given")
    if above is not None:
        return _above(plain, above, kind)
    _refuse_dates(known)
    guess = _guess(known)
    if (kind or guess) == "symbols":
        return _symbols(plain, known, guessed=kind is None)
    numbers = read_numbers(plain)
    if kind == "counts":
        check_counts(numbers)
    shown = {"counts": "counts", "numbers": "real numbers"}[guess] if kind is None else ""
    return _check_varied(numbers, Encoding(kind or guess), shown)


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


def _encode_columns(
    columns: dict[str, Any], kind: str | None, above: float | None, encoding: Encoding | None
) -> Sequence:
    """Return several columns of real numbers as a sequence."""
    if above is not None:
        raise ValueError("above needs a single column")
    if kind not in {None, "numbers"}:
        raise ValueError(f"several columns must be real numbers: kind cannot be {kind}")
    table = _table(columns)
    if encoding is not None:
        return Sequence(table, encoding)
    whole = table[~np.isnan(table).any(axis=1)]
    if not len(whole):
        raise ValueError("there is nothing to learn from: no row has a value in each column")
    for name, part in zip(columns, whole.T, strict=True):
        if np.ptp(part) == 0.0:
            raise ValueError(f"there is nothing to learn from: every value of {name} is the same")
    guess = f"{len(columns)} columns of real numbers" if kind is None else ""
    return Sequence(table, Encoding("numbers", columns=tuple(columns)), guess)


def _table(columns: dict[str, Any]) -> Floats:
    if len(columns) > COLUMNS:
        raise ValueError(f"there may be at most {COLUMNS} columns, got {len(columns)}")
    parts = []
    for name, column in columns.items():
        try:
            rows = enumerate(column, start=1)
            parts.append(np.array([read_number(row, read_value(row, x)) for row, x in rows]))
        except ValueError as error:
            raise ValueError(
                f"several columns must all be numbers: in column {name}, {error}"
            ) from None
    lengths = {len(part) for part in parts}
    if len(lengths) > 1:
        raise ValueError(f"columns must have the same length, got {sorted(lengths)}")
    return np.column_stack(parts)


def _guess(known: list[Any]) -> str:
    if any(isinstance(value, WORDS) for value in known):
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
    numbers = read_numbers(plain)
    binary = np.where(np.isnan(numbers), np.nan, numbers > limit)
    encoding = Encoding("symbols", (f"at most {limit:g}", f"above {limit:g}"), limit)
    return replace(_check_varied(binary, encoding, ""), raw=numbers)


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
    numeric = not any(isinstance(value, WORDS) for value in distinct)
    order = sorted(distinct) if numeric else sorted(distinct, key=str)
    place = {value: float(k) for k, value in enumerate(order)}
    coded = np.array([math.nan if value is None else place[value] for value in plain])
    labels = tuple(symbol_label(value) for value in order)
    if len(set(labels)) < len(labels):
        raise ValueError("different values have the same label: words and numbers are mixed")
    guess = f"{len(distinct)} symbols" if guessed else ""
    return _check_varied(coded, Encoding("symbols", labels), guess)


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


def _check_varied(numbers: Floats, encoding: Encoding, guess: str) -> Sequence:
    """Return a sequence; refuse a constant one."""
    known = numbers[~np.isnan(numbers)]
    if known.min() == known.max():
        same = encoding.labels[int(known[0])] if encoding.labels else f"{known[0]:g}"
        raise ValueError(f"there is nothing to learn from: every value is {clipped(same, 60)}")
    return Sequence(numbers, encoding, guess)


def plain_list(values: Floats) -> list[float | None]:
    """Return numbers as a list, None where they are NaN."""
    return [None if math.isnan(value) else value for value in values.tolist()]
