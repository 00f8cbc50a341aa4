"""How observations become the numbers that models learn."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.latent.regimes import _values

FULL = 10
"""The largest number of columns with full covariances; with more, states have variances only."""

KINDS = {
    "numbers": "gaussian",
    "autoregressive": "autoregressive",
    "counts": "poisson",
    "symbols": "categorical",
}
"""The kinds of observations, with the emission for one column."""


@dataclass(frozen=True)
class Code:
    """How observations become numbers."""

    kind: str  # one of `KINDS`
    labels: tuple[str, ...] = ()  # the names of the symbols
    above: float | None = None  # the limit that turns numbers into two symbols; None without one
    columns: tuple[str, ...] = ()  # the names of several columns; empty for a single one

    @property
    def emission(self) -> str:
        """The family of emissions for `Regimes`."""
        if self.columns:
            return "full" if len(self.columns) <= FULL else "diagonal"
        return KINDS[self.kind]

    def number(self, value: Any) -> Any:
        """Return an observation as `Regimes.observe` takes it: a number, or a list of numbers."""
        if self.columns:
            given = [None] * len(self.columns) if value is None else value
            if not isinstance(given, list | tuple) or len(given) != len(self.columns):
                shown = clipped(repr(value), 60)
                raise ValueError(
                    f"an observation must have {len(self.columns)} numbers, got {shown}"
                )
            return [_values.number(1, _values.plain(1, part)) for part in given]
        plain = _values.plain(1, value)
        if plain is None:
            return math.nan
        if self.above is not None:
            return float(_values.number(1, plain) > self.above)
        if self.kind != "symbols":
            number = _values.number(1, plain)
            if self.kind == "counts":
                _values.refuse_fractions(np.array([number]))
            return number
        if _values.label(plain) not in self.labels:
            known = clipped(", ".join(self.labels), 200)
            raise ValueError(f"{clipped(repr(value), 60)} is not one of the symbols {known}")
        return float(self.labels.index(_values.label(plain)))

    def to_plain(self) -> dict[str, Any]:
        """Return the code as plain JSON."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "above": self.above,
            "columns": list(self.columns),
        }

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """Return the code that `to_plain` wrote; refuse anything else."""
        kind, above = given["kind"], given["above"]
        words = given["labels"], given["columns"]
        lists = all(isinstance(part, list) and all(isinstance(w, str) for w in part)
                    for part in words)  # fmt: skip
        if kind not in KINDS or not lists or not isinstance(above, float | None):
            raise ValueError("the code of observations is damaged")
        return cls(kind, tuple(words[0]), above, tuple(words[1]))
