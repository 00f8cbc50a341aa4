"""Who takes part in the leaderboard, in what, and the work: computed once and kept."""

import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from normalhedge import _extras
from normalhedge._threads import cores
from normalhedge.experiments.cells import Cells
from normalhedge.experiments.contests import Contest, Panel, Settings
from normalhedge.experiments.measures import Arrays
from normalhedge.experiments.standings import PANEL_YARDSTICKS, Leaderboard, Standing
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

SLOW = 0.5
"""Seconds; a hedger whose first rounds take longer was compiled, and the next will be."""


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
    >>> from normalhedge.experiments.contests import Game
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
