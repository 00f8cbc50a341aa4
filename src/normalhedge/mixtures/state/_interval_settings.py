"""How a mixture makes intervals: a game of `Conformal` for each item."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.intervals import Conformal, checked_levels
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state._forecasts import Keys
from normalhedge.mixtures.state._tickets import shape_values

SAME = 1e-9
"""The largest difference of two levels that count as one."""


@dataclass(frozen=True, eq=False)
class IntervalSettings:
    """The settings of the intervals of a mixture."""

    conformal: Conformal  # the levels and the season
    # the columns of a prediction that the intervals are put around: the only one or, with
    # quantiles, the columns of the lower and the upper bound of each level
    columns: np.ndarray

    @classmethod
    def of(cls, loss: Loss, interval: Any, season: int | None) -> "IntervalSettings | None":
        """Check the settings; return None without intervals."""
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
        return cls(conformal, columns)

    @property
    def settings(self) -> tuple[tuple[float, ...], int | None]:
        """The levels and the season."""
        return self.conformal.levels, self.conformal.season

    def shaped_bounds(self, bounds: Floats, keys: Keys) -> dict[float, tuple[Any, Any]]:
        """Return the bounds of a round by level, in the form of the forecasts."""
        return {
            level: (
                shape_values(bounds[:, 2 * k : 2 * k + 1], keys),
                shape_values(bounds[:, 2 * k + 1 : 2 * k + 2], keys),
            )
            for k, level in enumerate(self.conformal.levels)
        }

    def covered(self, games: Floats) -> list[tuple[float, float, int]]:
        """Return each level, the share of outcomes covered, and how many were counted."""
        counts = self.conformal.counts(games).sum(axis=0)
        return [
            (level, float(1.0 - (below + above) / n) if n else float("nan"), int(n))
            for level, (n, below, above) in zip(self.conformal.levels, counts, strict=True)
        ]


def _refuse(loss: Loss) -> None:
    """Refuse a loss whose forecasts are no numbers that an interval can be put around."""
    loss.forecasts.check_interval()
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
