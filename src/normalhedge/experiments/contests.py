"""Contests: a nature, or a panel of forecasts, in which all hedgers are measured alike.

What a hedger earned is compared with what was there to be earned, whatever the hedger itself keeps
account of. With gains g, the hedger's gain a, and sums over all rounds,

    discounted regret    D_t = max_i sum_(s <= t) (1 - alpha)^(t - s) (g_i,s - a_s)
    ordinary regret      max_i sum_t (g_i,t - a_t)
    to a quantile        the same, to what a share of the experts reaches
    to a sequence        the same, to the best sequence of experts with as many switches as the
                         nature has
    after a switch       the same, over the 1/alpha rounds after a switch of the nature (or up to
                         the next); the mean over the switches

The best fixed convex combination of gains is the best expert. Of forecasts it is not, so that a
panel has it as a yardstick of its own.
"""

import inspect
import math
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import normalhedge
from normalhedge import _names, _tables
from normalhedge._inputs import Floats
from normalhedge.experiments.measures import Arrays
from normalhedge.games import (
    NATURES,
    BreakAway,
    Changing,
    Nature,
    Replay,
    best_expert,
    best_quantile,
    best_sequence,
    leads,
)
from normalhedge.hedgers import AnyHedger, NormalHedge, named
from normalhedge.mixtures import _sums, blend
from normalhedge.mixtures.hindsight import hindsight
from normalhedge.mixtures.recipe import MEMORY

GAME_SCORES = (
    "mean", "worst", "ordinary", "quantile", "sequence", "after", "seconds", "best_expert",
    "best_quantile", "best_sequence",
)  # fmt: skip
"""What is measured of a hedger in one run of a game: its regrets, the time of a round, and what the
best expert, quantile and sequence earned in a round."""

PANEL_SCORES = ("loss", "worst", "seconds")
"""What is measured of a hedger on a panel: its mean loss, its worst regret in its own account, at
its own rate of discount, and the time of a row."""

POINTS = 250
"""About how many points a curve has."""

BRIEF = 0.2
"""Seconds; what takes less is timed again."""

LARGEST = 1 << 28
"""How many numbers a run may have; and how many bytes the search for the best sequence."""

MOST = 100_000
"""How many runs a game may have."""


@dataclass(frozen=True)
class Settings:
    """Everything that the numbers of a game depend on, beside its name and the version."""

    alpha: float = 0.01
    experts: int = 100
    rounds: int = 5000
    runs: int = 20
    seed: int = 0
    quantile: float = 0.1
    switches: int = 5


class Game:
    """Hedgers against a nature, called by its name.

    Parameters
    ----------
    name
        As on the command line: ``good-and-bad:gamma=0.4,f=0.1``.
    settings
        How much of it. Recorded gains have their own rounds and experts, and what does not depend
        on chance is played once.
    """

    scores = GAME_SCORES

    def __init__(self, name: str, settings: Settings) -> None:
        self.name, self.settings = name, settings
        kind = name.partition(":")[0]
        if kind not in NATURES:
            raise _names.nearest("nature", kind, NATURES)
        self.aimed = "target" in inspect.signature(NATURES[kind]).parameters
        sample = self._nature(NormalHedge(settings.alpha))
        self.experts = sample.experts
        self.file: Path | None = sample.source.path if isinstance(sample, Replay) else None
        self.rounds = (
            min(sample.rounds, settings.rounds) if isinstance(sample, Replay) else settings.rounds
        )
        self.runs = 1 if isinstance(sample, Replay | BreakAway) else settings.runs
        self.units = float(self.rounds * (self.experts + 50))
        if self.rounds < 1:
            raise ValueError(f"{name}: there is no round")
        if self.runs > MOST:
            raise ValueError(f"{self.runs:,} runs are too many")
        if self.rounds * self.experts > LARGEST:
            raise ValueError(f"{self.rounds:,} rounds of {self.experts:,} experts are too many")

    def _nature(self, target: AnyHedger) -> Nature:
        alpha, experts = self.settings.alpha, self.settings.experts
        return _names.make(
            "nature", self.name, NATURES, target=target, alpha=alpha, experts=experts
        )

    def hedger(self, text: str) -> AnyHedger:
        """Return the hedger of that name, set up for this game."""
        return named(text, self.experts, alpha=self.settings.alpha)

    def key(self, run: int) -> dict[str, object]:
        """Return everything that the numbers of a run depend on, but for the hedgers."""
        key = {"version": normalhedge.__version__, **asdict(self.settings), "run": run}
        del key["runs"]  # more of them can be added
        if self.file is not None:
            key["file"] = _print_of(self.file)
        return key

    def play(self, run: int, texts: Sequence[str]) -> Arrays:
        """Return the scores and the curve of each hedger, one after the other, in a run."""
        found: dict[str, np.ndarray] = {}
        yardsticks = None
        for text in texts:
            hedger = self.hedger(text)
            if self.aimed or yardsticks is None:
                try:
                    nature = self._nature(hedger)
                except TypeError:  # the adversary cannot be aimed at this one
                    points = len(curve_rounds(self.rounds))
                    found[text] = np.full(len(self.scores) + points, math.nan)
                    continue
                yardsticks = self._yardsticks(run, nature)
            found[text] = yardsticks.score(hedger, timed=not self.aimed)
        return found

    def _yardsticks(self, run: int, nature: Nature) -> "Yardsticks":
        rng = np.random.default_rng([self.settings.seed, zlib.crc32(self.name.encode()), run])
        gains = np.concatenate(list(nature.gains(self.rounds, rng))).astype(np.float64)
        changes = nature.switches(self.rounds) if isinstance(nature, Changing) else None
        return Yardsticks(gains, self.settings, changes)


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

    def score(self, hedger: AnyHedger, *, timed: bool = True) -> Floats:
        """Return what `GAME_SCORES` names, then the curve of the discounted regret."""
        start = time.perf_counter()
        earned = hedger.run(self.gains).gains
        seconds = (time.perf_counter() - start) / len(earned) if timed else math.nan
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


class Panel:
    """Hedgers on a table of forecasts and outcomes: any that `blend` accepts.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    columns
        What `blend` is told of it: ``target``, ``by``, ``time``, ``lag`` ...
    options
        What `Mixture` is told: ``loss``, ``combine`` ...
    memory
        Of hedgers that forget, in rounds.
    quantile, switches
        Of the yardsticks in hindsight.
    """

    scores = PANEL_SCORES
    aimed = False
    runs = 1

    def __init__(
        self,
        path: Path,
        columns: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        memory: float = MEMORY,
        quantile: float = 0.1,
        switches: int = 5,
    ) -> None:
        self.path, self.columns, self.options = path, dict(columns), dict(options)
        self.memory, self.quantile, self.switches = memory, quantile, switches
        self.name = path.name
        # Whatever is wrong with the table is said before anything is played.
        first = blend(self._table, **self.columns, **self.options)
        if not first.totals[:, _sums.SETTLED].any():
            raise ValueError(f"{path}: no row has an outcome and a forecast")
        self.experts = len(first.mixture.names)
        self.rounds = first.mixture.rounds
        self.loss = str(first.mixture.recipe.loss)
        self.said = first.said
        self.units = float(first.rounds.forecasts.size + 50 * len(first.rounds.outcomes))
        self._first = first

    @cached_property
    def _table(self) -> Any:
        return _tables.read_arrow(self.path)

    def hedger(self, text: str) -> AnyHedger:
        """Return the hedger of that name, set up for this panel."""
        return named(text, self.experts, alpha=1.0 / self.memory)

    def key(self, run: int) -> dict[str, object]:
        """Return everything that the numbers depend on, but for the hedgers."""
        del run
        return {
            "version": normalhedge.__version__,
            "file": _print_of(self.path),
            "columns": repr(sorted(self.columns.items())),
            "options": repr(sorted(self.options.items())),
            "memory": self.memory,
            "quantile": self.quantile,
            "switches": self.switches,
        }

    def yardsticks(self) -> Arrays:
        """Return the mean losses of what could have been; see `hindsight`."""
        sums = self._first.totals.sum(axis=0)
        found = hindsight(self._first, self.quantile, self.switches)._asdict()
        found["uniform"] = sums[_sums.UNIFORM] / sums[_sums.SETTLED]
        return {name: np.array(value) for name, value in found.items()}

    def play(self, run: int, texts: Sequence[str]) -> Arrays:
        """Return the scores and the curve of each hedger: how far it is ahead of even weights."""
        del run
        found: dict[str, np.ndarray] = {}
        for text in texts:
            times: list[float] = []
            while not times or (len(times) < 3 and times[0] < BRIEF):
                start = time.perf_counter()
                result = blend(
                    self._table, **self.columns, **self.options, hedger=self.hedger(text)
                )
                times.append(time.perf_counter() - start)
            totals = result.totals
            ahead = np.cumsum(totals[:, _sums.UNIFORM] - totals[:, _sums.BLEND])
            loss = totals[:, _sums.BLEND].sum() / totals[:, _sums.SETTLED].sum()
            row = min(times) / len(result.rounds.outcomes)
            found[text] = np.array([loss, totals[:, _sums.REGRET].max(), row, *ahead])
        return found


Contest = Game | Panel


def _print_of(path: Path) -> int:
    """Return a fingerprint of a file, so that another one of the same name is noticed."""
    return zlib.crc32(path.read_bytes())
