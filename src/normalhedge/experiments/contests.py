"""Contests: a nature, or a panel of forecasts, in which all hedgers are measured alike.

The best fixed convex combination of gains is the best expert. Of forecasts it is not, so that a
panel has it as a yardstick of its own.
"""

import inspect
import math
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _names, _tables
from normalhedge._inputs import Floats
from normalhedge.experiments.fingerprint import fingerprint
from normalhedge.experiments.measures import Arrays
from normalhedge.experiments.yardsticks import (
    GAME_SCORES,
    LARGEST,
    Settings,
    Yardsticks,
    curve_rounds,
)
from normalhedge.games import NATURES, BreakAway, Changing, Nature, Replay
from normalhedge.hedgers import Hedger, NormalHedge, named
from normalhedge.mixtures import _sums
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.recipe import MEMORY, SINGLE, automatic_of, is_automatic
from normalhedge.tables import blend, hindsight

PANEL_SCORES = ("loss", "late", "worst", "seconds")
"""What is measured of a hedger on a panel: its mean loss, that in the second half of the time, its
worst regret in its own account, at its own rate of discount (not discounted where it keeps no
account; NaN of auto, which has none to experts), and the time of a row."""

BRIEF = 0.2
"""Seconds; what takes less is timed again."""

MOST = 100_000
"""How many runs a game may have."""

Player = Hedger[Any] | Automatic
"""Who plays: a hedger or, on panels, what hedges over ways of combining."""

Entry = str | Player
"""Who takes part: a name on the command line, or who plays."""


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

    def _nature(self, target: Hedger[Any]) -> Nature:
        alpha, experts = self.settings.alpha, self.settings.experts
        return _names.make(
            "nature", self.name, NATURES, target=target, alpha=alpha, experts=experts
        )

    def hedger(self, entry: Entry) -> Hedger[Any] | None:
        """Return the hedger; what has a name is set up for this game.

        None for an automatic mixture: it combines forecasts, and a game has none.
        """
        found = _hedger(entry, self.experts, self.settings.alpha)
        return None if isinstance(found, Automatic) else found

    def key(self, run: int) -> dict[str, object]:
        """Return everything that the numbers of a run depend on, but for the hedgers."""
        key = {"code": fingerprint(), **asdict(self.settings), "run": run}
        del key["runs"]  # more of them can be added
        if self.file is not None:
            key["file"] = _print_of(self.file)
        return key

    def play(self, run: int, hedgers: Sequence[Player]) -> list[Floats]:
        """Return the scores and the curve of each hedger, one after the other, in a run."""
        found: list[Floats] = []
        yardsticks = None
        for hedger in hedgers:
            assert not isinstance(hedger, Automatic)
            if self.aimed or yardsticks is None:
                try:
                    nature = self._nature(hedger)
                except TypeError:  # the adversary cannot be aimed at this one
                    points = len(curve_rounds(self.rounds))
                    found.append(np.full(len(self.scores) + points, math.nan))
                    continue
                yardsticks = self._yardsticks(run, nature)
            found.append(yardsticks.score(hedger, timed=not self.aimed))
        return found

    def _yardsticks(self, run: int, nature: Nature) -> "Yardsticks":
        rng = np.random.default_rng([self.settings.seed, zlib.crc32(self.name.encode()), run])
        gains = np.concatenate(list(nature.gains(self.rounds, rng))).astype(np.float64)
        gains.setflags(write=False)  # nobody can spoil what the next one meets
        changes = nature.switches(self.rounds) if isinstance(nature, Changing) else None
        return Yardsticks(gains, self.settings, changes)


class Panel:
    """Hedgers on a table of forecasts and outcomes: any that `blend` accepts.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    columns
        What `blend` is told of it: ``target``, ``by``, ``time``, ``lag`` ...
    options
        What `Mixture` is told: ``loss``, ``combine`` ... Those of a single rule are not for auto.
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
        plainly = NormalHedge(memory=memory)
        first = blend(self._table, **self.columns, **self.options, hedger=plainly)
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

    def hedger(self, entry: Entry) -> Player:
        """Return the hedger; what has a name is set up for this panel."""
        return _hedger(entry, self.experts, 1.0 / self.memory)

    def key(self, run: int) -> dict[str, object] | None:
        """Return everything that the numbers depend on, but for the hedgers.

        None where a loss function of the caller's own is part of that.
        """
        del run
        if self._first.mixture.recipe.loss.kind is None:
            return None
        return {
            "code": fingerprint("mixtures"),
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

    def play(self, run: int, hedgers: Sequence[Player]) -> list[Floats]:
        """Return the scores and the curve of each hedger: how far it is ahead of even weights."""
        del run
        found: list[Floats] = []
        uniform = self._first.totals[:, _sums.UNIFORM]  # auto combines even weights otherwise
        for hedger in hedgers:
            options = {
                name: value
                for name, value in self.options.items()
                if not isinstance(hedger, Automatic) or name not in SINGLE
            }
            times: list[float] = []
            while not times or (len(times) < 3 and times[0] < BRIEF):
                start = time.perf_counter()
                result = blend(self._table, **self.columns, **options, hedger=hedger)
                times.append(time.perf_counter() - start)
            totals = result.totals
            ahead = np.cumsum(uniform - totals[:, _sums.BLEND])
            row = min(times) / len(result.rounds.outcomes)
            losses = _mean_loss(totals), _mean_loss(totals[len(totals) // 2 :])
            worst = math.nan if isinstance(hedger, Automatic) else totals[:, _sums.REGRET].max()
            found.append(np.array([*losses, worst, row, *ahead]))
        return found


Contest = Game | Panel


def _mean_loss(totals: Floats) -> float:
    settled = totals[:, _sums.SETTLED].sum()
    return float(totals[:, _sums.BLEND].sum() / settled) if settled else math.nan


def _hedger(entry: Entry, experts: int, alpha: float) -> Player:
    if isinstance(entry, Automatic):
        return entry
    if is_automatic(entry):
        return automatic_of(str(entry))
    if isinstance(entry, str):
        return named(entry, experts, alpha=alpha)
    if isinstance(entry, type) or not isinstance(entry, Hedger):
        raise TypeError(f"a hedger must be a name, or have init, play, step and run: got {entry!r}")
    return entry


def _print_of(path: Path) -> int:
    """Return a fingerprint of a file, so that another one of the same name is noticed."""
    return zlib.crc32(path.read_bytes())
