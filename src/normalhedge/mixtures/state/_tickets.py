"""Predictions, and the rounds that wait for their outcomes."""

from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.notebook import html_table
from normalhedge.mixtures.state._forecasts import Keys

MOST_SHOWN = 20
"""The largest number of experts that a notebook shows."""


class Prediction(NamedTuple):
    """The result of `Mixture.predict`.

    Attributes
    ----------
    value
        The blend, in the form of the forecasts; None if no expert is awake.
    ticket
        The number by which `Mixture.update` identifies this round.
    names, distribution, keys
        The experts; the distribution over them, a row for each item; and the keys of the rows.
        `weights` puts the three together.
    intervals
        For each level its lower and its upper bound, both in the form of ``value``; infinite
        before the first outcome. None if the mixture was not asked for intervals.
    """

    value: Any
    ticket: int
    names: list[str]
    distribution: Floats
    keys: Keys
    intervals: dict[float, tuple[Any, Any]] | None = None

    @property
    def interval(self) -> tuple[Any, Any] | None:
        """The bounds of the only level, or of the largest; None without intervals."""
        return None if self.intervals is None else self.intervals[max(self.intervals)]

    def _repr_html_(self) -> str:
        """Return the blend, its intervals and the weights as HTML, for a notebook."""
        keys = [""] if self.keys is None else [str(key) for key in self.keys]
        rows = [("blend", *_cells(self.value, self.keys))]
        for level, bounds in (self.intervals or {}).items():
            ends = zip(*(_cells(bound, self.keys) for bound in bounds), strict=True)
            rows.append((f"{100.0 * level:.10g} % interval", *(f"{a} to {b}" for a, b in ends)))
        named = zip(self.names, self.distribution.T, strict=False)
        for name, weights in sorted(named, key=lambda pair: -pair[1].mean())[:MOST_SHOWN]:
            rows.append((f"weight of {name}", *(f"{weight:.3f}" for weight in weights)))
        more = len(self.names) - MOST_SHOWN
        rest = f"<p>and {more:,} more expert{'s' * (more > 1)}</p>" if more > 0 else ""
        return html_table(["", *keys], rows) + rest

    @property
    def weights(self) -> dict[str, Any]:
        """The weight of each expert: a number, or one for each item."""
        if self.keys is None:  # names may have joined since
            return dict(zip(self.names, self.distribution[0].tolist(), strict=False))
        columns = zip(self.names, self.distribution.T, strict=False)
        return {name: by_key(column, self.keys) for name, column in columns}


class PendingRound(NamedTuple):
    """A round that waits for its outcome."""

    forecasts: Floats  # rows x classes x experts; NaN where an expert sleeps
    confidence: Floats | None  # the confidence of each expert; None if all have confidence 1
    values: Floats  # the predictions of the blend and, for an automatic mixture, of its components
    items: np.ndarray  # the item of each row
    number: int  # the number of rounds that were predicted before it
    keys: Keys  # the keys of the rows
    # The tokens of the intervals, one for each row; the last number is how many rounds of the item
    # were predicted before. None without intervals.
    tokens: Floats | None = None
    id: str | None = None  # the id of the caller, as JSON; None if there is none
    # the cells of the contexts of each row, -1 without one; None without contexts
    cells: np.ndarray | None = None

    @classmethod
    def of(cls, record: Any) -> "PendingRound":
        """Return a round from its `RoundRecord`."""
        fields = {name: getattr(record, name) for name in cls._fields}
        if isinstance(record.keys, tuple):
            fields["keys"] = list(record.keys)
        return cls(**fields)


class SettledRound(NamedTuple):
    """A round and its outcome."""

    round: PendingRound
    outcomes: Floats  # the outcome of each row; NaN where it is unknown
    ticket: int  # the ticket of the round
    rounds: int  # the number of rounds that were predicted when the outcome arrived

    @classmethod
    def of(cls, record: Any, outcomes: Floats, rounds: int) -> "SettledRound":
        """Return a settled round from its `RoundRecord`."""
        return cls(PendingRound.of(record), outcomes, record.ticket, rounds)


def shape_values(values: Floats, keys: Keys) -> Any:
    """Return predictions in the form of the forecasts; None if no expert was awake."""
    cells = values[:, 0] if values.shape[1] == 1 else values
    if keys is not None:
        return by_key(cells, keys)
    if values.shape[1] == 1:
        return None if np.isnan(cells[0]) else float(cells[0])
    return None if np.isnan(cells[0]).any() else cells[0].copy()


def _cells(value: Any, keys: Keys) -> list[str]:
    """Return the numbers of the rows as text; '' without a number."""
    numbers = value.values() if isinstance(value, dict) else [value] if keys is None else value
    return ["" if number is None else _brief(number) for number in numbers]


def _brief(number: Any) -> str:
    return ", ".join(f"{part:.6g}" for part in np.ravel(number).tolist())


def by_key(cells: Floats, keys: Keys) -> Any:
    """Return the numbers of the rows by the keys of the rows."""
    if isinstance(keys, range):
        return cells.copy()
    assert keys is not None
    missing = np.isnan(cells).reshape(len(cells), -1)
    rows = zip(keys, cells.tolist(), np.any(missing, axis=1).tolist(), strict=True)
    return {key: None if empty else cell for key, cell, empty in rows}
