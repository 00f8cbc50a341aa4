"""Play hedgers against a nature; every hedger gets the same gains."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, Progress, listener
from normalhedge.boundary.threads import cores
from normalhedge.hedgers import Hedger
from normalhedge.hedgers.trace import Trace
from normalhedge.research.games._record import Means, Plan, Record
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
    >>> from normalhedge import Hedge, NormalHedge
    >>> from normalhedge.research.games import GoodAndBad, play
    >>> nature = GoodAndBad(experts=100, gamma=0.8, f=0.1, alpha=0.01)
    >>> trace = play([NormalHedge(0.01), Hedge.corrected(0.01, 100)], nature, rounds=1000, runs=4)
    >>> trace.hedgers
    ('NormalHedge(alpha=0.01, c=1.0)', 'Hedge(alpha=0.01, eta=0.30...)')
    >>> trace.regret.mean.shape
    (2, 1000)
    """
    named = _named(hedgers)
    rounds, runs = inputs.count("rounds", rounds), inputs.count("runs", runs)
    every, parts = inputs.count("every", every), inputs.count("parts", parts)
    jobs = cores() if jobs is None else inputs.count("jobs", jobs)
    if every > rounds or parts > rounds:
        raise ValueError(f"every and parts must be at most rounds = {rounds}")
    if quantile is not None:
        quantile = inputs.quantile(quantile)
    plan = Plan(rounds, every, parts, quantile)
    seeds = np.random.SeedSequence(seed).spawn(runs)
    means = Means(len(named), runs, parts)
    weights = None
    stop = Event()
    told = listener(progress)
    told.total(rounds * runs)

    def play_run(run: int) -> Record:
        rng = np.random.default_rng(seeds[run])
        keep = keep_weights and run == 0
        return _one_run(list(named.values()), nature, plan, rng, stop, told, keep_weights=keep)

    for run, record in enumerate(_in_order(play_run, runs, jobs, stop)):
        means.add(run, record)
        weights = record.weights if run == 0 else weights
    return Trace(
        hedgers=tuple(named),
        rounds=plan.recorded,
        runs=runs,
        regret=means.curves("regret"),
        potential=means.curves("potential"),
        gain=means.curves("gain"),
        quantile=quantile,
        quantile_regret=None if quantile is None else means.curves("quantile_regret"),
        highest_regret=means.highest_regret,
        highest_potential=means.highest_potential,
        part_regret=means.part_regret,
        weights=weights,
    )


def _named(
    hedgers: Mapping[str, Hedger[Any]] | Sequence[Hedger[Any]],
) -> Mapping[str, Hedger[Any]]:
    named = hedgers if isinstance(hedgers, Mapping) else {str(hedger): hedger for hedger in hedgers}
    if not named:
        raise ValueError("hedgers must name at least one hedger")
    if len(named) < len(hedgers):
        raise ValueError("hedgers must differ; give equal ones names of their own, in a dict")
    return named


def _one_run(
    hedgers: list[Hedger[Any]],
    nature: Nature,
    plan: Plan,
    rng: np.random.Generator,
    stop: Event,
    progress: Progress,
    *,
    keep_weights: bool,
) -> Record:
    """Play one game. The record grows with the recorded rounds only."""
    recorded, edges = plan.recorded, plan.edges
    shape = (len(hedgers), len(recorded))
    record = Record(
        np.empty(shape),
        np.empty(shape),
        np.empty(shape),
        None if plan.quantile is None else np.empty(shape),
        np.empty((*shape, nature.experts)) if keep_weights else None,
        np.zeros((len(hedgers), plan.parts)),
        np.full(len(hedgers), -math.inf),
        np.full(len(hedgers), -math.inf),
    )
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
            record.regret[h, rows] = run.best_regret[inside]
            record.potential[h, rows] = run.log_potential[inside]
            record.gain[h, rows] = run.gains[inside]
            record.highest_regret[h] = max(record.highest_regret[h], run.best_regret.max())
            # Without a potential it is NaN, and max keeps its first argument.
            highest = max(record.highest_potential[h], run.log_potential.max())
            record.highest_potential[h] = highest
            _add_parts(record.part_regret[h], edges, start, run.best_regret)
            if snapshots and rows.stop > rows.start:
                if record.quantile_regret is not None:
                    record.quantile_regret[h, rows] = run.state.quantile_regret(plan.quantile)
                if record.weights is not None:
                    record.weights[h, rows] = run.state.weights
        progress.done(len(block), "playing")
        start = end
    if start != plan.rounds:
        raise ValueError(f"{nature} gave {start} rounds of gains and not {plan.rounds}")
    return record._replace(part_regret=record.part_regret / np.diff(edges))


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
    play_run: Callable[[int], Record], runs: int, jobs: int, stop: Event
) -> Iterator[Record]:
    """Yield the records of the runs in order; at most ``jobs + 1`` runs are pending at a time."""
    if jobs == 1 or runs == 1:
        yield from map(play_run, range(runs))
        return
    with ThreadPoolExecutor(jobs) as pool:
        todo = iter(range(runs))
        first = islice(todo, jobs + 1)
        pending: list[Future[Record]] = [pool.submit(play_run, run) for run in first]
        try:
            while pending:
                yield pending.pop(0).result()
                pending += [pool.submit(play_run, run) for run in islice(todo, 1)]
        finally:
            stop.set()  # if the caller was interrupted, the running games end at their next block
            for future in pending:
                future.cancel()
