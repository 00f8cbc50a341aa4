"""The encoding of observations as the numbers that models learn."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Self

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped

# the largest number of columns with full covariances; with more, states have variances only
FULL = 10

KINDS = {
    "numbers": "gaussian",
    "autoregressive": "autoregressive",
    "counts": "poisson",
    "symbols": "categorical",
}
"""The kinds of observations, with the emission for one column."""

# the largest count: the distribution of counts is a sum over all smaller ones
LARGEST_COUNT = 10_000
# the missing values of pandas and of masked arrays
MISSING = {"NAType", "NaTType", "MaskedConstant"}
# the accepted types of a value; a truth value is a word
WORDS = (str, bool, np.bool_, date)
NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Encoding:
    """The meaning of the numbers that observations become."""

    kind: str  # one of `KINDS`
    labels: tuple[str, ...] = ()  # the names of the symbols
    above: float | None = None  # the limit that turns numbers into two symbols; None without one
    columns: tuple[str, ...] = ()  # the names of several columns; empty for a single one
    given: tuple[str, ...] = ()  # the names of covariates

    @property
    def emission(self) -> str:
        """The family of emissions for `Regimes`."""
        if self.given:
            return "regression"
        if self.columns:
            return "full" if len(self.columns) <= FULL else "diagonal"
        return KINDS[self.kind]

    @property
    def number_columns(self) -> tuple[str, ...]:
        """The names of the columns of numbers: an empty name for a single one, none for symbols."""
        return () if self.labels else self.columns or ("",)

    def number(self, value: Any) -> Any:
        """Return an observation as `Regimes.observe` takes it: a number, or a list of numbers."""
        if self.columns:
            row = [None] * len(self.columns) if value is None else value
            if not isinstance(row, list | tuple) or len(row) != len(self.columns):
                raise ValueError(
                    f"an observation must have {len(self.columns)} numbers, "
                    f"got {clipped(repr(value), 60)}"
                )
            return [read_number(1, read_value(1, part)) for part in row]
        plain = read_value(1, value)
        if plain is None:
            return math.nan
        if self.kind == "symbols" and self.above is None:
            if symbol_label(plain) not in self.labels:
                labels = clipped(", ".join(self.labels), 200)
                raise ValueError(f"{clipped(repr(value), 60)} is not one of the symbols {labels}")
            return float(self.labels.index(symbol_label(plain)))
        number = read_number(1, plain)
        if self.above is not None:
            return float(number > self.above)
        if self.kind == "counts":
            check_counts(np.array([number]))
        return number

    def covariates(self, given: Any) -> list[float] | None:
        """Return covariates, a list or a mapping of their names, as numbers; None without any."""
        if not self.given:
            if given is not None:
                raise ValueError("given is for regimes with covariates, and these have none")
            return None
        names = ", ".join(self.given)
        if isinstance(given, Mapping):
            if set(given) != set(self.given):
                raise ValueError(f"given must have the covariates {clipped(names, 200)}")
            given = [given[name] for name in self.given]
        if not isinstance(given, list | tuple) or len(given) != len(self.given):
            raise ValueError(f"given must hold the covariates {clipped(names, 200)}")
        return [read_number(1, read_value(1, part)) for part in given]

    def to_plain(self) -> dict[str, Any]:
        """Return the encoding as plain JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the encoding that `to_plain` wrote; refuse anything else."""
        kind, above = plain["kind"], plain["above"]
        words = plain["labels"], plain["columns"], plain.get("given", [])
        lists = all(isinstance(part, list) and all(isinstance(w, str) for w in part)
                    for part in words)  # fmt: skip
        if kind not in KINDS or not lists or not isinstance(above, float | None):
            raise ValueError("the code of observations is damaged")
        return cls(kind, tuple(words[0]), above, tuple(words[1]), tuple(words[2]))


def read_value(row: int, value: Any) -> Any:
    """Return a value, None where it is missing; refuse anything but words and numbers."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return None
    if type(value).__name__ in MISSING:
        return None
    if not isinstance(value, WORDS + NUMBERS):
        raise ValueError(f"values must be words or numbers, got {str(value)[:60]} in row {row}")
    if not isinstance(value, WORDS) and not -inputs.LARGEST <= value <= inputs.LARGEST:
        raise ValueError(f"numbers must be within ±1e100, got {str(value)[:60]} in row {row}")
    return value


def read_number(row: int, value: Any) -> float:
    """Return a value as a number, NaN where it is missing; refuse words."""
    if value is None:
        return math.nan
    if isinstance(value, WORDS):
        raise ValueError(f"values must be numbers, got {clipped(repr(value), 60)} in row {row}")
    return float(value)


def read_numbers(values: Iterable[Any]) -> Floats:
    """Return values as numbers, NaN where missing; refuse words."""
    numbers = [read_number(row, value) for row, value in enumerate(values, start=1)]
    return np.array(numbers, dtype=float)


def check_counts(numbers: Floats) -> None:
    """Refuse numbers that are not counts, or too large."""
    known = numbers[~np.isnan(numbers)]
    wrong = (known < 0.0) | (known != np.floor(known))
    if wrong.any():
        raise ValueError(f"counts must be whole numbers from 0 on, got {known[wrong][0]:g}")
    if (known > LARGEST_COUNT).any():
        raise ValueError(
            f"counts must be at most {LARGEST_COUNT:,}, got {known.max():g}: larger ones are "
            "better taken as numbers"
        )


def symbol_label(value: Any) -> str:
    """Return the name of a symbol; whole numbers have no decimals."""
    whole = not isinstance(value, WORDS) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
