r"""Certificates for every number of experts: the rate need only decrease with the logarithm of N.

The largest scaled regret is at most ``sqrt(2 c ln N)`` if the average potential is at most 3/2. So
where ``alpha ln N <= reach`` the product ``z = sqrt(alpha) x`` stays below ``sqrt(2 c reach)``,
however large N is, and the one-step inequality (see `program`) need only hold on that strip. For
large x it says, after division by x^2,

.. math:: \frac{e^w - 1 - w}{z^2} \le \frac1c, \qquad w = \frac{z (r - z)}{c},

for every r from -2 to 2. The worst is r = -2, and it holds up to the z of `critical_reach`. At
c = 2 it fails for every z > 0, but then ``alpha (ln N)^2 <= reach`` will do: ``power=2``.
docs/certificates.md has the proofs.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._certificate import (
    COARSE_GAINS,
    COARSE_POINTS,
    LEVELS,
    Multipliers,
    NoCertificate,
    below,
    dual,
    grid_of_gains,
    worst_gain,
)
from normalhedge.guarantees._program import Program, Setting, roots

LARGEST_POTENTIAL = 1.5
"""Up to this, ``N B - N + 1 <= N`` for all N >= 2."""

FARTHEST = 1e7
"""The largest x of the grid; at infinity the inequality is that of `critical_reach`."""


def critical_reach(c: float) -> float:
    r"""Return the largest ``alpha ln N`` up to which one round is favourable, as alpha -> 0.

    It is ``z^2 / 2c`` for the positive root z of ``2 z / c = 1 - exp(-z (2 + z) / c)``, and 0 where
    there is none, for c <= 2.

    Examples
    --------
    >>> round(critical_reach(4.0), 4), critical_reach(2.0)
    (0.2338, 0.0)
    """
    c = inputs.number("c", c, 1e-3, 1e3, closed=True)
    if c <= 2.0:
        return 0.0
    low, high = 0.0, c
    while high - low > 1e-15 * c:
        z = 0.5 * (low + high)
        if 2.0 * z / c < -math.expm1(-z * (2.0 + z) / c):
            low = z
        else:
            high = z
        if z in {low, high} and 0.5 * (low + high) == z:
            break
    return low * low / (2.0 * c)


class PotentialGrowth(NamedTuple):
    """How the largest average potential grows with N, as alpha -> 0, where 1/2 < c < 2.

    Attributes
    ----------
    exponent
        It grows as N to this power.
    kappa
        The regret of the others, relative to that of the leader, when Nature has come to rest.
    share
        The weight at which Nature holds the leader.
    """

    exponent: float
    kappa: float
    share: float

    def lower_bound(self, n_experts: int) -> float:
        """Return what Nature can force with N experts, in the limit alpha -> 0."""
        n, q = float(inputs.count("n_experts", n_experts)), self.share
        held = self.kappa * q / (1.0 - q)
        grown = math.exp(self.exponent * max(math.log(held * (n - 1.0)), 0.0)) if n > 1.0 else 1.0
        return (1.0 - 1.0 / n) * (1.0 + held) * grown


def growth_exponent(c: float) -> PotentialGrowth:
    r"""Return how fast the average potential grows with N, for 1/2 < c < 2.

    .. math:: \kappa = \max_q \frac{q\,(2(1-q)^2/c - 1)}{(1-q)(1 - 2q^2/c)},
              \qquad \Psi = N^{\kappa^2/(1-\kappa^2) + o(1)}.

    Examples
    --------
    >>> round(growth_exponent(0.6).exponent, 4), round(growth_exponent(1.0).exponent, 5)
    (0.1773, 0.00686)
    """
    c = inputs.number("c", c, 0.5, 2.0)
    low, high = 0.0, 1.0 - math.sqrt(c / 2.0)  # where 2 (1-q)^2 > c
    for _ in range(4):
        q = np.linspace(low, high, 2001)[1:-1]
        kappa = q * (2.0 * (1.0 - q) ** 2 / c - 1.0) / ((1.0 - q) * (1.0 - 2.0 * q * q / c))
        best = int(kappa.argmax())
        low, high = float(q[max(best - 1, 0)]), float(q[min(best + 1, len(q) - 1)])
    top = float(kappa[best])
    return PotentialGrowth(top * top / (1.0 - top * top), top, float(q[best]))


@dataclass(frozen=True, eq=False)
class Strip(Setting):
    """The settings: c, the largest sqrt(alpha), and the limit of ``alpha (ln N)^power``."""

    root: float
    reach: float
    power: int

    @property
    def limit(self) -> float:
        """The largest ``sqrt(alpha) x^power``."""
        if self.power == 1:
            return math.sqrt(2.0 * self.c * self.reach)
        return 2.0 * self.c * math.sqrt(self.reach)

    def program(self, potential: float, points: int) -> Program:
        """Return the program on a grid of the strip, which does not depend on the potential."""
        del potential
        middle, rates = 6.0 * math.sqrt(self.c), max(points // 40, 5)
        even, close = np.linspace(0.0, middle, points + 1)[1:], np.geomspace(1e-6, 1.0, points // 4)
        near = np.unique(np.concatenate([even, middle * close]))
        far = 1.0 / np.geomspace(1.0 / FARTHEST, 1.0 / middle, points // 4)
        x, h = [], []
        for part, share in (
            (near, np.linspace(0.0, 1.0, rates)),
            (far, np.linspace(0, 1, 5 * rates)),
        ):
            # For each x the rates go up to the edge of the strip.
            highest = np.minimum(self.root, self.limit / part**self.power)
            x.append(np.repeat(part, len(share)))
            h.append(np.outer(highest, share).ravel())
        return Program(self.c, np.concatenate(x), np.concatenate(h))


@dataclass(frozen=True)
class EveryCertificate:
    """A numerical bound on the average potential of NormalHedge for every number of experts.

    The average potential never exceeds ``potential``, up to rounding and the error of grids, at
    every rate up to ``alpha`` and for every N with ``alpha (ln N)^power <= reach``. It is not a
    proof; `prove` makes one.

    Attributes
    ----------
    alpha
        The largest discount rate.
    reach, power
        The limit of ``alpha (ln N)^power``.
    c
        The c of NormalHedge.
    potential, error, worst_gain, multipliers
        As those of `Certificate`.
    """

    alpha: float
    reach: float
    power: int
    c: float
    potential: float
    error: float
    worst_gain: float
    multipliers: tuple[Multipliers, ...] = field(repr=False)

    @property
    def claim(self) -> dict[str, float | int]:
        """What is claimed, without the potential."""
        return {"alpha": self.alpha, "reach": self.reach, "power": self.power, "c": self.c}

    def largest_log_n(self, alpha: float) -> float:
        """Return the largest ln N that is covered at a rate."""
        alpha = inputs.number("alpha", alpha, 0.0, self.alpha, closed=True)
        return float((self.reach / alpha) ** (1.0 / self.power))

    def grid(self, potential: float, finer: int) -> Program:
        """Return the inequality on a grid from which a proof is drafted.

        Parameters
        ----------
        potential
            The average potential B.
        finer
            How many times finer than usual.
        """
        strip = Strip(self.c, math.sqrt(self.alpha), self.reach * (1.0 + 1e-12), self.power)
        return strip.program(potential, 600 * finer)


def certify_every(
    alpha: float, reach: float, c: float, *, power: int = 1, tolerance: float = 1e-5
) -> EveryCertificate:
    """Find the smallest average potential that NormalHedge never exceeds, for every N.

    Parameters
    ----------
    alpha
        The largest discount rate.
    reach
        The certificate is for every rate up to alpha, and every N with
        ``alpha (ln N)^power <= reach``.
    c
        The c of NormalHedge; more than 2 for power 1, at least 2 for power 2.
    power
        1 or 2.
    tolerance
        The grids are refined until C changes by less than this, relative to C.

    Raises
    ------
    NoCertificate
        If no potential up to 1.5 will do; see `critical_reach`.

    Examples
    --------
    >>> found = certify_every(alpha=0.1, reach=0.23, c=4.0)
    >>> round(found.potential, 3), round(found.largest_log_n(0.001))
    (1.172, 230)
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    reach = inputs.number("reach", reach, 0.0, 100.0, closed=True)
    c = inputs.number("c", c, 1e-3, 1e3, closed=True)
    tolerance = inputs.number("tolerance", tolerance, 1e-8, 1.0)
    if power not in {1, 2}:
        raise ValueError(f"power must be 1 or 2, got {power!r}")
    limit = critical_reach(c)
    if (power == 1 and reach >= limit) or c < 2.0:
        advice = (
            "try power=2"
            if c == 2.0
            else "there is none for c < 2"
            if c < 2.0
            else (f"reach must be less than {limit:.4g}")
        )
        raise NoCertificate(
            f"no certificate of one round covers every number of experts at c={c:g}: {advice}"
        )
    setting = Strip(c, float(roots(alpha, alpha)[0]), reach, power)
    potential, worst, error = 1.0, 0.0, math.inf
    for level in range(LEVELS - 2):
        gains = _gains(COARSE_GAINS * 2**level, worst)
        points, before = COARSE_POINTS // 2 * 2**level, potential
        potential = setting.least_potential(gains, points, at_least=below(before))
        if not potential <= LARGEST_POTENTIAL:
            raise NoCertificate(
                f"no bound up to {LARGEST_POTENTIAL} on the average potential was found for every "
                f"number of experts, alpha={alpha:g} and c={c:g}: try a smaller reach"
            )
        program = setting.program(potential, points)
        worst = worst_gain(program, gains, potential)
        error = abs(potential - before)
        if error <= tolerance * potential:
            break
    rows = tuple(dual(program, float(m), potential) for m in _gains(COARSE_GAINS, worst))
    error += 1e-6 * (potential - 1.0)
    return EveryCertificate(alpha, reach, power, c, potential, error, worst, rows)


def _gains(cells: int, near: float) -> Floats:
    """Return a grid of gains that is also finer towards -1 and 1, where large x matter."""
    close = 1.0 - np.geomspace(1e-6, 0.1, 16)
    gains: Floats = np.unique(np.concatenate([grid_of_gains(cells, near), close, -close]))
    return gains
