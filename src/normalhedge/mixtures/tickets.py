"""Rounds on their way: what was predicted, and what waits for its outcome."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures.forecasts import Keys


class Prediction(NamedTuple):
    """What `Mixture.predict` returns.

    Attributes
    ----------
    value
        The blend, in the form in which the forecasts were given; none where nobody is awake.
    ticket
        What to call this round by when its outcome is known.
    names, distribution, keys
        The experts; the distribution over them, a row for each thing forecast; and what the rows
        are called. `weights` puts them together.
    """

    value: Any
    ticket: int
    names: list[str]
    distribution: Floats
    keys: Keys

    @property
    def weights(self) -> dict[str, Any]:
        """The weight of each expert: a number, or one for each thing forecast."""
        columns = zip(self.names, self.distribution.T, strict=False)  # names may have joined since
        if self.keys is None:
            return {name: float(column[0]) for name, column in columns}
        return {name: by_key(column, self.keys) for name, column in columns}


class PendingRound(NamedTuple):
    """A round that waits for its outcome.

    Attributes
    ----------
    forecasts, confidence, values
        Rows x classes x experts; of each expert, or none; and what was predicted.
    items
        The item of each row.
    number
        How many rounds were predicted before it.
    keys
        What the rows are called.
    """

    forecasts: Floats
    confidence: Floats | None
    values: Floats
    items: np.ndarray
    number: int
    keys: Keys

    def without(self, places: Sequence[int]) -> "PendingRound":
        """Return the round without the forecasts of the experts at these places."""
        own = [place for place in places if place < self.forecasts.shape[2]]
        confidence = None if self.confidence is None else np.delete(self.confidence, own)
        forecasts = np.ascontiguousarray(np.delete(self.forecasts, own, axis=2))
        return self._replace(forecasts=forecasts, confidence=confidence)


class DeferredOutcome(NamedTuple):
    """When a pending round of a table may be settled, and with what.

    Attributes
    ----------
    game
        Whose round it is.
    due
        How many further rounds of the game must be predicted before its outcomes may be used.
    known
        The times at which the outcomes of its rows are known, instead; empty without a cutoff.
    time
        The time of the round; none without a column of times.
    outcomes
        As far as the table had them; NaN else.
    """

    game: int
    due: int
    known: list[Any]
    time: Any
    outcomes: Floats


def shaped(values: Floats, keys: Keys) -> Any:
    """Return what was predicted in the form of the forecasts; none where nobody was awake."""
    cells = values[:, 0] if values.shape[1] == 1 else values
    if keys is not None:
        return by_key(cells, keys)
    if values.shape[1] == 1:
        return None if np.isnan(cells[0]) else float(cells[0])
    return None if np.isnan(cells[0]).any() else cells[0].copy()


def by_key(cells: Floats, keys: Keys) -> Any:
    """Return a number, or one for each class, of each row, by what it is called."""
    if isinstance(keys, range):
        return cells.copy()
    assert keys is not None
    return {
        key: None if np.isnan(cell).any() else cell.tolist()
        for key, cell in zip(keys, cells, strict=True)
    }
