"""The fixed convex combination of experts with the least mean loss, chosen in hindsight."""

from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses import Kink, Loss
from normalhedge.mixtures.summaries._interior import NEAR, Kinked, Phi, Smooth, minimise

SAMPLE = 1 << 22
"""The default number of forecasts to which the weights are fitted; larger tables are sampled."""

LONG, BLOCK = 1 << 20, 1 << 17
"""A longer table of a quadratic loss is read in blocks of so many forecasts."""

PRECISE = 1e6
"""Sums of products are used if the mean errors of experts differ by no more than this factor."""

CALLS = 1 << 12
"""The same for a loss of your own, which is called for each row by itself."""

WILD = 1e9
"""Experts whose mean error is this many times the least one get no weight."""

LEAST_SCALE = float(np.finfo(float).tiny)
"""The scale of losses that are too small for a double, such as squares of numbers near 1e-200."""

NEGLIGIBLE = 1e-9
"""Smaller weights become zero if that does not increase the loss."""


class Convex(NamedTuple):
    """Fixed weights of least mean loss, with a bound on the error of the search."""

    weights: Floats  # one for each expert
    loss: float  # their mean loss; NaN if no row can be used
    gap: float  # an upper bound on how much smaller the loss of other weights could be


def sampling_step(loss: Loss, forecasts: Floats, sample: int) -> int:
    """Return k if weights are fitted to one row in k of a table."""
    if loss.quadratic or loss.linear:
        return 1
    size = forecasts.size if loss.of_levels else forecasts[:, 0].size
    return max(size // (min(sample, CALLS) if loss.own else sample), 1)


def best_convex(
    loss: Loss,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    way: str = "mean",
    sample: int | None = None,
) -> Convex:
    """Return the fixed weights whose weighted mean of the forecasts has the least mean loss.

    Uniform weights over the experts awake forecast in place of a sleeping expert. So uniform
    weights and each expert by itself are among the combinations, as for the other yardsticks in
    hindsight, and the problem is convex. (It would not be if the weight of sleeping experts went to
    the others, as it does in a hedger.) `_interior` solves it until the gap is proved to be less
    than 1e-6 of the loss, or less than 1e-9 of the loss of the best expert if the least loss is
    zero. The gap can be larger only if one expert errs 1e9 times as much as another, or if a loss
    has kinks of which it does not tell. A large table is sampled (`sampling_step`); the loss and
    the gap always count the whole table.
    """
    n = forecasts.shape[2]
    if loss.quadratic and forecasts.size > LONG:
        convex = _of_products(loss, forecasts, outcomes, items, way)
        if convex is not None:
            return convex
    filled, outcomes, items = _filled(loss, forecasts, outcomes, items, way)
    if not len(filled):
        return Convex(np.full(n, 1.0 / n), np.nan, np.nan)
    every = sampling_step(loss, filled, sample or SAMPLE)
    with np.errstate(all="ignore"):
        whole = _Problem(loss, filled, outcomes, items)
        rows = (array[::every] for array in (filled, outcomes, items))
        few = whole if every == 1 else _Problem(loss, *rows)
        weights, slopes = few.fit()
        bound = max(whole.bound(weights, slopes if every == 1 else None), loss.least)
    least = float(loss.table((filled @ weights)[:, :, np.newaxis], outcomes, items).mean())
    return Convex(weights, least, max(least - bound, 0.0))


def _filled(
    loss: Loss, forecasts: Floats, outcomes: Floats, items: np.ndarray, way: str
) -> tuple[Floats, Floats, np.ndarray]:
    """Return the rows that can be used, with forecasts in place of sleeping experts."""
    filled = np.empty(forecasts.shape)
    settings, core_name = np.array(loss.settings), loss.kind or "square"
    _core.fill_sleepers(forecasts, outcomes, items, settings, core_name, way, filled)
    known = ~np.isnan(filled[:, 0, 0])
    if known.all():  # a large table is not copied
        return filled, outcomes, items
    return filled[known], outcomes[known], items[known]


def _of_products(
    loss: Loss, forecasts: Floats, outcomes: Floats, items: np.ndarray, way: str
) -> Convex | None:
    """Return the best weights for a quadratic loss, from the sums of products A^T A of a table.

    None if they are not precise enough: if one expert errs beyond measure, or the best weights
    hardly at all.
    """
    n = forecasts.shape[2]
    rows, count, factor = max(BLOCK // forecasts[0].size, 1), 0, 1.0
    sums, products = np.zeros(n), np.zeros((n, n))
    with np.errstate(all="ignore"):
        for k in range(0, len(outcomes), rows):
            block = forecasts[k : k + rows], outcomes[k : k + rows], items[k : k + rows]
            parts = loss.parts(*_filled(loss, *block, way))
            table = parts.numbers.reshape(-1, n) - parts.origins.reshape(-1, 1)
            count, factor = count + len(table), parts.factor
            sums, products = sums + np.abs(table).sum(axis=0), products + table.T @ table
        sizes = sums / max(count, 1)
        if not count or not np.isfinite(products).all():
            return None
        if not 0.0 < np.min(sizes) <= np.max(sizes) < PRECISE * np.min(sizes):
            return None
        values, vectors = np.linalg.eigh(products / np.min(sizes) ** 2)
        table = np.sqrt(np.maximum(values, 0.0) * n / count)[:, np.newaxis] * vectors.T
        problem = _Problem.of_short_table(loss, table, sizes)
        weights, slopes = problem.fit()
        least = float(np.square(problem.table @ weights).mean())
        if not least > 1.0 / PRECISE:
            return None
        unit, problem.factor = factor * problem.scale, factor
        bound = max(problem.bound(weights, slopes), loss.least)
    return Convex(weights, unit * least, max(unit * least - bound, 0.0))


class _Problem:
    """The rows of a search as single numbers: the matrix A and phi of `interior`.

    A is measured in errors of the best expert, and phi so that its slopes are about one.
    """

    def __init__(self, loss: Loss, filled: Floats, outcomes: Floats, items: np.ndarray) -> None:
        parts = loss.parts(filled, outcomes, items)
        self.loss, self.factor = loss, parts.factor
        self.y, self.settings, self.origins = (
            array.ravel() for array in (parts.outcomes, parts.settings, parts.origins)
        )
        self.table = parts.numbers.reshape(len(self.y), -1) - self.origins[:, np.newaxis]
        kink = loss.kink(self.y, self.settings)
        sharp = kink is not None and not kink.soft
        if kink is not None and sharp and np.ptp(steep := kink.below + kink.above) > 0.0:
            kink = Kink(kink.below / steep, kink.above / steep)  # a row counts as it is steep
            self.table *= steep[:, np.newaxis]
        sizes = np.abs(self.table).mean(axis=0)
        self.unit = float(sizes.min()) or 1.0
        self.table /= self.unit
        self.sizes = sizes / self.unit
        self.start = np.where(self.sizes < WILD, 1.0 / np.maximum(self.sizes, 1.0), 0.0)
        self.start /= self.start.sum()
        self.scale = self._scale()
        if not loss.quadratic and not sharp:
            steepness = float(np.abs(self._slope(self.table @ self.start)).mean()) or 1.0
            self.scale = self.scale * steepness or LEAST_SCALE
            if kink is not None:
                soft = kink.soft * steepness / self.unit
                # Lines beyond all forecasts do not count.
                reach = 1.1 * np.abs(self.table[:, self.start > 0.0]).max(axis=1) / soft + 1e-3
                below, above = (np.minimum(side / steepness, reach) for side in kink[:2])
                kink = Kink(below, above, soft)
        self.kink = kink

    @classmethod
    def of_short_table(cls, loss: Loss, table: Floats, sizes: Floats) -> "_Problem":
        """Return the problem of a quadratic loss from a table with the same mean squares.

        The table is in units of the least of the mean errors, the sizes.
        """
        problem = cls.__new__(cls)
        problem.loss, problem.kink, problem.unit = loss, None, float(sizes.min())
        problem.table, problem.sizes = table, sizes / problem.unit
        problem.start = 1.0 / problem.sizes
        problem.start /= problem.start.sum()
        problem.scale = problem._scale()
        return problem

    def _scale(self) -> float:
        return self.unit * (self.unit if self.loss.quadratic else 1.0) or LEAST_SCALE

    def _value(self, v: Floats) -> Floats:
        """Return phi(v) of a loss without a kink."""
        if self.loss.quadratic:
            return np.square(v)
        x = v * self.unit + self.origins
        return self.loss.number_loss(x, self.y, self.settings) / self.scale

    def _slope(self, v: Floats) -> Floats:
        """Return its slope."""
        if self.loss.quadratic:
            return 2.0 * v
        x = v * self.unit + self.origins
        return self.loss.number_slope(x, self.y, self.settings) * (self.unit / self.scale)

    def fit(self) -> tuple[Floats, Floats]:
        """Return weights of least mean loss, and slopes that prove it."""
        weights = np.zeros(len(self.start))
        if self.loss.linear:
            weights[self._value(self.table.T).mean(axis=1).argmin()] = 1.0
            return weights, np.empty(0)
        if self.sizes.min() == 0.0:  # it makes no errors
            weights[self.sizes.argmin()] = 1.0
            return weights, np.zeros(len(self.table))
        tame = self.start > 0.0
        few = self.table if tame.all() else np.ascontiguousarray(self.table[:, tame])
        if self.loss.quadratic:
            few = _shorten_table(few)
        phi = self._phi(few, start := self.start[tame])
        weights[tame], slopes = minimise(phi, few, start)
        fewer = np.where(weights < NEGLIGIBLE, 0.0, weights)
        fewer /= fewer.sum()
        least = phi.value(few @ weights[tame]).mean()
        if phi.value(few @ fewer[tame]).mean() <= least + 0.1 * NEAR * abs(least):
            weights = fewer
        return weights, slopes

    def bound(self, weights: Floats, slopes: Floats | None) -> float:
        """Return a lower bound on the mean loss of any weights."""
        v = self.table @ weights
        phi = self._phi(self.table, weights)
        if isinstance(phi, Kinked):
            phi.slopes = phi.slope(v) if slopes is None else slopes
        rows, heights = phi.slopes, phi.heights(v)
        wild = (np.abs(self.table[:, self.start == 0.0]) > WILD).any(axis=1)
        least = self.loss.least / self.scale / self.factor
        proofs = [(rows, heights), (np.where(wild, 0.0, rows), np.where(wild, -least, heights))]
        bounds = [(s @ self.table).min() / len(v) - height.mean() for s, height in proofs]
        return self.factor * self.scale * float(np.nan_to_num(bounds, nan=-np.inf).max())

    def _phi(self, table: Floats, weights: Floats) -> Phi:
        """Return the losses at some weights."""
        v = table @ weights
        if self.kink is not None:
            return Kinked(v, *self.kink)
        return Smooth(v, self._value, self._slope, table.min(axis=1), table.max(axis=1))


def _shorten_table(table: Floats) -> Floats:
    """Return a table with at most as many rows as columns in which weights have the same loss.

    With A = Q R, |A w| = |R w|.
    """
    rows, n = table.shape
    if rows <= n:
        return table
    short: Floats = np.linalg.qr(table, mode="r") * np.sqrt(n / rows)
    return short
