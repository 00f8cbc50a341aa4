"""The hedged tracker: with linear dynamics, and with paths."""

import time

import numpy as np

from benchmarks.tracking.cases import Case
from benchmarks.tracking.rivals import Tracked, cleaned, early, fitted
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, NormalHedge
from normalhedge.latent import HedgedTracker
from normalhedge.latent.tracking._track import Of


def linear(case: Case, hedger: CompiledHedger | None = None) -> Tracked:
    """Follow without any setting."""
    return _follow(case, HedgedTracker(hedger=hedger))


def linear_normal_hedge(case: Case) -> Tracked:
    """Let NormalHedge weigh the filters."""
    return linear(case, NormalHedge(alpha=0.1))


def paths(case: Case) -> Tracked:
    """Hedge over 1,000 paths, which jitter as the fitted model of the particle filter says."""
    models = fitted(cleaned(early(case)))
    order, columns = models[0][0], len(models)
    rng = np.random.default_rng(0)
    q, r = (np.array([m[i] for m in models]) for i in (1, 2))
    start = case.seen[np.isfinite(case.seen).all(axis=1)][0] + r * rng.normal(size=(1000, columns))
    if order == 2:
        start = np.hstack([start, 5.0 * r * rng.normal(size=(1000, columns))])

    def move(places: Floats) -> Floats:
        if order == 2:
            places[:, :columns] += places[:, columns:]
        return places

    def jitter(places: Floats, draws: np.random.Generator) -> Floats:
        steps = 2.0 * q * draws.normal(size=(len(places), columns))
        return places + (np.hstack([steps, steps]) if order == 2 else steps)

    return _follow(case, HedgedTracker(start, move, jitter, rng=rng))


def _follow(case: Case, tracker: HedgedTracker) -> Tracked:
    columns = case.seen.shape[1]
    of: Of = "position" if case.known else "observation"
    begin = time.process_time()
    went = tracker.run(case.seen, of=of) if case.known else _observed(case, tracker)
    micros = (time.process_time() - begin) / len(case.seen) * 1e6
    now, ahead, low, high = (part[:, :columns] for part in went)
    return Tracked(now, ahead, low, high, micros)


def _observed(case: Case, tracker: HedgedTracker) -> tuple[Floats, ...]:
    """Loop, as the interval of an observation needs a first one where paths are the experts."""
    found = []
    for y in case.seen:
        said = tracker.predict(of="observation" if tracker.rounds else "position")
        columns = len(y)
        before = said.position[:columns], said.low[:columns], said.high[:columns]
        found.append((tracker.observe(y)[:columns], *before))
    return tuple(np.array(part) for part in zip(*found, strict=True))
