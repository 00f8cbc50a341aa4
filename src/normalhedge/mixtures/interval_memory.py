"""What a mixture remembers of its intervals: a game of `Conformal` for each item."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from normalhedge import _core
from normalhedge._inputs import Floats
from normalhedge.intervals import Conformal, checked_levels
from normalhedge.mixtures.forecasts import Keys
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.tickets import PendingRound, shaped

SAME = 1e-9
"""The largest difference of two levels that count as one."""


@dataclass(frozen=True, eq=False)
class IntervalMemory:
    """The intervals of a mixture. Its arrays are replaced, never changed.

    Attributes
    ----------
    conformal
        The settings.
    columns
        The columns of a prediction that the intervals are put around: the only one or, with
        quantiles, those of the lower and the upper bound of each level.
    games
        What was learned, a row for each item.
    predicted
        How many rounds of each item were predicted.
    """

    conformal: Conformal
    columns: np.ndarray
    games: Floats
    predicted: np.ndarray

    @classmethod
    def of(cls, loss: Loss, interval: Any, season: int | None) -> "IntervalMemory | None":
        """Return the memory of a mixture without items; None without intervals.

        Parameters
        ----------
        loss
            The loss of the mixture.
        interval
            The shares of outcomes to cover: a number, or several; None for no intervals.
        season
            After how many rounds the spread repeats itself; None if it does not.
        """
        if interval is None:
            if season is not None:
                raise ValueError("season is for intervals: give interval, too, for example 0.9")
            return None
        _refuse(loss)
        conformal = Conformal(checked_levels(interval, "interval"), season, loss.of_levels)
        columns = np.zeros(1, dtype=np.int64)
        if loss.of_levels:
            ends = [end for x in conformal.levels for end in ((1.0 - x) / 2.0, (1.0 + x) / 2.0)]
            columns = np.array([_column(loss.levels, end) for end in ends])
        none = np.empty((0, conformal.sizes[0]))
        return cls(conformal, columns, none, np.zeros(0, dtype=np.int64))

    @property
    def settings(self) -> tuple[tuple[float, ...], int | None]:
        """The levels and the season."""
        return self.conformal.levels, self.conformal.season

    def emptied(self) -> "IntervalMemory":
        """Return the memory without items."""
        return replace(self, games=self.games[:0], predicted=self.predicted[:0])

    def grown(self, count: int) -> "IntervalMemory":
        """Return the memory with so many items more."""
        games = np.concatenate([self.games, self.conformal.init(count)])
        return replace(self, games=games, predicted=np.pad(self.predicted, (0, count)))

    def begun(self, items: np.ndarray) -> "tuple[IntervalMemory, Floats, tuple[Any, ...]]":
        """Prepare a round of some items.

        Returns
        -------
        memory
            The memory after the round was predicted.
        tokens
            Room for what is needed to settle the round: a token for each row, and how many rounds
            of its item were predicted before.
        order
            What the core is told to write the intervals: it begins with the settings and ends with
            room for the bounds, and the tokens.
        """
        predicted = self.predicted.copy()
        predicted[items] += 1
        tokens = np.empty((len(items), self.conformal.sizes[1] + 1))
        tokens[:, -1] = predicted[items] - 1
        bounds = np.empty((len(items), 2 * len(self.conformal.levels)))
        order = (self.conformal.settings, self.games, self.columns, bounds, tokens)
        after = IntervalMemory(self.conformal, self.columns, self.games, predicted)
        return after, tokens, order

    def shaped_bounds(
        self, order: tuple[Any, ...] | None, keys: Keys
    ) -> dict[float, tuple[Any, Any]]:
        """Return the bounds of a round by level, in the form of the forecasts.

        Parameters
        ----------
        order
            What `begun` returned, after the core wrote the bounds.
        keys
            The keys of the rows.
        """
        assert order is not None
        bounds = order[3]
        return {
            level: (
                shaped(bounds[:, 2 * k : 2 * k + 1], keys),
                shaped(bounds[:, 2 * k + 1 : 2 * k + 2], keys),
            )
            for k, level in enumerate(self.conformal.levels)
        }

    def learned(self, one: PendingRound, outcomes: Floats) -> "IntervalMemory":
        """Return the memory after the outcomes of a pending round.

        Parameters
        ----------
        one
            The round.
        outcomes
            The outcome of each row; NaN where it is unknown.
        """
        if one.tokens is None:
            return self
        late = self.predicted[one.items] - 1.0 - one.tokens[:, -1]
        games, items = self.games.copy(), one.items.astype(np.int64)
        _core.conformal_observe(self.conformal.settings, games, items, one.tokens, outcomes, late)
        return IntervalMemory(self.conformal, self.columns, games, self.predicted)

    def covered(self) -> list[tuple[float, float, int]]:
        """Return each level, the share of outcomes covered, and how many were counted."""
        counts = self.conformal.counts(self.games).sum(axis=0)
        return [
            (level, float(1.0 - (below + above) / n) if n else float("nan"), int(n))
            for level, (n, below, above) in zip(self.conformal.levels, counts, strict=True)
        ]


def _refuse(loss: Loss) -> None:
    """Refuse a loss whose forecasts are no numbers that an interval can be put around."""
    what = None
    if loss.of_classes:
        what = "class probabilities"
    elif loss.of_labels:
        what = "labels"
    elif loss.of_wealth:
        what = "portfolios"
    if what is not None:
        raise ValueError(f"interval is for forecasts of numbers, not for {what}: leave it out")
    if len(loss.levels) > 1 and not loss.of_levels:
        levels = "/".join(f"{level:g}" for level in loss.levels)
        raise ValueError(
            f"interval needs quantiles as one forecast: set loss to 'crps:levels={levels}'"
        )


def _column(levels: tuple[float, ...], wanted: float) -> int:
    """Return the place of a level; refuse one that the loss does not have."""
    for place, level in enumerate(levels):
        if abs(level - wanted) < SAME:
            return place
    shown = ", ".join(f"{level:g}" for level in levels[:8]) + ", ..." * (len(levels) > 8)
    raise ValueError(
        f"interval {abs(2.0 * wanted - 1.0):g} needs the quantile of level {wanted:g}, and the "
        f"levels of the loss are {shown}"
    )
