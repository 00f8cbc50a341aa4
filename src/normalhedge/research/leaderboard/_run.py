"""Run the contests of the leaderboard; finished runs are saved, and not played again."""

import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, listener
from normalhedge.boundary.threads import cores, on_one_core
from normalhedge.hedgers import HEDGERS
from normalhedge.research._away import done_by, same_code
from normalhedge.research._cells import Arrays, Cells
from normalhedge.research._fingerprint import PAPER, fingerprint
from normalhedge.research.leaderboard._contests import Contest, Entry, PanelContest, Player
from normalhedge.research.leaderboard._standings import PANEL_YARDSTICKS, Leaderboard, Standing
from normalhedge.research.leaderboard._yardsticks import ContestSettings

KNOWN_WITHOUT_DELAY = ("ada-hedge-d", "dorm", "dorm-plus")
"""Hedgers that are others of the field where no outcome is late, as in all contests."""

FIELD = (
    *(name for name in HEDGERS if name not in {"hedge-fixed", *KNOWN_WITHOUT_DELAY}),
    "normal-hedge:c=4",
    "normal-hedge-2009:alpha=0",
    "ada-normal-hedge:alpha=0",
    "squint:alpha=0",
    "ada-hedge:alpha=0",
)
"""The default participants: all hedgers without a required setting but those above, which forget at
the rate of the contest; NormalHedge as in the paper; and some hedgers as published, which never
forget."""

WAITING = 1000
"""The largest number of runs that a cluster is asked for at once."""

FIELD_ON_PANELS = (*FIELD, "auto")
"""The default participants if there is a panel, with forecasts to combine."""


def default_natures(settings: ContestSettings) -> tuple[str, ...]:
    """Return the names of the default natures.

    The paper's good and bad experts (with many and with few good ones, and with rarer changes),
    coins with a few biased ones or none, and two adversaries; the last is aimed at each hedger in
    turn. There is always at least one good expert.
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


QUICK = ContestSettings(rounds=1500, runs=3)
"""Short games and few runs, for a first look."""


def compare(
    hedgers: Sequence[Entry] | Mapping[str, Entry],
    contests: Sequence[Contest],
    *,
    folder: Path | None = None,
    jobs: int | None = None,
    progress: Listener = None,
    workers: Executor | None = None,
) -> Leaderboard:
    """Let every hedger take part in every contest.

    The same seed gives the same regrets for any number of jobs. All hedgers meet the same gains;
    only adversaries are aimed at each hedger in turn.

    Parameters
    ----------
    hedgers
        Each entry is a name, as on the command line, or a hedger: one of this package, or any
        object with `init`, `play`, `step` and `run` as `normalhedge.hedgers.Hedger` describes them,
        which several threads may call at once. ``"auto"`` takes part on panels only. The keys of a
        mapping are the names on the leaderboard; in a sequence, the name of a hedger is its
        ``repr``.
    contests
        Games and panels.
    folder
        The folder where finished runs are saved. An interrupted comparison continues there, and
        only a new hedger, contest or run is computed. Runs that another version of the code saved
        are computed again. The runs of your own hedgers are not saved, nor runs on a panel with
        your own loss function: a change of their code would not be noticed. None: nothing is saved.
    jobs
        The number of runs in parallel; none for all cores.
    progress
        A function that is called with the finished share of the work, or a
        `normalhedge.boundary.progress.Progress`.
    workers
        An executor, such as a Dask client has, whose workers play; None for this process.
        Recorded gains must be in files that the workers can read.

    Examples
    --------
    >>> from normalhedge.research.leaderboard import ContestSettings, NatureContest
    >>> from normalhedge.hedgers import NormalHedge
    >>> settings = ContestSettings(experts=4, rounds=100, runs=1)
    >>> game = NatureContest("independent-coins:gamma=1,f=0.5", settings)
    >>> board = compare({"even": "uniform", "short": NormalHedge(memory=10)}, [game])
    >>> board.overall()["hedger"].tolist()
    ['short', 'even']
    """
    entries = _entries(hedgers)
    names = tuple(name for name, _ in entries)
    if not entries or not contests:
        raise ValueError("there must be at least one hedger and one contest")
    for kind, all_names in (("hedger", names), ("contest", [c.name for c in contests])):
        again = [name for k, name in enumerate(all_names) if name in all_names[:k]]
        if again:
            raise ValueError(f"each {kind} must be different: {again[0]} is there twice")
    # An error in a hedger is reported before any of them plays.
    fields = {
        contest: {name: contest.hedger(entry) for name, entry in entries} for contest in contests
    }
    for name in names:
        if all(field[name] is None for field in fields.values()):
            raise ValueError(f"{name} combines forecasts, and takes part on panels only")
    told = listener(progress)
    cells = None if folder is None else Cells(folder, told.say)
    told.total(sum(contest.units * len(names) * contest.runs for contest in contests))
    pieces = [(contest, run) for contest in contests for run in range(contest.runs)]
    threads = min(len(pieces), WAITING) if workers else jobs or cores()
    with ThreadPoolExecutor(threads) as pool, done_by(workers):
        work = {
            pool.submit(_run, contest, run, fields[contest], cells, workers): (contest, run)
            for contest, run in pieces
        }
        scores: dict[tuple[Contest, int], Arrays] = {}
        try:
            for done in as_completed(work):
                contest, run = work[done]
                scores[contest, run] = done.result()
                told.done(contest.units * len(names), contest.name)
        finally:
            pool.shutdown(cancel_futures=True)
    standings = (_standing(contest, fields[contest], scores) for contest in contests)
    return Leaderboard(names, tuple(standings))


def _entries(hedgers: Sequence[Entry] | Mapping[str, Entry]) -> list[tuple[str, Entry]]:
    """Return the participants, each with its name on the leaderboard."""
    if isinstance(hedgers, Mapping):
        return [(str(name), entry) for name, entry in hedgers.items()]
    return [(entry if isinstance(entry, str) else repr(entry), entry) for entry in hedgers]


def _is_custom(hedger: Player) -> bool:
    """Tell whether a hedger is the caller's own: its code is not in the fingerprint."""
    return not type(hedger).__module__.startswith(("normalhedge.hedgers.", "normalhedge.mixtures."))


def _label(name: str, hedger: Player) -> str:
    """Return the name under which the scores of a hedger are saved.

    A name on the command line may mean different settings in another contest; the ``repr`` of a
    hedger of this package has all of its settings.
    """
    return f"own: {name}" if _is_custom(hedger) else repr(hedger)


def _run(
    contest: Contest,
    run: int,
    field: Mapping[str, Player | None],
    cells: Cells | None,
    workers: Executor | None = None,
) -> Arrays:
    """Return the scores of all hedgers in a run; saved scores are not computed again."""
    hedgers = {name: hedger for name, hedger in field.items() if hedger is not None}
    key = contest.key(run)
    if cells is None or key is None:
        return _play(contest, run, hedgers, {}, workers)
    key = {"contest": contest.name, **key}
    # Other settings have other cells, so that a quick run does not replace a long one. The cell of
    # another version of the code is worth nothing and is replaced.
    what = sorted({**key, "code": None, "run": None}.items())
    place = f"{zlib.crc32(repr(what).encode()):08x}-{run}"
    kept = cells.load(place, key) or {}
    scores = _play(contest, run, hedgers, kept, workers)
    custom = {_label(name, hedger) for name, hedger in hedgers.items() if _is_custom(hedger)}
    new = {label: values for label, values in scores.items() if label not in custom}
    if new.keys() != kept.keys():
        cells.save(place, key, new)
    return scores


def _play(
    contest: Contest,
    run: int,
    hedgers: Mapping[str, Player],
    kept: Arrays,
    workers: Executor | None = None,
) -> Arrays:
    """Return the saved scores, and the scores of the hedgers that were missing."""
    labels = {_label(name, hedger): hedger for name, hedger in hedgers.items()}
    missing = {label: hedger for label, hedger in labels.items() if label not in kept}
    scores = dict(kept)
    if missing:
        players = list(missing.values())
        if workers is None:
            played = contest.play(run, players)
        else:
            code = fingerprint("mixtures", "tables", without=(PAPER,))
            played = workers.submit(_play_here, contest, run, players, code).result()
        scores |= dict(zip(missing, played, strict=True))
    if isinstance(contest, PanelContest) and "uniform" not in scores:
        scores |= contest.yardsticks()
    return scores


def _play_here(contest: Contest, run: int, players: list[Player], code: str) -> list[Floats]:
    """Return the scores of some hedgers in a run, as a worker computes them."""
    same_code(code, fingerprint("mixtures", "tables", without=(PAPER,)))
    with on_one_core():
        return contest.play(run, players)


def _standing(
    contest: Contest,
    field: Mapping[str, Player | None],
    scores: Mapping[tuple[Contest, int], Arrays],
) -> Standing:
    played = {
        name: [scores[contest, run][_label(name, player)] for run in range(contest.runs)]
        for name, player in field.items()
        if player is not None
    }
    split = len(contest.scores)
    nothing = np.full((contest.runs, split + 1), np.nan)  # no hedger could take part
    nothing = np.full_like(next(iter(played.values()), nothing), np.nan)
    values = np.array([played.get(name, nothing) for name in field])
    return Standing(
        contest,
        tuple(field),
        values[:, :, :split],
        values[:, :, split:].mean(axis=1),
        {name: float(scores[contest, 0][name]) for name in PANEL_YARDSTICKS}
        if isinstance(contest, PanelContest)
        else {},
    )
