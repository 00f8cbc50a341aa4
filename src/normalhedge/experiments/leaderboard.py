"""The leaderboard: hedgers x contests x runs, computed once and kept."""

import math
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats
from normalhedge._threads import cores
from normalhedge.experiments.cells import Cells
from normalhedge.experiments.contests import GAME_SCORES, Contest, Game, Panel, Settings
from normalhedge.experiments.measures import Arrays
from normalhedge.games import Contrary
from normalhedge.hedgers import HEDGERS, named
from normalhedge.mixtures import blend

FIELD = (
    *(name for name in HEDGERS if name != "hedge-fixed"),
    "normal-hedge:c=4",
    "normal-hedge-2009:alpha=0",
    "ada-normal-hedge:alpha=0",
    "squint:alpha=0",
    "ada-hedge:alpha=0",
)
"""Who takes part unless somebody is named: all that need no setting, forgetting at the rate of the
contest; NormalHedge as in the paper; and some as they were published, which never forget."""


def natures_met(settings: Settings) -> tuple[str, ...]:
    """Return what they meet unless something is named.

    The paper's good and bad experts (with many and with few good ones, and with rarer changes),
    coins of which a few are biased, or none, and two adversaries; the last is aimed at each hedger
    in turn. There is always one good expert at least.
    """
    many, few, some = (max(share, 1.0 / settings.experts) for share in (0.1, 0.01, 0.05))
    return (
        f"good-and-bad:gamma=0.4,f={many:g}",
        f"good-and-bad:gamma=0.8,f={few:g}",
        f"good-and-bad:gamma=0.4,f={many:g},alpha={settings.alpha / 10:g}",
        f"independent-coins:gamma=0.2,f={some:g}",
        "independent-coins",
        "break-away",
        "contrary",
    )


QUICK = Settings(rounds=1500, runs=3)

TIED = 2.0
"""Within so many standard errors of the best, run by run on the same gains, one counts as tied."""

SLOW = 0.5
"""Seconds; a hedger whose first rounds take longer was compiled, and the next will be."""


@dataclass(frozen=True, eq=False)
class Standing:
    """How the hedgers did in one contest.

    Attributes
    ----------
    contest
        Where.
    hedgers
        Their names.
    scores
        Hedgers x runs x what the contest measures; NaN where a hedger could not take part.
    curves
        Hedgers x points: the mean over the runs.
    yardsticks
        Of a panel: the mean losses of what could have been.
    """

    contest: Contest
    hedgers: tuple[str, ...]
    scores: Floats
    curves: Floats
    yardsticks: Mapping[str, float]

    def mean(self, score: str) -> Floats:
        """Return the mean of a score over the runs, for each hedger."""
        return np.asarray(self._of(score).mean(axis=1))

    def error(self, score: str) -> Floats:
        """Return its standard error; NaN where there was one run."""
        values = self._of(score)
        runs = values.shape[1]
        if runs < 2:
            return np.full(len(values), math.nan)
        return np.asarray(values.std(axis=1, ddof=1) / math.sqrt(runs))

    def worst(self, score: str) -> Floats:
        """Return the largest of all runs."""
        return np.asarray(self._of(score).max(axis=1))

    def _of(self, score: str) -> Floats:
        return np.asarray(self.scores[:, :, self.contest.scores.index(score)])

    @cached_property
    def ranks(self) -> Floats:
        """The place of each hedger by its first score, 1 for the best; the mean where some tie.

        Those tied with the best share the first places: where nothing can be told apart, as in a
        game of fair coins, nobody is ahead, and nobody who is not tied comes before them.
        """
        values = np.where(self.tied, -math.inf, self.mean(self.contest.scores[0]))
        lower = (values[:, None] > values).sum(axis=1)
        same = (values[:, None] == values).sum(axis=1)
        return np.where(np.isnan(values), math.nan, lower + (same + 1) / 2)

    @cached_property
    def tied(self) -> np.ndarray:
        """Who is the best, or cannot be told from it."""
        values = self._of(self.contest.scores[0])
        means = values.mean(axis=1)
        if np.isnan(means).all():
            return np.zeros(len(means), dtype=bool)
        behind = values - values[np.nanargmin(means)]
        runs = values.shape[1]
        error = behind.std(axis=1, ddof=1) / math.sqrt(runs) if runs > 1 else np.zeros(len(values))
        return np.asarray(behind.mean(axis=1) <= TIED * error + 1e-12)


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Who followed best: a `Standing` for each contest, and all of them together."""

    hedgers: tuple[str, ...]
    standings: tuple[Standing, ...]

    @cached_property
    def games(self) -> list[Standing]:
        """The contests against natures."""
        return [standing for standing in self.standings if isinstance(standing.contest, Game)]

    @cached_property
    def panels(self) -> list[Standing]:
        """The contests on panels."""
        return [standing for standing in self.standings if isinstance(standing.contest, Panel)]

    @cached_property
    def mean_rank(self) -> Floats:
        """The mean place of each hedger over the contests it took part in."""
        return _mean([standing.ranks for standing in self.standings])

    @cached_property
    def order(self) -> np.ndarray:
        """The hedgers from the best mean place to the last."""
        return np.argsort(self.mean_rank, kind="stable")

    def overall(self) -> dict[str, np.ndarray]:
        """Return the leaderboard, best first; regrets are means over the games, or the worst."""
        games, order = self.games, self.order
        columns: dict[str, np.ndarray] = {
            "hedger": np.array(self.hedgers),
            "mean_rank": self.mean_rank,
            "best_or_tied": np.sum([s.tied for s in self.standings], axis=0),
            "contests": np.sum([~np.isnan(s.ranks) for s in self.standings], axis=0),
        }
        if games:
            columns |= {
                "discounted_regret": _mean([s.mean("mean") for s in games]),
                "worst_discounted_regret": np.fmax.reduce([s.worst("worst") for s in games]),
                "ordinary_regret": _mean([s.mean("ordinary") for s in games]),
                "regret_after_switch": _mean([s.mean("after") for s in games]),
                "seconds_per_round": _mean([s.mean("seconds") for s in games]),
            }
        return {name: values[order] for name, values in columns.items()}

    def columns(self) -> dict[str, np.ndarray]:
        """Return everything about the games as a table, a row for each game and hedger."""
        parts: list[dict[str, np.ndarray]] = []
        for standing in self.games:
            contest, count = standing.contest, len(self.hedgers)
            part = {
                "game": np.full(count, contest.name),
                "hedger": np.array(self.hedgers),
                "experts": np.full(count, contest.experts),
                "rounds": np.full(count, contest.rounds),
                "runs": np.full(count, contest.runs),
                "rank": standing.ranks,
                "best_or_tied": standing.tied,
                "discounted_regret_worst": standing.worst("worst"),
            }
            for score, name in GAME_COLUMNS.items():
                part[name] = standing.mean(score)
                part[f"{name}_error"] = standing.error(score)
            parts.append(part)
        return _joined(parts)

    def panel_columns(self) -> dict[str, np.ndarray]:
        """Return everything about the panels as a table: the hedgers, then the yardsticks."""
        parts: list[dict[str, np.ndarray]] = []
        for standing in self.panels:
            names = [*self.hedgers, *(PANEL_YARDSTICKS[name] for name in standing.yardsticks)]
            more = len(names) - len(self.hedgers)
            nothing = np.full(more, math.nan)
            loss = np.append(standing.mean("loss"), list(standing.yardsticks.values()))
            parts.append(
                {
                    "panel": np.full(len(names), standing.contest.name),
                    "hedger": np.array(names),
                    "hindsight": np.array([False] * len(self.hedgers) + [True] * more),
                    "rank": np.append(standing.ranks, nothing),
                    "mean_loss": loss,
                    "relative_to_uniform": loss / (standing.yardsticks["uniform"] or math.nan),
                    "worst_own_regret": np.append(standing.mean("worst"), nothing),
                    "seconds_per_row": np.append(standing.mean("seconds"), nothing),
                }
            )
        return _joined(parts)


GAME_COLUMNS = {
    "mean": "discounted_regret",
    "ordinary": "ordinary_regret",
    "quantile": "quantile_regret",
    "sequence": "sequence_regret",
    "after": "regret_after_switch",
    "seconds": "seconds_per_round",
    "best_expert": "best_expert_gain",
    "best_quantile": "best_quantile_gain",
    "best_sequence": "best_sequence_gain",
}
assert set(GAME_COLUMNS) | {"worst"} == set(GAME_SCORES)

PANEL_YARDSTICKS = {
    "uniform": "uniform weights",
    "expert": "best expert of each series",
    "quantile": "best quantile of experts",
    "convex": "best convex combination",
    "sequence": "best sequence of experts",
}


def compare(
    hedgers: Sequence[str],
    contests: Sequence[Contest],
    *,
    folder: Path | None = None,
    jobs: int | None = None,
    say: Callable[[str], object] = lambda _: None,
    progress: Callable[[float, str], object] = lambda _units, _what: None,
) -> Leaderboard:
    """Let every hedger take part in every contest.

    The same seed gives the same regrets, whatever the number of jobs; all hedgers meet the same
    gains, but for adversaries, which are aimed at each of them in turn.

    Parameters
    ----------
    hedgers
        By name, as on the command line.
    contests
        Games and panels.
    folder
        Where finished runs are kept, and taken from: what was interrupted goes on, and a further
        hedger, contest or run is all that is computed then. None: nothing is kept.
    jobs
        How many runs go in parallel; none for all cores.
    say, progress
        Told what should be known, and after each piece of work its units and what it was.

    Examples
    --------
    >>> game = Game("independent-coins:gamma=1,f=0.5", Settings(experts=4, rounds=100, runs=1))
    >>> board = compare(["uniform", "normal-hedge"], [game])
    >>> board.overall()["hedger"].tolist()
    ['normal-hedge', 'uniform']
    """
    names = tuple(hedgers)
    if not names or not contests:
        raise ValueError("there must be at least one hedger and one contest")
    for kind, given in (("hedger", names), ("contest", [contest.name for contest in contests])):
        again = [name for k, name in enumerate(given) if name in given[:k]]
        if again:
            raise ValueError(f"each {kind} must be different: {again[0]} is there twice")
    for contest in contests:
        for name in names:
            contest.hedger(name)  # what is wrong with a name is said before anything is played
    cells = None if folder is None else Cells(folder, say)
    jobs = jobs or cores()
    _compile(names, contests, jobs, progress)
    with ThreadPoolExecutor(jobs) as pool:
        work = {
            pool.submit(_run, contest, run, names, cells): (contest, run)
            for contest, run in _pieces(contests)
        }
        found: dict[tuple[Contest, int], Arrays] = {}
        try:
            for done in as_completed(work):
                contest, run = work[done]
                found[contest, run] = done.result()
                progress(contest.units * len(names), contest.name)
        finally:
            pool.shutdown(cancel_futures=True)
    return Leaderboard(names, tuple(_standing(contest, names, found) for contest in contests))


def units(hedgers: Sequence[str], contests: Sequence[Contest]) -> float:
    """Return how much work there is, as `compare` tells its progress."""
    return sum(contest.units * len(hedgers) * contest.runs for contest in contests)


def _pieces(contests: Sequence[Contest]) -> Iterator[tuple[Contest, int]]:
    for contest in contests:
        for run in range(contest.runs):
            yield contest, run


def _compile(
    names: Sequence[str],
    contests: Sequence[Contest],
    jobs: int,
    progress: Callable[[float, str], object],
) -> None:
    """Play a few rounds with everybody, so that nobody's time is that of the compiler.

    The compiler uses one core. Where it has much to do, and there may be more, another process
    starts from the other end: what it has finished is found in the cache.
    """
    aimed = any(contest.aimed for contest in contests)
    panel = any(isinstance(contest, Panel) for contest in contests)
    helper = None
    try:
        for k, name in enumerate(names, start=1):
            progress(0.0, f"compiling {name}")
            start = time.perf_counter()
            play_a_few(name, aimed=aimed, panel=panel)
            slow = time.perf_counter() - start > SLOW
            if slow and helper is None and jobs > 1 and len(names) - k > 1:
                helper = _helper(names[:k:-1], aimed=aimed, panel=panel)
    finally:
        if helper is not None:
            helper.terminate()
            helper.wait()


def play_a_few(name: str, *, aimed: bool, panel: bool) -> None:
    """Play a few rounds with a hedger, against an adversary and on a panel, too."""
    hedger = named(name, 4, alpha=0.1)
    hedger.run(np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (3, 4)))
    if aimed:
        next(Contrary(4, hedger).gains(2, np.random.default_rng(0)))
    if panel:
        table = _extras.require("pyarrow").table({"y": [0, 1], "a": [0, 1], "b": [1, 0]})
        blend(table, "y", hedger=hedger)


def _helper(names: Sequence[str], *, aimed: bool, panel: bool) -> "subprocess.Popen[bytes] | None":
    """Return a process that compiles these hedgers; None where there can be none."""
    work = (
        "from normalhedge.experiments.leaderboard import play_a_few\n"
        f"for name in {list(names)!r}: play_a_few(name, aimed={aimed}, panel={panel})"
    )
    nothing = subprocess.DEVNULL
    if not sys.executable:
        return None
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", work], stdin=nothing, stdout=nothing, stderr=nothing
        )
    except OSError:
        return None


def _run(contest: Contest, run: int, names: Sequence[str], cells: Cells | None) -> Arrays:
    """Return what all hedgers did in a run; what is kept is not played again."""
    # A name may mean something else in another version: what a hedger prints as does not.
    labels = {name: repr(contest.hedger(name)) for name in names}
    key = contest.key(run)
    # Other settings have other cells: a quick look does not cost what took long.
    what = f"{contest.name} {sorted({**key, 'run': None}.items())}"
    place = f"{zlib.crc32(what.encode()):08x}-{run}"
    found = dict((cells.load(place, key) if cells else None) or {})
    missing = [name for name in names if labels[name] not in found]
    if missing:
        played = contest.play(run, missing)
        found |= {labels[name]: scores for name, scores in played.items()}
    yardsticks = isinstance(contest, Panel) and "uniform" not in found
    if isinstance(contest, Panel) and yardsticks:
        found |= contest.yardsticks()
    if cells and (missing or yardsticks):
        cells.save(place, key, found)
    return found


def _standing(
    contest: Contest, names: tuple[str, ...], found: Mapping[tuple[Contest, int], Arrays]
) -> Standing:
    labels = [repr(contest.hedger(name)) for name in names]
    values = np.array(
        [[found[contest, run][label] for run in range(contest.runs)] for label in labels]
    )
    split = len(contest.scores)
    return Standing(
        contest,
        names,
        values[:, :, :split],
        values[:, :, split:].mean(axis=1),
        {name: float(found[contest, 0][name]) for name in PANEL_YARDSTICKS}
        if isinstance(contest, Panel)
        else {},
    )


def _mean(rows: Sequence[Floats]) -> Floats:
    """Return the means over rows of what is known; NaN where nothing is."""
    table = np.array(rows)
    known = ~np.isnan(table)
    count = known.sum(axis=0)
    total = np.where(known, table, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


def _joined(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
