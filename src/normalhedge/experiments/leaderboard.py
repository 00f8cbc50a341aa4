"""Who takes part in the leaderboard, in what, and the work: computed once and kept."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from normalhedge._threads import cores
from normalhedge.experiments.cells import Cells
from normalhedge.experiments.contests import Contest, Entry, Panel, Player
from normalhedge.experiments.measures import Arrays
from normalhedge.experiments.standings import PANEL_YARDSTICKS, Leaderboard, Standing
from normalhedge.experiments.yardsticks import Settings
from normalhedge.hedgers import HEDGERS

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

FIELD_ON_PANELS = (*FIELD, "auto")
"""... and where there are forecasts to combine."""


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


def compare(
    hedgers: Sequence[Entry] | Mapping[str, Entry],
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
        Each either a name, as on the command line, or a hedger: one of this package, or any object
        with `init`, `play`, `step` and `run` as `normalhedge.hedgers.Hedger` describes them, which
        several threads may call at once. ``"auto"`` takes part on panels only. A mapping says
        what they are called on the leaderboard; in a sequence a hedger without a name is called by
        its ``repr``.
    contests
        Games and panels.
    folder
        Where finished runs are kept, and taken from: what was interrupted goes on, and a further
        hedger, contest or run is all that is computed then. What was kept by other code of this
        package is computed again. Nothing is kept of hedgers of your own, nor of a panel with a
        loss function of your own: a change of their code would not be noticed. None: nothing is
        kept.
    jobs
        How many runs go in parallel; none for all cores.
    say, progress
        Told what should be known, and after each piece of work its units and what it was.

    Examples
    --------
    >>> from normalhedge.experiments.contests import Game
    >>> from normalhedge.hedgers import NormalHedge
    >>> game = Game("independent-coins:gamma=1,f=0.5", Settings(experts=4, rounds=100, runs=1))
    >>> board = compare({"even": "uniform", "short": NormalHedge(memory=10)}, [game])
    >>> board.overall()["hedger"].tolist()
    ['short', 'even']
    """
    entries = _entries(hedgers)
    names = tuple(name for name, _ in entries)
    if not entries or not contests:
        raise ValueError("there must be at least one hedger and one contest")
    for kind, given in (("hedger", names), ("contest", [contest.name for contest in contests])):
        again = [name for k, name in enumerate(given) if name in given[:k]]
        if again:
            raise ValueError(f"each {kind} must be different: {again[0]} is there twice")
    # What is wrong with a hedger is said before anything is played.
    fields = {
        contest: {name: contest.hedger(entry) for name, entry in entries} for contest in contests
    }
    for name in names:
        if all(field[name] is None for field in fields.values()):
            raise ValueError(f"{name} combines forecasts, and takes part on panels only")
    cells = None if folder is None else Cells(folder, say)
    with ThreadPoolExecutor(jobs or cores()) as pool:
        work = {
            pool.submit(_run, contest, run, fields[contest], cells): (contest, run)
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
    return Leaderboard(
        names, tuple(_standing(contest, fields[contest], found) for contest in contests)
    )


def units(hedgers: Sequence[Entry] | Mapping[str, Entry], contests: Sequence[Contest]) -> float:
    """Return how much work there is, as `compare` tells its progress."""
    return sum(contest.units * len(hedgers) * contest.runs for contest in contests)


def _entries(hedgers: Sequence[Entry] | Mapping[str, Entry]) -> list[tuple[str, Entry]]:
    """Return who takes part, each with its name on the leaderboard."""
    if isinstance(hedgers, Mapping):
        return [(str(name), entry) for name, entry in hedgers.items()]
    return [(entry if isinstance(entry, str) else repr(entry), entry) for entry in hedgers]


def _pieces(contests: Sequence[Contest]) -> Iterator[tuple[Contest, int]]:
    for contest in contests:
        for run in range(contest.runs):
            yield contest, run


def _own(hedger: Player) -> bool:
    """Tell whether a hedger is the caller's own: its code is not in the fingerprint."""
    return not type(hedger).__module__.startswith(("normalhedge.hedgers.", "normalhedge.mixtures."))


def _label(name: str, hedger: Player) -> str:
    """Return what the scores of a hedger are found by.

    A name may mean something else in another contest, or another time: what a hedger of this
    package prints as does not.
    """
    return f"own: {name}" if _own(hedger) else repr(hedger)


def _run(
    contest: Contest, run: int, field: Mapping[str, Player | None], cells: Cells | None
) -> Arrays:
    """Return what all hedgers did in a run; what is kept is not played again."""
    hedgers = {name: hedger for name, hedger in field.items() if hedger is not None}
    key = contest.key(run)
    if cells is None or key is None:
        return _play(contest, run, hedgers, {})
    key = {"contest": contest.name, **key}
    # Other settings have other cells: a quick look does not cost what took long. Those of other
    # code are worth nothing, and are written over.
    what = sorted({**key, "code": None, "run": None}.items())
    place = f"{zlib.crc32(repr(what).encode()):08x}-{run}"
    kept = cells.load(place, key) or {}
    found = _play(contest, run, hedgers, kept)
    own = {_label(name, hedger) for name, hedger in hedgers.items() if _own(hedger)}
    new = {label: scores for label, scores in found.items() if label not in own}
    if new.keys() != kept.keys():
        cells.save(place, key, new)
    return found


def _play(contest: Contest, run: int, hedgers: Mapping[str, Player], kept: Arrays) -> Arrays:
    """Return what is kept, and beside it what is missing."""
    labels = {_label(name, hedger): hedger for name, hedger in hedgers.items()}
    missing = {label: hedger for label, hedger in labels.items() if label not in kept}
    found = dict(kept)
    if missing:
        scores = contest.play(run, list(missing.values()))
        found |= dict(zip(missing, scores, strict=True))
    if isinstance(contest, Panel) and "uniform" not in found:
        found |= contest.yardsticks()
    return found


def _standing(
    contest: Contest,
    field: Mapping[str, Player | None],
    found: Mapping[tuple[Contest, int], Arrays],
) -> Standing:
    labels = {name: _label(name, one) for name, one in field.items() if one is not None}
    played = {
        name: [found[contest, run][label] for run in range(contest.runs)]
        for name, label in labels.items()
    }
    split = len(contest.scores)
    nothing = np.full((contest.runs, split + 1), np.nan)  # where nobody could take part
    nothing = np.full_like(next(iter(played.values()), nothing), np.nan)
    values = np.array([played.get(name, nothing) for name in field])
    return Standing(
        contest,
        tuple(field),
        values[:, :, :split],
        values[:, :, split:].mean(axis=1),
        {name: float(found[contest, 0][name]) for name in PANEL_YARDSTICKS}
        if isinstance(contest, Panel)
        else {},
    )
