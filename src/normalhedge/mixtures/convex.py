"""Fixed weights of least mean loss, with a proof of how near they come to it.

`interior` minimises ``mean_j phi_j(sum_i w_i A_ji)``. For each loss of the package, this module
states A, which has a row for each outcome and a column for each expert, and phi:

    square      A = x - y     phi(v) = v^2
    absolute    A = x - y     phi(v) = |v|
    pinball     A = x - y     phi(v) = (1 - level) v where v > 0, else -level v
    log         A = p_y       phi(v) = -ln v
    log-wealth  A = x / y     phi(v) = -ln v
    l1          A = p_y       phi(v) = 1 - v, so the best combination is the best expert
"""

from collections.abc import Callable

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures.interior import NEAR, Pair, Phi, minimise

FLOOR = 1e-6
"""Smaller probabilities and price relatives count as this: the clipped log is not convex below."""

WILD = 1e9
"""Experts whose mean error is this many times that of the best one get no weight."""

NEGLIGIBLE = 1e-9
"""Smaller weights become zero if that does not increase the loss."""


class _Square:
    """phi(v) = v^2, phi*(s) = s^2 / 4."""

    vanishing = False

    def __init__(self, v: Floats) -> None:
        self.slopes = self.slope(v)

    def value(self, v: Floats) -> Floats:
        return v * v

    def slope(self, v: Floats) -> Floats:
        return 2.0 * v

    def conjugate(self, s: Floats) -> Floats:
        return 0.25 * s * s

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        del mu, second
        return np.full_like(v, 2.0), 2.0 * v - self.slopes

    def pairs(self, dv: Floats, ds: Floats) -> list[Pair]:
        del dv, ds
        return []


class _Log:
    """phi(v) = -ln v, phi*(s) = -1 - ln(-s); v (-s) = 1."""

    vanishing = False

    def __init__(self, v: Floats) -> None:
        self.slopes = self.slope(v)

    def value(self, v: Floats) -> Floats:
        return -np.log(v)

    def slope(self, v: Floats) -> Floats:
        return -1.0 / v

    def conjugate(self, s: Floats) -> Floats:
        return -1.0 - np.log(-s)

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        del mu
        self._v = v
        return -self.slopes / v, -self.slopes - (1.0 - sum(second)) / v

    def pairs(self, dv: Floats, ds: Floats) -> list[Pair]:
        return [(self._v, dv, -self.slopes, -ds)]


class _Pinball:
    """phi(v) = high v where v > 0, else -low v; phi*(s) = 0 for -low <= s <= high.

    v = over - under, over (high - s) = mu, under (s + low) = mu.
    """

    vanishing = True

    def __init__(self, v: Floats, low: Floats, high: Floats) -> None:
        self.low, self.high = low, high
        self.slopes = np.zeros_like(v)
        far = np.abs(v).mean() + 1e-300
        self._over, self._under = np.maximum(v, 0.0) + far, np.maximum(-v, 0.0) + far

    def value(self, v: Floats) -> Floats:
        return np.maximum(self.high * v, -self.low * v)

    def slope(self, v: Floats) -> Floats:
        return np.where(v > 0.0, self.high, np.where(v < 0.0, -self.low, 0.0))

    def conjugate(self, s: Floats) -> Floats:
        return np.zeros_like(s)

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        over, under = second or (0.0, 0.0)
        self._left, self._right = self.slopes + self.low, self.high - self.slopes
        self._rise = (mu - over) / self._right - self._over
        self._fall = (mu - under) / self._left - self._under
        rate = 1.0 / (self._over / self._right + self._under / self._left)
        return rate, rate * (v - self._over + self._under - self._rise + self._fall)

    def pairs(self, dv: Floats, ds: Floats) -> list[Pair]:
        del dv
        over = self._rise + self._over / self._right * ds
        under = self._fall - self._under / self._left * ds
        return [(self._over, over, self._right, -ds), (self._under, under, self._left, ds)]


def least_loss(
    forecasts: Floats, outcomes: Floats, level: Floats, kind: str, every: int = 1
) -> tuple[Floats, float]:
    """Return weights of least mean loss, and a lower bound on the mean loss of any weights.

    Parameters
    ----------
    forecasts
        Rows x experts: the forecasts, or the probabilities given to the class that happened.
    outcomes, level
        The outcome and the level of the pinball loss of each row.
    kind
        The name of the loss in the core.
    every
        Fit the weights to every row, every second row, and so on; the square loss uses all rows.
        The bound always holds for the whole table.
    """
    if kind == "l1":
        means = forecasts.mean(axis=0)
        return _only(means.argmax(), len(means)), 1.0 - float(means.max())
    with np.errstate(all="ignore"):
        if kind in {"log", "log-wealth"}:
            ratios = forecasts if kind == "log" else forecasts / outcomes[:, np.newaxis]
            table = np.maximum(ratios, FLOOR)
            top = table.max(axis=1)
            sizes = np.ones(forecasts.shape[1])
            weights, bound = _fitted(_Log, table / top[:, np.newaxis], sizes, every)
            return weights, bound - float(np.log(top).mean())
        table = forecasts - outcomes[:, np.newaxis]
        sizes = np.abs(table).mean(axis=0)
        size = float(sizes.min())
        if size == 0.0:
            return _only(sizes.argmin(), len(sizes)), 0.0
        table /= size
        if kind == "square":
            weights, bound = _fitted(_Square, _shortened(table), sizes / size, 1)
            return weights, max(bound * size * size, 0.0)
        low, high = (level, 1.0 - level) if kind == "pinball" else np.ones((2, len(table)))
        weights, bound = _fitted(_Pinball, table, sizes / size, every, low, high)
        return weights, max(bound * size, 0.0)


def _shortened(table: Floats) -> Floats:
    """Return a table with at most as many rows as columns in which weights have the same loss.

    With A = Q R, |A w| = |R w|.
    """
    rows, n = table.shape
    if rows <= n:
        return table
    short: Floats = np.linalg.qr(table, mode="r") * np.sqrt(n / rows)
    return short


def _only(expert: np.intp, n: int) -> Floats:
    """Return weights that are all on one expert."""
    weights = np.zeros(n)
    weights[expert] = 1.0
    return weights


def _fitted(
    losses: Callable[..., Phi], table: Floats, sizes: Floats, every: int, *settings: Floats
) -> tuple[Floats, float]:
    """Return weights and a bound; ``sizes`` are the mean sizes of the columns over the smallest."""
    tame = sizes < WILD
    start = tame / sizes
    start /= start.sum()
    few = np.ascontiguousarray(table[::every, tame])
    part = [setting[::every] for setting in settings]
    weights = np.zeros_like(start)
    weights[tame], slopes = minimise(losses(few @ start[tame], *part), few, start[tame])
    v = table @ weights
    phi = losses(v, *settings)
    if every > 1:
        slopes = phi.slope(v)
    calm = np.where((np.abs(table[:, ~tame]) > WILD).any(axis=1), 0.0, slopes)
    bounds = [(s @ table).min() / len(table) - phi.conjugate(s).mean() for s in (slopes, calm)]
    fewer = np.where(weights < NEGLIGIBLE, 0.0, weights)
    fewer /= fewer.sum()
    loss = float(phi.value(v).mean())
    if phi.value(table @ fewer).mean() <= loss + 0.1 * NEAR * abs(loss):
        weights = fewer
    return weights, float(np.nan_to_num(bounds, nan=-np.inf).max())
