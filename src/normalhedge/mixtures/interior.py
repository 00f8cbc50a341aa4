"""An interior-point method for fixed weights of least mean loss.

    minimise  f(w) = mean_j phi_j(v_j),   v = A w,   over weights w >= 0 that sum to one

By Fenchel's inequality, ``phi(v) >= s v - phi*(s)``, a slope s_j for each row proves a lower bound:

    f(w) >= min_i mean_j s_j A_ji - mean_j phi*_j(s_j)     for all weights w

Newton's method finds weights and slopes together. It solves the conditions of optimality, with the
products that must vanish at the optimum set to some mu > 0:

    mean_j s_j A_ji = lambda + z_i,   w_i z_i = mu / N,   s_j a slope of phi_j at v_j

The predictor and the corrector of Mehrotra (1992) choose how fast mu falls. A step solves as many
linear equations as there are experts, or rows if there are far fewer rows; 10 to 60 steps suffice.
"""

import contextlib
from collections.abc import Callable
from typing import Protocol

import numpy as np

from normalhedge._inputs import Floats

STEPS = 100
"""The largest number of steps."""

NEAR = 1e-9
"""The method ends when loss and bound differ by less than this, relative to the loss ..."""

ZERO = 1e-14
"""... or by less than this, if the least loss is zero."""

PATIENCE = 10
"""The method ends after this many steps without progress: rounding allows no better result."""

FIRM = 0.99
"""A step goes this far of the way to the point at which a number would become zero."""

FEW = 256
"""With at most this many experts, the equations are those of experts, even if rows are fewer."""

Pair = tuple[Floats, Floats, Floats, Floats]
"""Two arrays of positive numbers, each followed by its change in a step."""


class Phi(Protocol):
    """The losses of the rows, and the current slopes of the method."""

    slopes: Floats
    vanishing: bool
    """Whether the target for the products of its pairs is mu; otherwise it is one."""

    def value(self, v: Floats) -> Floats:
        """Return phi(v)."""

    def slope(self, v: Floats) -> Floats:
        """Return a slope of phi at v."""

    def conjugate(self, s: Floats) -> Floats:
        """Return phi*(s)."""

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        """Return D and c of the linear equation ``ds = D dv + c``.

        Parameters
        ----------
        v
            The argument of phi in each row.
        mu
            The target for the products.
        second
            Products of the changes of a trial step, for the correction of second order; may be
            empty.
        """

    def pairs(self, dv: Floats, ds: Floats) -> list[Pair]:
        """Return the pairs of positive numbers that change along with v and s.

        Parameters
        ----------
        dv, ds
            The changes of v and of the slopes in a step.
        """


def minimise(phi: Phi, table: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weights of least mean loss, and slopes that prove it.

    Parameters
    ----------
    phi
        The losses at ``table @ weights``; its slopes are updated in place.
    table
        The matrix A, scaled so that its entries are about one.
    weights
        The weights to start from: positive, with sum one.
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
    """The current point of the method: the weights w, the slopes of phi, z and lambda."""

    def __init__(self, phi: Phi, table: Floats, weights: Floats) -> None:
        self.phi, self.table, self.w = phi, table, weights
        self.pull = phi.slopes @ table / len(table)
        self.multiplier = float(self.pull.min()) - 1.0
        self.z = self.pull - self.multiplier

    def bounds(self) -> tuple[float, float]:
        """Return the loss at this point, and a lower bound on the least loss."""
        loss = self.phi.value(self.table @ self.w / self.w.sum()).mean()
        return float(loss), float(self.pull.min() - self.phi.conjugate(self.phi.slopes).mean())

    def advance(self) -> None:
        """Make a step."""
        v = self.table @ self.w
        rate, _ = self.phi.newton(v, 0.0, [])
        solve = _solver(self.table, rate, self.z / self.w)
        ones = solve(np.ones_like(self.w))
        # A trial step with mu = 0: the length of that step chooses the next mu.
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
        """Return the changes of w, z and the pairs of phi, of the slopes, and of lambda.

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
        """Return the mean after a step of the products that must vanish at the optimum."""
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
    # As many equations as rows, by Woodbury's formula: faster, but less exact.
    free = table / ratio
    matrix = free @ table.T
    matrix.flat[:: rows + 1] += rows / rate
    return lambda b: b / ratio - np.linalg.solve(matrix, free @ b) @ free


def _longest(pairs: list[Pair]) -> float:
    """Return the length of the step at which the first number becomes zero."""
    most = np.inf
    for x, dx, y, dy in pairs:
        for value, change in ((x, dx), (y, dy)):
            most = min(most, float(np.where(change < 0.0, -value / change, np.inf).min()))
    return most
