"""An interior-point method for fixed weights of least mean loss.

    minimise  f(w) = mean_j phi_j(v_j),   v = A w,   over weights w >= 0 that sum to one

A convex phi lies above its tangents: ``phi(v) >= phi(u) + s (v - u)`` with a slope s of phi at u.
So a slope s_j for each row, and the height ``phi*_j = s_j u_j - phi_j(u_j)``, prove a lower bound:

    f(w) >= min_i mean_j s_j A_ji - mean_j phi*_j     for all weights w

It needs the values and the slopes of the loss and nothing more, and it is true whatever the method
does. Newton's method finds weights and slopes together. It solves the conditions of optimality,
with the products that must vanish at the optimum set to some mu > 0:

    mean_j s_j A_ji = lambda + z_i,   w_i z_i = mu / N,   s_j a slope of phi_j at v_j

The predictor and the corrector of Mehrotra (1992) choose how fast mu falls. A step solves as many
linear equations as there are experts, or rows if there are far fewer rows; 10 to 60 steps suffice.

There are two kinds of phi. If a loss has a slope everywhere, `Smooth` needs its values and slopes
alone. At a kink every slope between two others is one, and Newton's method must choose: `Kinked` is
for losses that are linear on both sides of one kink, which may be rounded. (Frank-Wolfe's method
needs only slopes, too, but a kink does not tell it which, and without kinks it takes hundreds of
steps: see ``benchmarks/best_convex.py``.)
"""

import contextlib
from collections.abc import Callable

import numpy as np

from normalhedge.boundary.inputs import Floats

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
"""With at most this many experts, each equation is an expert's, even if rows are fewer."""

HALVES = 3
"""How often a step is halved before the next one measures slopes again."""

CLOSE = 1e-6
"""The rate at which slopes change is measured over the last change of the forecast and this share
of the range of forecasts."""

Rowwise = Callable[[Floats], Floats]
"""A function of a number for each row."""

Pair = tuple[Floats, Floats, Floats, Floats]
"""Two arrays of positive numbers, each followed by its change in a step."""


class Phi:
    """The losses of the rows, and the current slopes of the method."""

    slopes: Floats

    def value(self, v: Floats) -> Floats:
        """Return phi(v)."""
        raise NotImplementedError

    def slope(self, v: Floats) -> Floats:
        """Return a slope of phi at v."""
        raise NotImplementedError

    def heights(self, v: Floats) -> Floats:
        """Return phi* of the current slopes, which are slopes at v or at a kink."""
        return self.slopes * v - self.value(v)

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        """Return D and c of the linear equation ``ds = D dv + c``."""
        raise NotImplementedError

    def pairs(self, ds: Floats) -> list[Pair]:
        """Return further pairs of positive numbers, whose products must vanish at the optimum."""
        del ds
        return []

    def shorten(self, step: float, v: Floats, dv: Floats) -> float:
        """Return the length of a step, shorter where slopes rise much faster than D says."""
        del v, dv
        return step

    def move(self, v: Floats, ds: Floats) -> None:
        """Replace the slopes after a step."""
        raise NotImplementedError


class Smooth(Phi):
    """A loss with a slope everywhere, given its values and slopes."""

    def __init__(
        self, v: Floats, value: Rowwise, slope: Rowwise, low: Floats, high: Floats
    ) -> None:
        self.value, self.slope = value, slope  # type: ignore[assignment]
        self.low, self.high = low, high
        self._v, self._moved = v, high - low
        self.slopes = slope(v)

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        del mu, second
        # How fast do the slopes change near v?
        near = self._moved + CLOSE * np.minimum(self.high - self.low, 1.0)
        a, b = np.maximum(v - near, self.low), np.minimum(v + near, self.high)
        rise, run = self.slope(b) - self.slope(a), b - a
        rates = np.maximum(rise, 0.0) / np.where(run > 0.0, run, np.inf)
        return rates, self.slope(v) - self.slopes

    def shorten(self, step: float, v: Floats, dv: Floats) -> float:
        rates, _ = self.newton(v, 0.0, [])
        start, rise = self.slopes @ dv, 2.0 * (rates * dv) @ dv
        for _ in range(HALVES):
            if self.slope(v + step * dv) @ dv <= start + step * rise:
                break
            step *= 0.5
        return step

    def move(self, v: Floats, ds: Floats) -> None:
        del ds
        self._moved, self._v = np.abs(v - self._v), v
        self.slopes = self.slope(v)


class Kinked(Phi):
    """phi(v) is the largest s v - soft s^2 / 2 of the slopes s between -low and high.

    So phi*(s) = soft s^2 / 2, and with a soft of 0 phi(v) = high v where v > 0, else -low v.

    v = soft s + over - under, over (high - s) = mu, under (s + low) = mu.
    """

    def __init__(self, v: Floats, low: Floats, high: Floats, soft: float = 0.0) -> None:
        self.low, self.high, self.soft = low, high, soft
        self.slopes = np.zeros_like(v)
        size = np.abs(v).mean() + 1e-300
        self._over, self._under = np.maximum(v, 0.0) + size, np.maximum(-v, 0.0) + size

    def value(self, v: Floats) -> Floats:
        s = self.slope(v)
        return s * v - 0.5 * self.soft * s * s

    def slope(self, v: Floats) -> Floats:
        if self.soft:
            return np.clip(v / self.soft, -self.low, self.high)
        return np.where(v > 0.0, self.high, np.where(v < 0.0, -self.low, 0.0))

    def heights(self, v: Floats) -> Floats:
        del v
        return 0.5 * self.soft * np.square(self.slopes)

    def newton(self, v: Floats, mu: float, second: list[Floats]) -> tuple[Floats, Floats]:
        # Solve the equations of the pairs for ds.
        over, under = second or (0.0, 0.0)
        self._left, self._right = self.slopes + self.low, self.high - self.slopes
        self._rise = (mu - over) / self._right - self._over
        self._fall = (mu - under) / self._left - self._under
        rate = 1.0 / (self.soft + self._over / self._right + self._under / self._left)
        rest = v - self.soft * self.slopes
        return rate, rate * (rest - self._over + self._under - self._rise + self._fall)

    def pairs(self, ds: Floats) -> list[Pair]:
        over = self._rise + self._over / self._right * ds
        under = self._fall - self._under / self._left * ds
        return [(self._over, over, self._right, -ds), (self._under, under, self._left, ds)]

    def move(self, v: Floats, ds: Floats) -> None:
        del v
        self.slopes += ds


def minimise(phi: Phi, table: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weights of least mean loss, and slopes that prove it."""
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
        v = self.table @ self.w / self.w.sum()
        loss = self.phi.value(v).mean()
        return float(loss), float(self.pull.min() - self.phi.heights(v).mean())

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
        step = self.phi.shorten(min(FIRM * _longest(pairs), 1.0), v, self.table @ pairs[0][1])
        for x, dx, y, dy in pairs:
            np.add(x, step * dx, out=x)
            np.add(y, step * dy, out=y)
        self.phi.move(self.table @ self.w / self.w.sum(), step * ds)
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
        return [(w, dw, z, aim - z / w * dw), *self.phi.pairs(ds)], ds, change

    def _mean_product(self, pairs: list[Pair], step: float) -> float:
        """Return the mean after a step of the products that must vanish at the optimum."""
        means = [((x + step * dx) * (y + step * dy)).mean() for x, dx, y, dy in pairs]
        return float((means[0] * len(self.w) + sum(means[1:])) / len(means))


def _solver(table: Floats, rate: Floats, ratio: Floats) -> Callable[[Floats], Floats]:
    """Return a function that solves ``(A' diag(D) A / T + diag(z / w)) x = b``."""
    rows, n = table.shape
    if rows >= n or n <= FEW:
        matrix = (table.T * (rate / rows)) @ table
        matrix.flat[:: n + 1] += ratio
        return _scaled_solver(matrix)
    # As many equations as rows, by Woodbury's formula: faster, but less exact.
    free = table / ratio
    matrix = free @ table.T
    matrix.flat[:: rows + 1] += rows / np.maximum(rate, 1e-200)
    solve = _scaled_solver(matrix)
    return lambda b: b / ratio - solve(free @ b) @ free


def _scaled_solver(matrix: Floats) -> Callable[[Floats], Floats]:
    """Return a function that solves equations with a matrix, scaled to a diagonal of ones."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix *= scale * scale[:, np.newaxis]
    return lambda b: scale * np.linalg.solve(matrix, scale * b)


def _longest(pairs: list[Pair]) -> float:
    """Return the length of the step at which the first number becomes zero."""
    most = np.inf
    for x, dx, y, dy in pairs:
        for value, change in ((x, dx), (y, dy)):
            most = min(most, float(np.where(change < 0.0, -value / change, np.inf).min()))
    return most
