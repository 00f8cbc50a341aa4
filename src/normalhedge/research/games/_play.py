"""Play hedgers against a nature; every hedger gets the same gains."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, Progress, listener
from normalhedge.boundary.threads import cores
from normalhedge.hedgers import Hedger
from normalhedge.hedgers.trace import Curves, Trace
from normalhedge.research.games.natures import Nature


def play(
    hedgers: Mapping[str, Hedger[Any]] | Sequence[Hedger[Any]],
    nature: Nature,
    rounds: int,
    runs: int = 1,
    seed: int | Sequence[int] = 0,
    *,
    every: int = 1,
    parts: int = 1,
    quantile: float | None = None,
    keep_weights: bool = False,
    jobs: int | None = None,
    progress: Listener = None,
) -> Trace:
    """Play several games in which every hedger gets the same gains.

    The same seed gives the same numbers for any number of jobs: each run has its own random
    generator, and the runs are summed in their order.

    Parameters
    ----------
    hedgers
        The hedgers by name, or a sequence; its hedgers are named by their ``str``.
    nature
        The source of the gains.
    rounds
        The length of a game.
    runs
        How many games are played.
    seed
        The seed of all randomness.
    every
        The distance between recorded rounds.
    parts
        The number of equal parts of the game for ``part_regret``.
    quantile
        Epsilon in (0, 1], to record the regret to the best epsilon-quantile of experts, which takes
        extra time. None: do not record it.
    keep_weights
        Whether to record the weights of the first run.
    jobs
        How many runs are played in parallel. None: one on each core.
    progress
        A function that is called with the finished share of the work, or a
        `normalhedge.boundary.progress.Progress`; it is called in the threads of the runs.

    Examples
    --------
    >>> from normalhedge import NormalHedge
    >>> from normalhedge.hedgers import Hedge
    >>> from normalhedge.research.games import GoodAndBad, play
    >>> nature = GoodAndBad(experts=100, gamma=0.8, f=0.1, alpha=0.01)
    >>> trace = play([NormalHedge(0.01), Hedge.corrected(0.01, 100)], nature, rounds=1000, runs=4)
    >>> trace.hedgers
    ('NormalHedge(alpha=0.01, c=1.0)', 'Hedge(alpha=0.01, eta=0.30...)')
    >>> trace.regret.mean.shape
    (2, 1000)
    """
    named = _name_hedgers(hedgers)
    rounds, runs = inputs.count("rounds", rounds), inputs.count("runs", runs)
    every, parts = inputs.count("every", every), inputs.count("parts", parts)
    jobs = cores() if jobs is None else inputs.count("jobs", jobs)
    if every > rounds or parts > rounds:
        raise ValueError(f"every and parts must be at most rounds = {rounds}")
    if quantile is not None:
        quantile = inputs.quantile(quantile)
    plan = _Plan(rounds, every, parts, quantile)
    seeds = np.random.SeedSequence(seed).spawn(runs)
    means, part_regret, weights = _Means(), [], None
    highest = np.full((2, len(named)), -math.inf)
    stop = Event()
    told = listener(progress)
    told.total(rounds * runs)

    def play_run(run: int) -> _Record:
        rng = np.random.default_rng(seeds[run])
        keep = keep_weights and run == 0
        return _play_run(list(named.values()), nature, plan, rng, stop, told, keep_weights=keep)

    for run, record in enumerate(_in_order(play_run, runs, jobs, stop)):
        for name, values in record.curves.items():
            means.add(name, values)
        highest = np.maximum(highest, record.highest)
        part_regret.append(record.part_regret)
        weights = record.weights if run == 0 else weights
    curves = means.curves()
    return Trace(
        hedgers=tuple(named),
        rounds=plan.recorded,
        runs=runs,
        regret=curves["regret"],
        potential=curves["potential"],
        gain=curves["gain"],
        quantile=quantile,
        quantile_regret=curves.get("quantile_regret"),
        highest_regret=highest[0],
        highest_potential=highest[1],
        part_regret=np.stack(part_regret, axis=1),
        weights=weights,
    )


def _name_hedgers(
    hedgers: Mapping[str, Hedger[Any]] | Sequence[Hedger[Any]],
) -> Mapping[str, Hedger[Any]]:
    named = hedgers if isinstance(hedgers, Mapping) else {str(hedger): hedger for hedger in hedgers}
    if not named:
        raise ValueError("hedgers must name at least one hedger")
    if len(named) < len(hedgers):
        raise ValueError("hedgers must differ; give equal ones names of their own, in a dict")
    return named


class _Plan(NamedTuple):
    """The length of a game, and the rounds that are recorded."""

    rounds: int
    every: int  # the distance between recorded rounds
    parts: int  # how many equal parts have a mean regret
    quantile: float | None  # the epsilon of the quantile regret; None: it is not recorded

    @property
    def recorded(self) -> np.ndarray:
        """The recorded rounds."""
        return np.arange(self.every, self.rounds + 1, self.every)

    @property
    def edges(self) -> np.ndarray:
        """The rounds at which the parts begin and end."""
        return np.arange(self.parts + 1) * self.rounds // self.parts


class _Record(NamedTuple):
    """The record of one run; the names and shapes are as in `Trace`."""

    curves: dict[str, Floats]  # regret, potential, gain and quantile_regret
    highest: Floats  # the largest regret, and the largest potential, of each hedger
    part_regret: Floats
    weights: Floats | None


class _Means:
    """Means and standard deviations over runs, added up in the order of the runs (Welford)."""

    def __init__(self) -> None:
        self.moments: dict[str, tuple[Floats, Floats, Any]] = {}

    def add(self, name: str, values: Floats) -> None:
        """Add the values of a run."""
        zero = np.zeros_like(values)
        mean, squares, count = self.moments.get(name, (zero, zero, zero))
        finite = ~np.isnan(values)
        count = count + finite
        delta = np.where(finite, values - mean, 0.0)
        mean = mean + delta / np.maximum(count, 1)
        squares = squares + np.where(finite, delta * (values - mean), 0.0)
        self.moments[name] = (mean, squares, count)

    def curves(self) -> dict[str, Curves]:
        """Return the mean and the standard deviation of each quantity."""
        return {
            name: Curves(
                np.where(count > 0, mean, math.nan), np.sqrt(squares / np.maximum(count - 1, 1))
            )
            for name, (mean, squares, count) in self.moments.items()
        }


def _play_run(
    hedgers: list[Hedger[Any]],
    nature: Nature,
    plan: _Plan,
    rng: np.random.Generator,
    stop: Event,
    progress: Progress,
    *,
    keep_weights: bool,
) -> _Record:
    """Play one game. The record grows with the recorded rounds only."""
    recorded, edges, count = plan.recorded, plan.edges, len(hedgers)
    names = ("regret", "potential", "gain", "quantile_regret")[: 3 if plan.quantile is None else 4]
    curves = {name: np.empty((count, len(recorded))) for name in names}
    weights = np.empty((count, len(recorded), nature.experts)) if keep_weights else None
    highest, sums = np.full((2, count), -math.inf), np.zeros((count, plan.parts))
    states = [hedger.init(nature.experts) for hedger in hedgers]
    snapshots = plan.quantile is not None or keep_weights
    start = 0
    for block in _cut(nature.gains(plan.rounds, rng), recorded if snapshots else recorded[:0]):
        if stop.is_set():
            raise InterruptedError("stopped")
        end = start + len(block)
        if end > plan.rounds:
            raise ValueError(f"{nature} gave more than {plan.rounds} rounds of gains")
        rows = slice(start // plan.every, end // plan.every)
        inside = recorded[rows] - 1 - start
        for h, hedger in enumerate(hedgers):
            run = hedger.run(block, state=states[h])
            states[h] = run.state
            curves["regret"][h, rows] = run.best_regret[inside]
            curves["potential"][h, rows] = run.log_potential[inside]
            curves["gain"][h, rows] = run.gains[inside]
            # Without a potential it is NaN, which fmax ignores.
            largest = run.best_regret.max(), run.log_potential.max()
            highest[:, h] = np.fmax(highest[:, h], largest)
            _add_parts(sums[h], edges, start, run.best_regret)
            if rows.stop > rows.start:
                if plan.quantile is not None:
                    curves["quantile_regret"][h, rows] = run.state.quantile_regret(plan.quantile)
                if weights is not None:
                    weights[h, rows] = run.state.weights
        progress.done(len(block), "playing")
        start = end
    if start != plan.rounds:
        raise ValueError(f"{nature} gave {start} rounds of gains and not {plan.rounds}")
    return _Record(curves, highest, sums / np.diff(edges), weights)


def _add_parts(sums: Floats, edges: np.ndarray, start: int, values: Floats) -> None:
    """Add the values of consecutive rounds, the first of them ``start``, to the sums of parts."""
    first = int(np.searchsorted(edges, start, side="right")) - 1
    for part in range(first, len(sums)):
        a, b = max(edges[part] - start, 0), edges[part + 1] - start
        sums[part] += values[a:b].sum()
        if b >= len(values):
            return


def _cut(blocks: Iterator[np.ndarray], ends: np.ndarray) -> Iterator[np.ndarray]:
    """Cut blocks of rounds at the rounds whose states are recorded."""
    start = 0
    for block in blocks:
        inside = ends[(ends > start) & (ends < start + len(block))] - start
        yield from np.split(block, inside)
        start += len(block)


def _in_order(
    play_run: Callable[[int], _Record], runs: int, jobs: int, stop: Event
) -> Iterator[_Record]:
    """Yield the records of the runs in order; at most ``jobs + 1`` runs are pending at a time."""
    if jobs == 1 or runs == 1:
        yield from map(play_run, range(runs))
        return
    with ThreadPoolExecutor(jobs) as pool:
        todo = iter(range(runs))
        first = islice(todo, jobs + 1)
        pending: list[Future[_Record]] = [pool.submit(play_run, run) for run in first]
        try:
            while pending:
                yield pending.pop(0).result()
                pending += [pool.submit(play_run, run) for run in islice(todo, 1)]
        finally:
            stop.set()  # if the caller was interrupted, the running games end at their next block
            for future in pending:
                future.cancel()
