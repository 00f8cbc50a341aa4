"""Contests: all hedgers meet the same nature, or the same panel of forecasts.

For gains, the best fixed convex combination is the best expert. For forecasts it is not, so it is a
yardstick of its own on a panel.
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

from normalhedge.boundary import specs, table_files
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedger, NormalHedge, named
from normalhedge.mixtures.rules import MEMORY, Automatic, automatic_of, is_automatic
from normalhedge.mixtures.state import SINGLE, sum_rows
from normalhedge.research._cells import Arrays
from normalhedge.research._fingerprint import PAPER, fingerprint
from normalhedge.research.games import (
    NATURES,
    BreakAway,
    Changing,
    Nature,
    Replay,
    check_nature,
)
from normalhedge.research.leaderboard._yardsticks import (
    GAME_SCORES,
    LARGEST,
    ContestSettings,
    Yardsticks,
    curve_rounds,
)
from normalhedge.tables import blend, hindsight

PANEL_SCORES = ("loss", "late", "worst", "seconds")
"""The scores of a hedger on a panel: its mean loss, its mean loss in the second half of the time,
its worst regret in its own account, at its own discount rate (not discounted for a hedger without
an account; NaN for auto, which has no regret to experts), and the time of a row."""

BRIEF = 0.2
"""The time in seconds below which a blend is timed again."""

MOST_RUNS = 100_000
"""The largest number of runs of a game."""

Player = Hedger[Any] | Automatic
"""A hedger or, on panels, an automatic mixture, which hedges over ways of combining."""

Entry = str | Player
"""A participant: a name as on the command line, or a player itself."""


class NatureContest:
    """A contest of hedgers against a nature.

    Parameters
    ----------
    nature
        A name, as on the command line: ``good-and-bad:gamma=0.4,f=0.1``. Or a nature itself: one of
        `normalhedge.research.games`, or any object with ``experts`` and ``gains(rounds, rng)``. Its
        games are not saved, because a change of its code would not be noticed; nor are those of a
        name that you added to `NATURES`.
    settings
        The size of the game. Recorded gains have their own rounds and experts, and a game that
        does not depend on chance is played once.
    """

    scores = GAME_SCORES

    def __init__(self, nature: str | Nature, settings: ContestSettings) -> None:
        self.settings, self._given, self.aimed = settings, nature, False
        self.name = name = nature if isinstance(nature, str) else _name_of(nature)
        if isinstance(nature, str):
            kind, _ = specs.settings_in(nature, NATURES)
            if kind not in NATURES:
                raise specs.nearest("nature", kind, NATURES)
            self.aimed = "target" in inspect.signature(NATURES[kind]).parameters
        sample = self._nature(NormalHedge(settings.alpha))
        ours = type(sample).__module__.startswith("normalhedge.")
        self.kept = isinstance(nature, str) and ours
        self.experts = sample.experts
        self.file: Path | None = None
        self.rounds = settings.rounds
        if isinstance(sample, Replay):
            self.file = getattr(sample.source, "path", None)  # none of an array
            self.rounds = min(sample.rounds, settings.rounds)
        self.runs = 1 if isinstance(sample, Replay | BreakAway) else settings.runs
        self.units = float(self.rounds * (self.experts + 50))
        if self.rounds < 1:
            raise ValueError(f"{name}: there is no round")
        if self.runs > MOST_RUNS:
            raise ValueError(f"{self.runs:,} runs are too many: at most {MOST_RUNS:,} are accepted")
        if self.rounds * self.experts > LARGEST:
            raise ValueError(f"{self.rounds:,} rounds of {self.experts:,} experts are too many")

    def _nature(self, target: Hedger[Any]) -> Nature:
        if not isinstance(self._given, str):
            return check_nature(self._given)
        alpha, experts = self.settings.alpha, self.settings.experts
        made = specs.make("nature", self.name, NATURES, target=target, alpha=alpha, experts=experts)
        return check_nature(made)

    def hedger(self, entry: Entry) -> Hedger[Any] | None:
        """Return the hedger of a participant; a name is set up for this game.

        None for an automatic mixture: it combines forecasts, and a game has none.
        """
        player = _player(entry, self.experts, self.settings.alpha)
        return None if isinstance(player, Automatic) else player

    def key(self, run: int) -> dict[str, object] | None:
        """Return everything that the numbers of a run depend on, except the hedgers.

        None if the nature is the caller's own.
        """
        if not self.kept:
            return None
        key = {"code": fingerprint(without=(PAPER,)), **asdict(self.settings), "run": run}
        del key["runs"]  # more of them can be added
        if self.file is not None:
            key["file"] = _checksum(self.file)
        return key

    def play(self, run: int, hedgers: Sequence[Player]) -> list[Floats]:
        """Return the scores of each hedger in a run, each followed by its curve.

        Parameters
        ----------
        run
            The number of the run; it decides the gains.
        hedgers
            The hedgers that play.
        """
        scores: list[Floats] = []
        yardsticks = None
        for hedger in hedgers:
            assert not isinstance(hedger, Automatic)
            if self.aimed or yardsticks is None:
                try:
                    nature = self._nature(hedger)
                except TypeError:  # the adversary cannot be aimed at this one
                    points = len(curve_rounds(self.rounds))
                    scores.append(np.full(len(self.scores) + points, math.nan))
                    continue
                yardsticks = self._yardsticks(run, nature)
            scores.append(yardsticks.score(hedger, timed=not self.aimed))
        return scores

    def _yardsticks(self, run: int, nature: Nature) -> Yardsticks:
        rng = np.random.default_rng([self.settings.seed, zlib.crc32(self.name.encode()), run])
        gains = np.concatenate(list(nature.gains(self.rounds, rng))).astype(np.float64)
        gains.setflags(write=False)  # no hedger can spoil the gains of the next one
        changes = nature.switches(self.rounds) if isinstance(nature, Changing) else None
        return Yardsticks(gains, self.settings, changes)


class PanelContest:
    """A contest of hedgers on a table of forecasts and outcomes that `blend` accepts.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    columns
        The arguments of `blend` about the table: ``target``, ``by``, ``time``, ``lag`` ...
    options
        The arguments of `Mixture`: ``loss``, ``combine`` ... Arguments of a single rule are not
        passed to auto.
    memory
        The memory of hedgers that forget, in rounds.
    quantile, switches
        The share of experts and the number of switches of the yardsticks in hindsight.
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
        # An error in the table is reported before any hedger plays.
        plain = NormalHedge(memory=memory)
        first = blend(self._table, **self.columns, **self.options, hedger=plain)
        if not first.totals[:, sum_rows.SETTLED].any():
            raise ValueError(f"{path}: no row has an outcome and a forecast")
        self.experts = len(first.mixture.names)
        self.rounds = first.mixture.rounds
        self.loss = str(first.mixture.settings.loss)
        self.notes = first.notes
        self.units = float(first.rounds.forecasts.size + 50 * len(first.rounds.outcomes))
        self._first = first

    @cached_property
    def _table(self) -> Any:
        return table_files.read_arrow(self.path)

    def hedger(self, entry: Entry) -> Player:
        """Return the player of a participant; a name is set up for this panel."""
        return _player(entry, self.experts, 1.0 / self.memory)

    def key(self, run: int) -> dict[str, object] | None:
        """Return everything that the numbers depend on, except the hedgers.

        None if the caller's own loss function takes part: a change of it would not be noticed.
        """
        del run
        if self._first.mixture.settings.loss.own:
            return None
        return {
            "code": fingerprint("mixtures", "tables", without=(PAPER,)),
            "file": _checksum(self.path),
            "columns": repr(sorted(self.columns.items())),
            "options": repr(sorted(self.options.items())),
            "memory": self.memory,
            "quantile": self.quantile,
            "switches": self.switches,
        }

    def yardsticks(self) -> Arrays:
        """Return the mean losses of the best experts and combinations; see `hindsight`."""
        sums = self._first.totals.sum(axis=0)
        losses = hindsight(self._first, self.quantile, self.switches)._asdict()
        losses["uniform"] = sums[sum_rows.UNIFORM] / sums[sum_rows.SETTLED]
        return {name: np.array(value) for name, value in losses.items()}

    def play(self, run: int, hedgers: Sequence[Player]) -> list[Floats]:
        """Return the scores of each hedger, each followed by its lead over even weights.

        Parameters
        ----------
        run
            Ignored: a panel has one run.
        hedgers
            The hedgers that play.
        """
        del run
        scores: list[Floats] = []
        uniform = self._first.totals[:, sum_rows.UNIFORM]  # auto combines even weights otherwise
        general = {name: value for name, value in self.options.items() if name not in SINGLE}
        for hedger in hedgers:
            options = general if isinstance(hedger, Automatic) else self.options
            times: list[float] = []
            while not times or (len(times) < 3 and times[0] < BRIEF):
                start = time.perf_counter()
                result = blend(self._table, **self.columns, **options, hedger=hedger)
                times.append(time.perf_counter() - start)
            totals = result.totals
            ahead = np.cumsum(uniform - totals[:, sum_rows.BLEND])
            row = min(times) / len(result.rounds.outcomes)
            losses = _mean_loss(totals), _mean_loss(totals[len(totals) // 2 :])
            worst = math.nan if isinstance(hedger, Automatic) else totals[:, sum_rows.REGRET].max()
            scores.append(np.array([*losses, worst, row, *ahead]))
        return scores


Contest = NatureContest | PanelContest


def _mean_loss(totals: Floats) -> float:
    settled = totals[:, sum_rows.SETTLED].sum()
    return float(totals[:, sum_rows.BLEND].sum() / settled) if settled else math.nan


def _player(entry: Entry, experts: int, alpha: float) -> Player:
    if isinstance(entry, Automatic):
        return entry
    if is_automatic(entry):
        return automatic_of(str(entry))
    if isinstance(entry, str):
        entry = named(entry, experts, alpha=alpha)
    if isinstance(entry, type) or not isinstance(entry, Hedger):
        raise TypeError(f"a hedger must be a name, or have init, play, step and run: got {entry!r}")
    return entry


def _name_of(nature: Nature) -> str:
    """Return the text of a nature; the default text of an object has an address, which changes."""
    kind = type(nature)
    return kind.__name__ if kind.__repr__ is object.__repr__ else repr(nature)


def _checksum(path: Path) -> int:
    """Return a checksum of a file, so that another file of the same name is noticed."""
    return zlib.crc32(path.read_bytes())
