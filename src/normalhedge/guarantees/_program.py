r"""The one-step program: how far Nature can raise the average potential in one round.

Let ``h = sqrt(alpha)``, ``y = (1-alpha) x + h r`` and ``u(x) = exp(-x^2/2c)``. If for every gain m
of the hedger there are two numbers ``a <= 1`` and ``b`` with

.. math:: e^{(y^2 - x^2)/2c} - 1 \le a (B u(x) - 1) + b\, x r / c
          \qquad (0 \le x \le x_{max},\; r = 1-m \text{ and } r = -1-m),

where ``Phi(x_max) = N B - N + 1``, then the average potential never exceeds B. (The multipliers of
the dual are ``lambda0 = a B``, ``kappa = -a`` and ``lambda1 = b``; both sides are divided by
Phi(x); and ``[y]+^2`` is replaced by ``y^2``, which is not smaller. See docs/certificates.md.)

The terms of order h cancel. With ``a = alpha A``, ``b = h (1 + h beta)``, divided by alpha:

.. math:: s + t^2 \phi(h t) \le A (B u - 1) + \beta\, x r / c, \qquad
          \phi(z) = (e^z - 1 - z)/z^2,

with ``s = (r^2 - 2 h r x - (2-alpha) x^2)/2c`` and ``t = x r/c + h s``. This has a limit as
alpha -> 0: put h = 0, ``phi(0) = 1/2``.

**Outcomes that come d rounds late.** Then the hedger played weights of earlier regrets, and
``x r / c`` on the right becomes ``psi r``, where ``psi = Phi'(x') / Phi(x)`` and x' is the regret
when the round was played. In the d rounds since, it was discounted and moved by at most ``h Xi``,
``Xi = 2 (1 - (1-alpha)^d) / alpha``. If ``b >= 0``, the smallest psi is the worst where r > 0, the
largest where r < 0; so beta is at least ``-1/h``.

For a given A the inequality is an upper limit on beta from each x with r < 0 and a lower limit from
each x with r > 0. Their difference is concave in A, so two lines, one rising and one falling, close
in on its maximum: a few evaluations on a grid solve the program in two unknowns.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._bounds import scaled_limit

LARGEST_POTENTIAL = 1e10
"""The search for a bound on the average potential gives up beyond this."""

FLAT = 1e-13
"""The search for the maximum ends if it can gain less than this, relatively."""

POSITIVE = 1e-5
"""With a delay, ``1 + h beta`` is at least this, so that digits of beta can be left out."""


def _remainder(z: Floats) -> Floats:
    """Return ``(exp(z) - 1 - z)/z^2``, by its series for small z, where the difference cancels."""
    small = np.abs(z) < 1e-2
    safe = np.where(small, 1.0, z)
    series = 0.5 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z / 720)))
    return np.where(small, series, (np.expm1(safe) - safe) / (safe * safe))


class Point(NamedTuple):
    """The multipliers A and beta, and the width of the interval of beta that is allowed.

    The width is negative if the interval is empty.
    """

    a: float
    beta: float
    room: float


@dataclass(frozen=True, eq=False)
class Program:
    """The inequality on a grid: pairs of x > 0 and h = sqrt(alpha), h = 0 for the limit.

    With a ``delay``, all h are the same and positive.
    """

    c: float
    x: Floats
    h: Floats
    delay: int = 0
    u: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "u", np.exp(-self.x * self.x / (2.0 * self.c)))

    @classmethod
    def on_grid(
        cls, c: float, x_max: float, points: int, roots: Floats, delay: int = 0
    ) -> "Program":
        """Return the program on a grid of x, finer near zero, for each of several h."""
        even, close = np.linspace(0.0, 1.0, points + 1)[1:], np.geomspace(1e-6, 1.0, points // 4)
        x = x_max * np.unique(np.concatenate([even, close]))
        return cls(c, np.tile(x, len(roots)), np.repeat(roots, len(x)), delay)

    def lines(self, up: float, down: float, margin: float = 0.0) -> "Lines":
        """Return the limits on beta for two values of r."""
        x, h, c = self.x, self.h, self.c
        zero, highest = np.zeros(1), self.h.max(keepdims=True)
        rise, fall = self._slopes()
        from_up, from_down = 1.0 / (rise * up), 1.0 / (fall * -down)
        grown_up, grown_down = growth(x, h, up, c), growth(x, h, down, c)
        if self.delay:
            grown_up = grown_up + (x / c - rise) * up / h
            grown_down = grown_down + (x / c - fall) * down / h
        return Lines(
            self,
            from_up,
            from_down,
            (grown_up + margin) * from_up,
            (grown_down + margin) * from_down,
            max(float(growth(zero, highest, r, c)[0]) for r in (up, down)) + margin,
            (POSITIVE - 1.0) / float(highest[0]) if self.delay else -math.inf,
        )

    def _slopes(self) -> tuple[Floats, Floats]:
        """Return psi where r > 0 and where r < 0, but not 0, since it is divided by."""
        if not self.delay:
            return self.x / self.c, self.x / self.c
        x, alpha = self.x, float(self.h[0]) ** 2
        kept = (1.0 - alpha) ** self.delay
        move = self.h * (2.0 * (1.0 - kept) / alpha)  # h Xi
        before = np.maximum(x - move, 0.0) / kept, (x + move) / kept
        rise, fall = (y / self.c * np.exp((y - x) * (y + x) / (2.0 * self.c)) for y in before)
        return np.maximum(rise, 1e-9), fall


Grid = Callable[[float, int], Program]
"""The program on a grid, given an average potential, which limits x, and the number of points."""


def growth(x: Floats, h: Floats | float, r: Floats | float, c: float) -> Floats:
    """Return ``s + t^2 phi(h t)``: the growth of the potential beyond the first order."""
    s = (r * r - 2.0 * h * r * x - (2.0 - h * h) * x * x) / (2.0 * c)
    t = x * r / c + h * s
    values: Floats = s + t * t * _remainder(h * t)
    return values


@dataclass(frozen=True, eq=False)
class Lines:
    """The limits on beta as linear functions of A, for one pair of values of r."""

    program: Program
    from_up: Floats
    from_down: Floats
    floor: Floats
    ceiling: Floats
    zero: float
    least: float  # the smallest beta that is allowed, whatever A is

    def solve(self, potential: float, guess: float | None = None) -> Point:
        """Return the A with the most room for beta, or the first one found with room."""
        pull = potential * self.program.u - 1.0
        rise, fall = pull * self.from_down, pull * self.from_up
        low = self.zero / max(potential - 1.0, 1e-300)  # from x = 0
        high = 1.0 / max(float(self.program.h.max()) ** 2, 1e-12)  # kappa >= -1
        if low > high:
            return Point(high, 0.0, -math.inf)
        sides: dict[bool, tuple[float, float]] = {}
        best = Point(low, 0.0, -math.inf)
        trials = [low, high] if guess is None else [min(max(guess, low), high), low, high]
        for _ in range(100):
            a = trials.pop(0) if trials else _crossing(*sides[True], *sides[False])
            upper, lower = a * rise - self.ceiling, self.floor - a * fall
            i, j = int(upper.argmin()), int(lower.argmax())
            lowest, tilt, base = lower[j], fall[j], self.floor[j]
            if lowest < self.least:
                lowest, tilt, base = self.least, 0.0, self.least
            if upper[i] - lowest > best.room:
                best = Point(a, float(upper[i] + lowest) / 2.0, float(upper[i] - lowest))
            slope = float(rise[i] + tilt)
            sides[slope > 0.0] = slope, -float(self.ceiling[i] + base)
            if guess is not None and best.room >= 0.0:
                break
            if trials:
                continue
            if len(sides) == 1:  # the maximum is at an end
                break
            slope, offset = sides[True]
            reachable = slope * _crossing(*sides[True], *sides[False]) + offset
            if reachable <= best.room + FLAT * abs(offset) or (guess is not None and reachable < 0):
                break
        return best

    def smallest_potential(self, at_least: float, guess: float) -> float:
        """Return the smallest B that leaves room for beta."""
        low = high = at_least
        step = max(at_least - 1.0, 1e-9) * 1e-3
        while self.solve(high, guess).room < 0.0:
            low, high = high, high + step
            step *= 2.0
            if high > LARGEST_POTENTIAL:
                return math.inf
        while high - low > max(1e-10 * (high - 1.0), 1e-15):
            middle = 0.5 * (low + high)
            if self.solve(middle, guess).room < 0.0:
                low = middle
            else:
                high = middle
        return high


def _crossing(rise: float, rising_offset: float, fall: float, falling_offset: float) -> float:
    return (falling_offset - rising_offset) / (rise - fall)


def least_potential(grid: Grid, gains: Floats, points: int, *, at_least: float) -> float:
    """Return the smallest B that suffices for all gains of the hedger, or infinity.

    The smallest B grows with x_max, and x_max grows with B. So the search starts from below and
    raises B until it is enough.
    """
    potential, guess = at_least, 1.0
    for _ in range(1000):
        before = potential
        program = grid(potential, points)
        for m in gains:
            lines = program.lines(1.0 - m, -1.0 - m)
            point = lines.solve(potential, guess)
            if point.room < 0.0:
                potential = lines.smallest_potential(potential, point.a)
                if not math.isfinite(potential):
                    return math.inf
                point = lines.solve(potential, point.a)
            guess = point.a
        if potential - before <= 1e-8 * (potential - 1.0):
            return potential
    return math.inf


def bounded_grid(c: float, n_experts: int, rates: Floats, delay: int = 0) -> Grid:
    """Return the programs for at most N experts: x is as large as a potential allows."""

    def program(potential: float, points: int) -> Program:
        x_max = scaled_limit(potential, 1.0 / n_experts, c)
        return Program.on_grid(c, x_max, points, rates, delay)

    return program


def roots(alpha_from: float, alpha: float, count: int = 5) -> Floats:
    """Return a grid of sqrt(alpha)."""
    low, high = math.sqrt(alpha_from), math.sqrt(alpha)
    values: Floats = np.array([high]) if low == high else np.linspace(low, high, count)
    return values
