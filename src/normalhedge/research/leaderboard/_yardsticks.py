"""The yardsticks of a game: the gains of the best experts, and the regret of a hedger to them.

The regret of a hedger is computed from its gains alone; the hedger's own account plays no part.
With gains g of the experts, the gain a of the hedger, and sums over all rounds,

    discounted regret    D_t = max_i sum_(s <= t) (1 - alpha)^(t - s) (g_i,s - a_s)
    ordinary regret      max_i sum_t (g_i,t - a_t)
    to a quantile        the same, to the total gain that a share of the experts reaches
    to a sequence        the same, to the best sequence of experts with as many switches as the
                         nature has
    after a switch       the same, over the 1/alpha rounds after a switch of the nature (or up to
                         the next); the mean over the switches
"""

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedger
from normalhedge.research.games import best_expert, best_quantile, best_sequence, leads

GAME_SCORES = (
    "mean", "worst", "ordinary", "quantile", "sequence", "after", "seconds", "best_expert",
    "best_quantile", "best_sequence",
)  # fmt: skip
"""The scores of a hedger in one run of a game: its regrets, the processor time of a round, and the
gain a round of the best expert, quantile and sequence."""

POINTS = 250
"""The approximate number of points of a curve."""

LARGEST = 1 << 28
"""The largest number of gains in a run; and of bytes in the search for the best sequence."""

WARM_UP = 10
"""The number of rounds that a hedger plays before its time is taken."""


@dataclass(frozen=True)
class ContestSettings:
    """Everything that the numbers of a game depend on, beside its name and the code.

    Attributes
    ----------
    alpha
        The discount rate.
    experts, rounds, runs
        The size of a game, and how often it is played.
    seed
        The seed of all gains.
    quantile
        The share of experts that the quantile regret compares with.
    switches
        The number of switches of the best sequence, for natures that do not know their own.
    """

    alpha: float = 0.01
    experts: int = 100
    rounds: int = 5000
    runs: int = 20
    seed: int = 0
    quantile: float = 0.1
    switches: int = 5


class Yardsticks:
    """The best gains of a game in hindsight, and the regret of a hedger to them."""

    def __init__(
        self, gains: Floats, settings: ContestSettings, changes: np.ndarray | None
    ) -> None:
        rounds, n = gains.shape
        self.gains, self.alpha = gains, settings.alpha
        self.leads = leads(gains, settings.alpha)
        switches = settings.switches if changes is None else len(changes)
        self.totals = np.array(
            [
                best_expert(gains).gain,
                best_quantile(gains, settings.quantile),
                best_sequence(gains, switches).gain
                if rounds * n * (switches + 1) <= LARGEST
                else math.nan,
            ]
        )
        self.windows = _windows(changes, rounds, round(1.0 / settings.alpha))
        self.window_totals = [gains[window].sum(axis=0).max() for window in self.windows]

    def score(self, hedger: Hedger[Any], *, timed: bool = True) -> Floats:
        """Return the scores of `GAME_SCORES`, followed by the curve of the discounted regret."""
        if timed:
            hedger.run(self.gains[:WARM_UP])
        # The time of this thread alone: waiting for other threads must not count.
        start = time.thread_time()
        earned = np.asarray(hedger.run(self.gains).gains, dtype=np.float64)
        seconds = (time.thread_time() - start) / len(self.gains) if timed else math.nan
        if earned.shape != self.gains.shape[:1]:
            raise ValueError(
                f"{hedger!r} must return a gain for each of {len(self.gains)} rounds, got an array "
                f"of shape {earned.shape}"
            )
        discounted = self.leads - leads(earned[:, np.newaxis], self.alpha)
        after = [
            total - earned[window].sum()
            for total, window in zip(self.window_totals, self.windows, strict=True)
        ]
        return np.concatenate(
            [
                [discounted.mean(), discounted.max()],
                self.totals - earned.sum(),
                [np.mean(after) if after else math.nan, seconds],
                self.totals / len(earned),
                discounted[curve_rounds(len(earned)) - 1],
            ]
        )


def _windows(changes: np.ndarray | None, rounds: int, width: int) -> list[slice]:
    """Return the rounds after each change, up to the next change; complete windows only."""
    if changes is None:
        return []
    ends = [*(int(t) for t in changes), rounds]
    return [slice(a, min(a + width, b)) for a, b in pairwise(ends) if b - a >= width or b < rounds]


def curve_rounds(rounds: int) -> np.ndarray:
    """Return the rounds in which a curve has its points; the first round is 1."""
    return np.unique(np.linspace(1, rounds, min(POINTS, rounds)).astype(np.int64))
