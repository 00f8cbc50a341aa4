"""What was there to be earned in a game, and how far a hedger stays behind it.

What a hedger earned is compared with what was there to be earned, whatever the hedger itself keeps
account of. With gains g, the hedger's gain a, and sums over all rounds,

    discounted regret    D_t = max_i sum_(s <= t) (1 - alpha)^(t - s) (g_i,s - a_s)
    ordinary regret      max_i sum_t (g_i,t - a_t)
    to a quantile        the same, to what a share of the experts reaches
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

from normalhedge._inputs import Floats
from normalhedge.games import best_expert, best_quantile, best_sequence, leads
from normalhedge.hedgers import Hedger

GAME_SCORES = (
    "mean", "worst", "ordinary", "quantile", "sequence", "after", "seconds", "best_expert",
    "best_quantile", "best_sequence",
)  # fmt: skip
"""What is measured of a hedger in one run of a game: its regrets, the processor time of a round,
and what the best expert, quantile and sequence earned in a round."""

POINTS = 250
"""About how many points a curve has."""

LARGEST = 1 << 28
"""How many numbers a run may have; and how many bytes the search for the best sequence."""

WARM = 10
"""Rounds that a hedger plays before its time is taken."""


@dataclass(frozen=True)
class Settings:
    """Everything that the numbers of a game depend on, beside its name and the code."""

    alpha: float = 0.01
    experts: int = 100
    rounds: int = 5000
    runs: int = 20
    seed: int = 0
    quantile: float = 0.1
    switches: int = 5


class Yardsticks:
    """What was there to be earned in a game, and how far a hedger stays behind it.

    Parameters
    ----------
    gains
        T x N.
    settings
        The discount rate, the quantile, and how many switches where nothing else is known.
    changes
        The rounds in which the nature changes, if it knows that.
    """

    def __init__(self, gains: Floats, settings: Settings, changes: np.ndarray | None) -> None:
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
        """Return what `GAME_SCORES` names, then the curve of the discounted regret."""
        if timed:
            hedger.run(self.gains[:WARM])
        # Of this thread alone: a short run would else be timed by how long it waits for others.
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
    """Return what follows each change, up to the next one; whole windows only."""
    if changes is None:
        return []
    ends = [*(int(t) for t in changes), rounds]
    return [slice(a, min(a + width, b)) for a, b in pairwise(ends) if b - a >= width or b < rounds]


def curve_rounds(rounds: int) -> np.ndarray:
    """Return the rounds in which a curve has its points; the first round is 1."""
    return np.unique(np.linspace(1, rounds, min(POINTS, rounds)).astype(np.int64))
