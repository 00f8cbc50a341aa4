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

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._certificate import (
    COARSE_POINTS,
    LEVELS,
    Multipliers,
    NoCertificate,
    grid_of_gains,
    search,
)
from normalhedge.guarantees._program import Grid, Program

LARGEST_POTENTIAL = 1.5
"""Up to this, ``N B - N + 1 <= N`` for all N >= 2."""

FARTHEST = 1e7
"""The largest x of the grid; `critical_reach` has the inequality at infinity."""


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


def strip_grid(c: float, alpha: float, reach: float, power: int) -> Grid:
    """Return the programs on the strip of ``alpha (ln N)^power``, for any potential."""
    root = math.sqrt(alpha)
    # The largest sqrt(alpha) x^power.
    limit = math.sqrt(2.0 * c * reach) if power == 1 else 2.0 * c * math.sqrt(reach)

    def program(_: float, points: int) -> Program:
        middle, rates = 6.0 * math.sqrt(c), max(points // 40, 5)
        even, close = np.linspace(0.0, middle, points + 1)[1:], np.geomspace(1e-6, 1.0, points // 4)
        near = np.unique(np.concatenate([even, middle * close]))
        far = 1.0 / np.geomspace(1.0 / FARTHEST, 1.0 / middle, points // 4)
        x, h = [], []
        for part, count in ((near, rates), (far, 5 * rates)):
            # For each x the rates go up to the edge of the strip.
            highest = np.minimum(root, limit / part**power)
            x.append(np.repeat(part, count))
            h.append(np.outer(highest, np.linspace(0.0, 1.0, count)).ravel())
        return Program(c, np.concatenate(x), np.concatenate(h))

    return program


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
        As for `Certificate`.
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
        """The settings of the claim; its potential is not among them."""
        return {"alpha": self.alpha, "reach": self.reach, "power": self.power, "c": self.c}

    def largest_log_n(self, alpha: float) -> float:
        """Return the largest ln N that is covered at a rate."""
        alpha = inputs.number("alpha", alpha, 0.0, self.alpha, closed=True)
        return float((self.reach / alpha) ** (1.0 / self.power))

    def grid(self, potential: float, finer: int) -> Program:
        """Return the inequality on a grid from which a proof is drafted.

        Parameters
        ----------
        potential, finer
            As for `Certificate.grid`.
        """
        reach = self.reach * (1.0 + 1e-12)
        return strip_grid(self.c, self.alpha, reach, self.power)(potential, 600 * finer)


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
        As for `certify`.

    Raises
    ------
    NoCertificate
        If no potential up to 1.5 will do; see `critical_reach`.

    Examples
    --------
    >>> certificate = certify_every(alpha=0.1, reach=0.23, c=4.0)
    >>> round(certificate.potential, 3), round(certificate.largest_log_n(0.001))
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
        advice = "there is none for c < 2" if c < 2.0 else f"reach must be less than {limit:.4g}"
        advice = "try power=2" if c == 2.0 else advice
        raise NoCertificate(
            f"no certificate of one round covers every number of experts at c={c:g}: {advice}"
        )
    _, potential, error, worst, multipliers = search(
        strip_grid(c, alpha, reach, power),
        COARSE_POINTS // 2,
        LEVELS - 2,
        tolerance,
        f"no bound up to {LARGEST_POTENTIAL} on the average potential was found for every "
        f"number of experts, alpha={alpha:g} and c={c:g}: try a smaller reach",
        gains_of=_gains,
        largest=LARGEST_POTENTIAL,
    )
    return EveryCertificate(alpha, reach, power, c, potential, error, worst, multipliers)


def _gains(cells: int, near: float) -> Floats:
    """Return a grid of gains that is also finer towards -1 and 1, where large x matter."""
    close = 1.0 - np.geomspace(1e-6, 0.1, 16)
    gains: Floats = np.unique(np.concatenate([grid_of_gains(cells, near), close, -close]))
    return gains
