"""Fixed weights of least mean loss, and a proof of how near they come to it.

What `interior` minimises, ``mean_j phi_j(sum_i w_i A_ji)``, for the losses of the package. A has a
row for each thing that was forecast and a column for each expert:

    square      A = x - y     phi(v) = v^2
    absolute    A = x - y     phi(v) = |v|
    pinball     A = x - y     phi(v) = (1 - level) v where v > 0, else -level v
    log         A = p_y       phi(v) = -ln v
    log-wealth  A = x / y     phi(v) = -ln v
    l1          A = p_y       phi(v) = 1 - v: the best expert by itself
"""

from collections.abc import Callable

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.mixtures.interior import NEAR, Pair, Phi, minimise

FLOOR = 1e-6
"""Probabilities and relatives of experts below this count as this: below it no log is convex."""

WILD = 1e9
"""Experts with errors so many times those of the best one get no weight."""

NOTHING = 1e-9
"""Weights below this become zero where that costs nothing."""


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
    said: Floats, outcomes: Floats, level: Floats, kind: str, every: int = 1
) -> tuple[Floats, float]:
    """Return weights of least mean loss, and a bound that no weights go below.

    Parameters
    ----------
    said
        Rows x experts: what was forecast, or given to the class that happened.
    outcomes, level
        Of each row; the level is that of the pinball loss.
    kind
        What the core calls the loss.
    every
        The weights are fitted to one of so many rows, but for the square loss. The bound is one of
        all.
    """
    if kind == "l1":
        means = said.mean(axis=0)
        return _alone(means.argmax(), len(means)), 1.0 - float(means.max())
    with np.errstate(all="ignore"):
        if kind in {"log", "log-wealth"}:
            table = np.maximum(said if kind == "log" else said / outcomes[:, np.newaxis], FLOOR)
            top = table.max(axis=1)
            weights, bound = _fitted(_Log, table / top[:, np.newaxis], np.ones(len(said.T)), every)
            return weights, bound - float(np.log(top).mean())
        table = said - outcomes[:, np.newaxis]
        sizes = np.abs(table).mean(axis=0)
        size = float(sizes.min())
        if size == 0.0:
            return _alone(sizes.argmin(), len(sizes)), 0.0
        table /= size
        if kind == "square":
            weights, bound = _fitted(_Square, _shortened(table), sizes / size, 1)
            return weights, max(bound * size * size, 0.0)
        low, high = (level, 1.0 - level) if kind == "pinball" else np.ones((2, len(table)))
        weights, bound = _fitted(_Pinball, table, sizes / size, every, low, high)
        return weights, max(bound * size, 0.0)


def _shortened(table: Floats) -> Floats:
    """Return a table of at most as many rows as columns, whose weights have the same square loss.

    With A = Q R, |A w| = |R w|.
    """
    rows, n = table.shape
    if rows <= n:
        return table
    short: Floats = np.linalg.qr(table, mode="r") * np.sqrt(n / rows)
    return short


def _alone(expert: np.intp, n: int) -> Floats:
    weights = np.zeros(n)
    weights[expert] = 1.0
    return weights


def _fitted(
    losses: Callable[..., Phi], table: Floats, sizes: Floats, every: int, *settings: Floats
) -> tuple[Floats, float]:
    """Return weights and a bound; ``sizes`` are those of the columns, relative to the least."""
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
    fewer = np.where(weights < NOTHING, 0.0, weights)
    fewer /= fewer.sum()
    loss = float(phi.value(v).mean())
    if phi.value(table @ fewer).mean() <= loss + 0.1 * NEAR * abs(loss):
        weights = fewer
    return weights, float(np.nan_to_num(bounds, nan=-np.inf).max())
