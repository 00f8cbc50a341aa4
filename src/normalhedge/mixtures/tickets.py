"""Predictions, and the rounds that wait for their outcomes."""

from typing import Any, NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures.forecasts import Keys


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

    @property
    def weights(self) -> dict[str, Any]:
        """The weight of each expert: a number, or one for each item."""
        if self.keys is None:  # names may have joined since
            return dict(zip(self.names, self.distribution[0].tolist(), strict=False))
        columns = zip(self.names, self.distribution.T, strict=False)
        return {name: by_key(column, self.keys) for name, column in columns}


class PendingRound(NamedTuple):
    """A round that waits for its outcome.

    Attributes
    ----------
    forecasts
        Rows x classes x experts; NaN where an expert sleeps.
    confidence
        The confidence of each expert; None if all have confidence 1.
    values
        The predictions of the blend and, for an automatic mixture, of its components.
    items
        The item of each row.
    number
        The number of rounds that were predicted before it.
    keys
        The keys of the rows.
    tokens
        What is needed to settle the intervals, a row for each row: see
        `normalhedge.mixtures.interval_memory`. None without intervals.
    """

    forecasts: Floats
    confidence: Floats | None
    values: Floats
    items: np.ndarray
    number: int
    keys: Keys
    tokens: Floats | None = None

    def only(self, places: np.ndarray) -> "PendingRound":
        """Return the round with the experts at these places only, which are in order."""
        own = places[: np.searchsorted(places, self.forecasts.shape[2])]
        confidence = None if self.confidence is None else self.confidence[own]
        return self._replace(forecasts=self.forecasts.take(own, axis=2), confidence=confidence)


class DeferredOutcome(NamedTuple):
    """The outcomes of a pending round of a table, and the time from which they may be used.

    Attributes
    ----------
    game
        The game of the round.
    due
        The number of further rounds of the game to predict before the outcomes may be used.
    known
        With a cutoff, the times at which the outcomes of the rows are known; otherwise empty.
    time
        The time of the round; None without a column of times.
    outcomes
        The outcomes of the table; NaN where it has none.
    since
        The number of rounds of the game that were predicted after it.
    """

    game: int
    due: int
    known: list[Any]
    time: Any
    outcomes: Floats
    since: int = 0


class LastTable(NamedTuple):
    """The last table of a mixture: see `normalhedge.tables.reruns`.

    Attributes
    ----------
    before
        The books of the mixture before the table; None if the mixture was new.
    until
        The last time of each item whose outcome was known.
    digest
        A digest of the rows with known outcomes.
    mark
        The number of rounds, the next ticket and the number of pending rounds after the table.
    """

    before: Any
    until: dict[str, Any]
    digest: str
    mark: tuple[int, int, int]


def shaped(values: Floats, keys: Keys) -> Any:
    """Return predictions in the form of the forecasts; None if no expert was awake.

    Parameters
    ----------
    values
        The predictions; rows x classes.
    keys
        The keys of the rows.
    """
    cells = values[:, 0] if values.shape[1] == 1 else values
    if keys is not None:
        return by_key(cells, keys)
    if values.shape[1] == 1:
        return None if np.isnan(cells[0]) else float(cells[0])
    return None if np.isnan(cells[0]).any() else cells[0].copy()


def by_key(cells: Floats, keys: Keys) -> Any:
    """Return the numbers of the rows by the keys of the rows.

    Parameters
    ----------
    cells
        For each row a number, or a number for each class.
    keys
        The keys of the rows: names, or a range, for which an array is returned.
    """
    if isinstance(keys, range):
        return cells.copy()
    assert keys is not None
    return {
        key: None if np.isnan(cell).any() else cell.tolist()
        for key, cell in zip(keys, cells, strict=True)
    }
