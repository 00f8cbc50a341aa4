"""Models of a whole series in hindsight, with their scores."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import (
    FLOOR,
    Fitted,
    Moving,
    OnlineEM,
    fit_moving,
    fit_series,
    scale,
    units_for,
)
from normalhedge.latent.models.emissions import (
    ALL,
    Regression,
)
from normalhedge.latent.regimes._recipes import ENOUGH

# the memories of emissions and of transitions on both sides, in rounds; 0 where they do not move
MEMORIES = ((0, 0), (0, 200), (400, 0), (100, 0), (40, 0))
SPANS = 4  # a memory needs this many times as many observations
STARTS, ITERATIONS, TOLERANCE = 5, 75, 0.01  # of fits whose parameters do not move
# the numbers and widths of the places from which a moving model is followed in both directions
PLACES, WIDTH = 5, 150
COARSEST = 0.25  # the largest least variance of rounded numbers
FREELY = 3  # more states are tried if the largest number so far is the best


class SeriesExplanation(NamedTuple):
    """A model of the whole series, with its score."""

    family: str
    memory: int  # of the emissions; 0 where they do not move
    memory_of_moves: int  # of the transitions
    model: Moving
    score: float  # ln P(y) less the number of free parameters, corrected for short series
    moves: bool = False  # whether the emissions move, or follow the last value

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.model.initial)

    def __str__(self) -> str:
        plural = "state" if self.states == 1 else "states"
        words = f"{self.family}, {self.states} {plural}"
        if self.memory:
            words += f", parameters that move within {self.memory} rounds"
        if self.memory_of_moves:
            words += f", transitions that move within {self.memory_of_moves} rounds"
        return words


def explanations(
    seen: Floats,
    families: Sequence[str],
    numbers: Sequence[int],
    rng: np.random.Generator,
    symbols: int | None,
) -> Iterator[SeriesExplanation]:
    """Yield the models of the series; many states only where fewer are not enough."""
    count = int((~np.isnan(seen[:, 0])).sum())
    best, last, floor = -math.inf, 0, _floor(seen, families[0])
    for k in numbers:
        if k > max(FREELY, numbers[0]) and last < k - 1 and last:
            return  # a smaller number was the best already
        for family in families:
            base = _fit(seen, k, family, rng, symbols, floor)
            for memory, moves in MEMORIES:
                if SPANS * max(memory, moves) > count or (moves and k == 1):
                    continue
                starts = list(_followed(seen, family, k, memory, rng, symbols)) if memory else []
                model = fit_moving(
                    seen,
                    base,
                    memory=memory,
                    memory_of_moves=moves,
                    starts=starts,
                    symbols=symbols,
                    floor=floor,
                )
                score = _score(model.log_likelihood, model.free, count)
                yield SeriesExplanation(family, memory, moves, model, score, moves=memory > 0)
                if score > best:
                    best, last = score, k


def _fit(
    seen: Floats,
    k: int,
    family: str,
    rng: np.random.Generator,
    symbols: int | None = None,
    floor: float = FLOOR,
) -> Fitted:
    """Return a model whose parameters do not move."""
    return fit_series(
        seen,
        k,
        family,
        rng=rng,
        starts=STARTS,
        iterations=ITERATIONS,
        tolerance=TOLERANCE,
        warm=None,
        symbols=symbols,
        floor=floor,
    )


def _floor(seen: Floats, family: str) -> float:
    """Return the least variance of a state, as a share of the variance of all observations.

    A normal density on a grid of rounded numbers must not exceed one over the step, or else states
    that stand on single values explain rounding: the deviation is at least step / sqrt(2 pi).
    """
    if not ALL[family].scaled:
        return FLOOR
    known = seen[~np.isnan(seen[:, 0])]
    known = known[:, :1] if ALL[family] is Regression else known
    width = scale(known)[1]
    shares = [
        np.square(np.diff(np.unique(column)).min(initial=np.inf) / unit) / (2.0 * math.pi)
        for column, unit in zip(known.T, width, strict=True)
        if np.ptp(column) > 0.0
    ]
    return float(min(max(min(shares, default=FLOOR), FLOOR), COARSEST))


def autoregression(seen: Floats, rng: np.random.Generator) -> SeriesExplanation:
    """Return one state that remembers the last value; without it, by its long-run distribution."""
    base = _fit(seen, 1, "autoregressive", rng)
    model = fit_moving(seen, base)
    known = ~np.isnan(seen[:, 0])
    alone = known & np.r_[True, ~known[:-1]]
    mean, variance = (float(part[0]) for part in base.emission.moments())
    away = np.square(seen[alone, 0] - mean) / variance
    apart = -0.5 * float((away + math.log(2.0 * math.pi * variance)).sum())
    score = _score(model.log_likelihood + apart, model.free, int(known.sum()))
    return SeriesExplanation("autoregressive", 0, 0, model, score, moves=True)


def _score(log_likelihood: float, free: float, count: int) -> float:
    """Return Akaike's score, corrected for short series."""
    return log_likelihood - free * count / max(count - free - 1.0, 1.0)


def _followed(
    seen: Floats,
    family: str,
    k: int,
    memory: int,
    rng: np.random.Generator,
    symbols: int | None,
) -> Iterator[Floats]:
    """Yield shares of states: of models that are fitted to a few rounds, and followed both ways.

    Where states drift further than they lie apart, only a few rounds show them apart.
    """
    rounds = len(seen)
    width = max(WIDTH, ENOUGH * k)
    if k == 1 or rounds < 2 * width:
        return
    for start in np.linspace(0, rounds - width, PLACES).astype(int).tolist():
        part = seen[start : start + width]
        if (~np.isnan(part[:, 0])).sum() < ENOUGH:
            continue
        model = _fit(part, k, family, rng, symbols)
        middle = start + width // 2
        later = _filtered(model, seen[start:], memory)
        earlier = _filtered(model, np.ascontiguousarray(seen[: start + width][::-1]), memory)[::-1]
        yield np.concatenate([earlier[:middle], later[middle - start :]])


def _filtered(model: Fitted, seen: Floats, memory: int) -> Floats:
    online = OnlineEM(model, 1.0 - 1.0 / memory, units=units_for(model, seen))
    return online.run(seen).filtered
