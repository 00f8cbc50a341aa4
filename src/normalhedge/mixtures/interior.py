"""An interior-point method for fixed weights of least mean loss.

    minimise  f(w) = mean_j phi_j(v_j),   v = A w,   over weights w >= 0 that sum to one

By Fenchel's inequality, ``phi(v) >= s v - phi*(s)``, any slopes s, one for each row, prove a bound:

    f(w) >= min_i mean_j s_j A_ji - mean_j phi*_j(s_j)     for all weights w

Weights and slopes are found together, by Newton's method on the conditions of optimality, in which
the products that must vanish first equal some mu > 0,

    mean_j s_j A_ji = lambda + z_i,   w_i z_i = mu / N,   s_j a slope of phi_j at v_j

with the predictor and corrector of Mehrotra (1992), which choose how fast mu falls. A step solves
as many linear equations as there are experts, or rows if they are far fewer; 10 to 60 steps do.
"""

import contextlib
from collections.abc import Callable
from typing import Protocol

import numpy as np

from normalhedge._inputs import Floats

STEPS = 100
NEAR = 1e-9
"""The method ends when the bound is as near as this, relative to the loss ..."""

ZERO = 1e-14
"""... or as near as this, where the least loss is zero."""

PATIENCE = 10
"""How many steps in turn may bring nothing: rounding allows no more."""

FIRM = 0.99
"""How far a step goes on the way to where a number would become zero."""

FEW = 256
"""Up to so many experts a step solves as many equations, although there be fewer rows."""

Pair = tuple[Floats, Floats, Floats, Floats]
"""Two rows of positive numbers, each followed by how a step changes it."""


class Phi(Protocol):
    """The losses of the rows, and the slopes that the method has arrived at."""

    slopes: Floats
    vanishing: bool
    """Whether the products of its pairs are to become mu; else they are to become one."""

    def value(self, v: Floats) -> Floats:
        """Return phi(v)."""

    def slope(self, v: Floats) -> Floats:
        """Return a slope of phi at v."""

    def conjugate(self, s: Floats) -> Floats:
        """Return phi*(s)."""

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        """Return D and c of ``ds = D dv + c``; ``second`` are products of changes to allow for."""

    def pairs(self, dv: Floats, ds: Floats) -> list[Pair]:
        """Return the pairs of numbers that change along with v and s."""


def minimise(phi: Phi, table: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weights of least mean loss, and slopes that prove it.

    Parameters
    ----------
    phi
        The losses, at ``table @ weights``; its slopes change.
    table
        A, whose entries are about one.
    weights
        Where to begin: positive, and summing to one.
    """
    point = _Point(phi, table, weights.copy())
    best, least, proof, bound, waited = weights, np.inf, phi.slopes.copy(), -np.inf, 0
    with contextlib.suppress(np.linalg.LinAlgError):
        for _ in range(STEPS):
            loss, proved = point.bounds()
            if not (np.isfinite(loss) and np.isfinite(proved)):
                break
            nearer = min(loss, least) - max(proved, bound) < 0.9 * (least - bound)
            waited = 0 if nearer else waited + 1
            if loss < least:
                best, least = point.w / point.w.sum(), loss
            if proved > bound:
                proof, bound = phi.slopes.copy(), proved
            if least - bound <= NEAR * abs(least) + ZERO or waited > PATIENCE:
                break
            point.advance()
    return best, proof


class _Point:
    """Where the method stands: weights w, slopes of phi, and z and lambda that go with them."""

    def __init__(self, phi: Phi, table: Floats, weights: Floats) -> None:
        self.phi, self.table, self.w = phi, table, weights
        self.pull = phi.slopes @ table / len(table)
        self.multiplier = float(self.pull.min()) - 1.0
        self.z = self.pull - self.multiplier

    def bounds(self) -> tuple[float, float]:
        """Return the loss, and what it cannot be less than."""
        loss = self.phi.value(self.table @ self.w / self.w.sum()).mean()
        return float(loss), float(self.pull.min() - self.phi.conjugate(self.phi.slopes).mean())

    def advance(self) -> None:
        """Make a step."""
        v = self.table @ self.w
        rate, _ = self.phi.newton(v, 0.0, [])
        solve = _solver(self.table, rate, self.z / self.w)
        ones = solve(np.ones_like(self.w))
        # As if all products were to vanish at once: how far that goes says what to aim at.
        pairs, *_ = self._direction(v, solve, ones, 0.0, [])
        mu = self._mean_product(pairs, 0.0)
        centre = (self._mean_product(pairs, min(_longest(pairs), 1.0)) / mu) ** 3
        second = [dx * dy for _, dx, _, dy in pairs]
        pairs, ds, change = self._direction(v, solve, ones, centre * mu, second)
        step = min(FIRM * _longest(pairs), 1.0)
        for x, dx, y, dy in pairs:
            np.add(x, step * dx, out=x)
            np.add(y, step * dy, out=y)
        self.phi.slopes += step * ds
        self.multiplier += step * change
        self.pull = self.phi.slopes @ self.table / len(self.table)

    def _direction(
        self,
        v: Floats,
        solve: Callable[[Floats], Floats],
        ones: Floats,
        mu: float,
        second: list[Floats],
    ) -> tuple[list[Pair], Floats, float]:
        """Return how w and z and the pairs of phi change, how the slopes do, and how lambda.

        (A' D A / T + diag(z / w)) dw = dlambda - (A's / T - lambda - z) - A'c / T + aim,
        aim = (mu / N - dw dz) / w - z,   sum (w + dw) = 1,   dz = aim - z dw / w
        """
        w, z = self.w, self.z
        rate, offset = self.phi.newton(v, mu, second[1:])
        aim = (mu / len(w) - (second[0] if second else 0.0)) / w - z
        dw = solve(self.multiplier + z - self.pull - offset @ self.table / len(v) + aim)
        change = float((1.0 - w.sum() - dw.sum()) / ones.sum())
        dw += change * ones
        dv = self.table @ dw
        ds = rate * dv + offset
        return [(w, dw, z, aim - z / w * dw), *self.phi.pairs(dv, ds)], ds, change

    def _mean_product(self, pairs: list[Pair], step: float) -> float:
        """Return the mu that the products which are to vanish have after a step."""
        vanish = pairs if self.phi.vanishing else pairs[:1]
        means = [((x + step * dx) * (y + step * dy)).mean() for x, dx, y, dy in vanish]
        return float((means[0] * len(self.w) + sum(means[1:])) / len(means))


def _solver(table: Floats, rate: Floats, ratio: Floats) -> Callable[[Floats], Floats]:
    """Return a function that solves ``(A' diag(D) A / T + diag(z / w)) x = b``."""
    rows, n = table.shape
    if rows >= n or n <= FEW:
        matrix = (table.T * (rate / rows)) @ table
        matrix.flat[:: n + 1] += ratio
        scale = 1.0 / np.sqrt(np.diagonal(matrix))
        matrix *= scale * scale[:, np.newaxis]
        return lambda b: scale * np.linalg.solve(matrix, scale * b)
    # As many equations as rows, by the formula of Woodbury: faster, and less exact.
    free = table / ratio
    matrix = free @ table.T
    matrix.flat[:: rows + 1] += rows / rate
    return lambda b: b / ratio - np.linalg.solve(matrix, free @ b) @ free


def _longest(pairs: list[Pair]) -> float:
    """Return how long a step may be until a number becomes zero."""
    most = np.inf
    for x, dx, y, dy in pairs:
        for value, change in ((x, dx), (y, dy)):
            most = min(most, float(np.where(change < 0.0, -value / change, np.inf).min()))
    return most
