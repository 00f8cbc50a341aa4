"""Hedgers against a nature: every hedger meets the same gains."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._threads import cores
from normalhedge.games.natures import Nature
from normalhedge.hedgers import Hedger


class Curves(NamedTuple):
    """A quantity over the recorded rounds, a row for each hedger.

    Attributes
    ----------
    mean
        The mean over the runs.
    spread
        The standard deviation over the runs; zero where there was one run.
    """

    mean: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in a game.

    Attributes
    ----------
    hedgers
        The names of the hedgers, in the order of all rows below.
    rounds
        The recorded rounds; the first round is 1.
    runs
        How many games were played.
    regret
        The discounted regret to the best expert.
    potential
        The average potential, as its logarithm; NaN for a hedger without one.
    gain
        The hedger's gain in the round; rounds in which everybody slept are left out of the mean.
    quantile
        The epsilon of ``quantile_regret``.
    quantile_regret
        The discounted regret to the best epsilon-quantile of experts; none unless asked for.
    highest_regret, highest_potential
        The largest regret and logarithm of the average potential in any round of any run, recorded
        or not; one number for each hedger, minus infinity where it has no potential.
    part_regret
        The mean regret in equal parts of the game: hedgers x runs x parts.
    weights
        The weights of the first run after each recorded round: hedgers x rounds x experts; none
        unless asked for.
    """

    hedgers: tuple[str, ...]
    rounds: np.ndarray
    runs: int
    regret: Curves
    potential: Curves
    gain: Curves
    quantile: float | None
    quantile_regret: Curves | None
    highest_regret: Floats
    highest_potential: Floats
    part_regret: Floats
    weights: Floats | None

    def columns(self) -> dict[str, np.ndarray]:
        """Return the curves as a table, a row for each hedger and recorded round."""
        shape = self.regret.mean.shape
        table: dict[str, np.ndarray] = {
            "hedger": np.broadcast_to(np.array(self.hedgers)[:, None], shape),
            "round": np.broadcast_to(self.rounds, shape),
            "runs": np.full(shape, self.runs),
        }
        curves = {"regret": self.regret, "log_potential": self.potential, "gain": self.gain}
        if self.quantile_regret is not None:
            curves["quantile_regret"] = self.quantile_regret
        for name, curve in curves.items():
            table[f"{name}_mean"], table[f"{name}_spread"] = curve
        return {name: np.ravel(values) for name, values in table.items()}


class _Record(NamedTuple):
    """One run: hedgers x recorded rounds, hedgers x parts, and the highest of all rounds."""

    regret: Floats
    potential: Floats
    gain: Floats
    quantile_regret: Floats | None
    weights: Floats | None
    part_regret: Floats
    highest_regret: Floats
    highest_potential: Floats


class _Plan(NamedTuple):
    """What of a run is recorded."""

    rounds: int
    every: int
    parts: int
    quantile: float | None

    @property
    def at(self) -> np.ndarray:
        """The recorded rounds."""
        return np.arange(self.every, self.rounds + 1, self.every)

    @property
    def edges(self) -> np.ndarray:
        """Where the parts begin and end."""
        return np.arange(self.parts + 1) * self.rounds // self.parts


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
    progress: Callable[[int], object] | None = None,
) -> Trace:
    """Let every hedger meet the same gains, in several runs.

    The same seed gives the same numbers, whatever the number of jobs: each run has a generator of
    its own, and the runs are summed in their order.

    Parameters
    ----------
    hedgers
        By name, or a sequence (they are then called what they print as).
    nature
        What gives the gains.
    rounds, runs
        How long a game is and how many are played.
    seed
        What all randomness comes from.
    every
        Record every so many rounds.
    parts
        Into how many equal parts the game is cut for ``part_regret``.
    quantile
        Also record the regret to the best quantile of experts (at a cost: a selection each time).
    keep_weights
        Also record the weights of the first run.
    jobs
        How many runs go in parallel; none for all cores.
    progress
        Called with the number of rounds after each block of them, from the thread of its run.

    Examples
    --------
    >>> from normalhedge import Hedge, NormalHedge
    >>> from normalhedge.games import GoodAndBad, play
    >>> nature = GoodAndBad(experts=100, gamma=0.8, f=0.1, alpha=0.01)
    >>> trace = play([NormalHedge(0.01), Hedge.corrected(0.01, 100)], nature, rounds=1000, runs=4)
    >>> trace.hedgers
    ('NormalHedge(alpha=0.01, c=1.0)', 'Hedge(alpha=0.01, eta=0.30...)')
    >>> trace.regret.mean.shape
    (2, 1000)
    """
    named = _named(hedgers)
    rounds, runs = _inputs.count("rounds", rounds), _inputs.count("runs", runs)
    every, parts = _inputs.count("every", every), _inputs.count("parts", parts)
    jobs = cores() if jobs is None else _inputs.count("jobs", jobs)
    if every > rounds or parts > rounds:
        raise ValueError(f"every and parts must be at most rounds = {rounds}")
    if quantile is not None:
        quantile = _inputs.quantile(quantile)
    plan = _Plan(rounds, every, parts, quantile)
    seeds = np.random.SeedSequence(seed).spawn(runs)
    sums = _Sums(len(named), runs, parts)
    weights = None
    stop = Event()

    def one(run: int) -> _Record:
        rng = np.random.default_rng(seeds[run])
        keep = keep_weights and run == 0
        told = progress or (lambda _: None)
        return _one_run(list(named.values()), nature, plan, rng, stop, told, keep_weights=keep)

    for run, record in enumerate(_in_order(one, runs, jobs, stop)):
        sums.add(run, record)
        weights = record.weights if run == 0 else weights
    return Trace(
        hedgers=tuple(named),
        rounds=plan.at,
        runs=runs,
        regret=sums.curves("regret"),
        potential=sums.curves("potential"),
        gain=sums.curves("gain"),
        quantile=quantile,
        quantile_regret=None if quantile is None else sums.curves("quantile_regret"),
        highest_regret=sums.highest_regret,
        highest_potential=sums.highest_potential,
        part_regret=sums.part_regret,
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
    plan: _Plan,
    rng: np.random.Generator,
    stop: Event,
    progress: Callable[[int], object],
    *,
    keep_weights: bool,
) -> _Record:
    """Play one game; what is kept does not grow with the rounds that are not recorded."""
    at, edges = plan.at, plan.edges
    seen = (len(hedgers), len(at))
    record = _Record(
        np.empty(seen),
        np.empty(seen),
        np.empty(seen),
        None if plan.quantile is None else np.empty(seen),
        np.empty((*seen, nature.experts)) if keep_weights else None,
        np.zeros((len(hedgers), plan.parts)),
        np.full(len(hedgers), -math.inf),
        np.full(len(hedgers), -math.inf),
    )
    states = [hedger.init(nature.experts) for hedger in hedgers]
    look = plan.quantile is not None or keep_weights
    start = 0
    for block in _cut(nature.gains(plan.rounds, rng), at if look else at[:0]):
        if stop.is_set():
            raise InterruptedError("stopped")
        end = start + len(block)
        if end > plan.rounds:
            raise ValueError(f"{nature} gave more than {plan.rounds} rounds of gains")
        rows = slice(start // plan.every, end // plan.every)
        inside = at[rows] - 1 - start
        for h, hedger in enumerate(hedgers):
            run = hedger.run(block, state=states[h])
            states[h] = run.state
            record.regret[h, rows] = run.best_regret[inside]
            record.potential[h, rows] = run.log_potential[inside]
            record.gain[h, rows] = run.gains[inside]
            record.highest_regret[h] = max(record.highest_regret[h], run.best_regret.max())
            # A hedger without a potential records NaN, which no number is below.
            highest = max(record.highest_potential[h], run.log_potential.max())
            record.highest_potential[h] = highest
            _add_parts(record.part_regret[h], edges, start, run.best_regret)
            if look and rows.stop > rows.start:
                if record.quantile_regret is not None:
                    record.quantile_regret[h, rows] = run.state.quantile_regret(plan.quantile)
                if record.weights is not None:
                    record.weights[h, rows] = run.state.weights
        progress(len(block))
        start = end
    if start != plan.rounds:
        raise ValueError(f"{nature} gave {start} rounds of gains and not {plan.rounds}")
    return record._replace(part_regret=record.part_regret / np.diff(edges))


def _add_parts(sums: Floats, edges: np.ndarray, start: int, values: Floats) -> None:
    """Add values of the rounds from ``start`` on to the sums of the parts they are in."""
    first = int(np.searchsorted(edges, start, side="right")) - 1
    for part in range(first, len(sums)):
        a, b = max(edges[part] - start, 0), edges[part + 1] - start
        sums[part] += values[a:b].sum()
        if b >= len(values):
            return


def _cut(blocks: Iterator[np.ndarray], ends: np.ndarray) -> Iterator[np.ndarray]:
    """Cut blocks of rows where a snapshot is due."""
    start = 0
    for block in blocks:
        inside = ends[(ends > start) & (ends < start + len(block))] - start
        yield from np.split(block, inside)
        start += len(block)


def _in_order(
    one: Callable[[int], _Record], runs: int, jobs: int, stop: Event
) -> Iterator[_Record]:
    """Yield the runs in their order; few of them are under way, or waiting, at any time."""
    if jobs == 1 or runs == 1:
        yield from map(one, range(runs))
        return
    with ThreadPoolExecutor(jobs) as pool:
        todo = iter(range(runs))
        waiting: list[Future[_Record]] = [pool.submit(one, run) for run in islice(todo, jobs + 1)]
        try:
            while waiting:
                yield waiting.pop(0).result()
                waiting += [pool.submit(one, run) for run in islice(todo, 1)]
        finally:
            stop.set()  # where the caller was interrupted, those under way end at their next block
            for future in waiting:
                future.cancel()


class _Sums:
    """Means and spreads over runs, added up in the order of the runs (Welford)."""

    def __init__(self, hedgers: int, runs: int, parts: int) -> None:
        self.moments: dict[str, tuple[Floats, Floats, Any]] = {}
        self.highest_regret = np.full(hedgers, -math.inf)
        self.highest_potential = np.full(hedgers, -math.inf)
        self.part_regret = np.empty((hedgers, runs, parts))

    def add(self, run: int, record: _Record) -> None:
        """Add a run."""
        self.highest_regret = np.maximum(self.highest_regret, record.highest_regret)
        self.highest_potential = np.maximum(self.highest_potential, record.highest_potential)
        self.part_regret[:, run] = record.part_regret
        for name in ("regret", "potential", "gain", "quantile_regret"):
            values = getattr(record, name)
            if values is not None:
                self._add(name, values)

    def _add(self, name: str, values: Floats) -> None:
        zero = np.zeros_like(values)
        mean, squares, count = self.moments.get(name, (zero, zero, zero))
        known = ~np.isnan(values)
        count = count + known
        delta = np.where(known, values - mean, 0.0)
        mean = mean + delta / np.maximum(count, 1)
        squares = squares + np.where(known, delta * (values - mean), 0.0)
        self.moments[name] = (mean, squares, count)

    def curves(self, name: str) -> Curves:
        """Return the mean and the standard deviation."""
        mean, squares, count = self.moments[name]
        spread = np.sqrt(squares / np.maximum(count - 1, 1))
        return Curves(np.where(count > 0, mean, math.nan), spread)
