r"""Certificates whose multipliers know the leader: smaller than certificates of one round.

`certify` asks how far one round can raise the average potential, for any shares of experts at any
regrets. That is too generous in two ways, and both can be mended.

*Whole experts.* Nature's best move there has a fraction of one expert far ahead of all others. Let
the multipliers depend on X, the largest scaled regret. Then one whole expert is at X, and no other
is above it: the leader's inequality has a level of its own.

*What rises must fall.* A round in which the leader falls gains more than one in which it rises, and
no expert falls for ever. So measure regrets by a function that takes it into account,

.. math:: W(x) = \Phi(x)\,(1 + \alpha k [x]_+^2) ,

with a number ``k``, the *bend*. If for every X and every gain m there are A, beta and a level L
with

.. math::

    e^{y^2/2c} (1 + \alpha k y^2) - W(x) &\le \alpha\,(L - A\,W(x)) + \lambda_1 \Phi'(x)\, r
        && (0 \le x \le X), \\
    e^{y^2/2c} (1 + \alpha k y^2) - W(X) &\le \alpha\,(N A B - (N-1) L - A\,W(X))
        + \lambda_1 \Phi'(X)\, r ,

for r = 1-m and r = -1-m, then the sum of W stays below N B: add the second for the leader to the
first for all others. See docs/certificates.md. For a given k this is a linear program in A, L and
beta for each pair of X and m.
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import extras, inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._bounds import scaled_limit
from normalhedge.guarantees._certificate import EDGE, NoCertificate, none_found, quick_potential
from normalhedge.guarantees._program import LARGEST_POTENTIAL, growth
from normalhedge.guarantees._small_programs import largest_margins

POINTS = 160
"""The number of points of the grid of x. A quarter as many are added near the leader, and a
sixteenth in an interval of leaders."""

GAINS, LEADERS = 33, 17
"""The sizes of the grids of m and of X."""

RATES = 4
"""The number of rates of the grid, for a range of them."""

NARROWED = 12
"""The number of pairs of X and m around which the smallest margin is looked for."""

LARGEST_MARGIN, LARGEST_MULTIPLIER = 1.0, 1e5
"""Margins, and multipliers other than A, are not looked for beyond this."""

LARGEST_BEND = 3.0
"""The largest bend that is tried, in units of 1/c."""


class LedMultipliers(NamedTuple):
    """Solutions for intervals of leaders and intervals of gains; negative margin: none."""

    a: Floats
    beta: Floats
    level: Floats
    margin: Floats


@dataclass(frozen=True)
class LedCertificate:
    """A numerical bound on the average potential, with multipliers that know the leader.

    Attributes
    ----------
    alpha_from, alpha
        The smallest and the largest discount rate.
    c
        The constant of NormalHedge.
    n_experts
        The number N of experts; those who have not joined count with a regret of 0.
    potential
        C, the smallest B that was found.
    bend
        The number k of the function W.
    error
        How far the search for C went, about; it goes in steps.
    """

    alpha_from: float
    alpha: float
    n_experts: int
    c: float
    potential: float
    bend: float
    error: float = 0.0

    @property
    def scaled_regret(self) -> float:
        """The largest possible ``sqrt(alpha) R_i``."""
        return scaled_limit(self.potential, 1.0 / self.n_experts, self.c)

    @property
    def claim(self) -> dict[str, float | int]:
        """The settings of the claim; its potential is not among them."""
        names = ("alpha_from", "alpha", "n_experts", "c", "bend")
        return {name: getattr(self, name) for name in names}

    def program(self, potential: float, points: int = POINTS) -> "LedProgram":
        """Return the inequalities on a grid.

        Parameters
        ----------
        potential
            B.
        points
            The number of points of the grid of x.
        """
        return LedProgram(self, potential, points)


@dataclass(frozen=True)
class LedProgram:
    """The two inequalities on a grid of x, for the settings of a certificate."""

    settings: LedCertificate
    potential: float  # B, for the average of W
    points: int

    @property
    def x_max(self) -> float:
        """The largest scaled regret that B allows."""
        return scaled_limit(self.potential, 1.0 / self.settings.n_experts, self.settings.c)

    def solve(self, leaders: Floats, gains: Floats) -> LedMultipliers:
        """Return the multipliers with the largest margins."""
        settings, first, last = self.settings, leaders[:, :1], leaders[:, 1:]
        close = 1.0 - np.geomspace(1e-3, 0.1, self.points // 4)
        x = last * np.union1d(np.linspace(0.0, 1.0, self.points + 1), close)
        points = self.points // 16 if np.any(first < last) else 1
        tops = first + (last - first) * np.linspace(0.0, 1.0, points)
        rows, needs = [], []
        up, down = np.maximum(1.0 - gains[:, :1], EDGE), np.minimum(-1.0 - gains[:, 1:], -EDGE)
        ends = math.sqrt(settings.alpha_from), math.sqrt(settings.alpha)
        roots, part = np.unique(np.linspace(*ends, RATES)), 1.0 / math.sqrt(settings.n_experts)
        for h, r, (at, leads) in itertools.product(roots, (up, down), ((x, False), (tops, True))):
            # The level is A B + B l / sqrt N: so the numbers stay of moderate size for any N.
            shares = self.potential * np.exp(-at * at / (2.0 * settings.c))
            before = 1.0 + settings.bend * (h * at) ** 2
            share = (1 - settings.n_experts) * part if leads else part
            rows.append(np.stack([shares - before, share * shares, at * r / settings.c], axis=2))
            needs.append(self._growth(at, float(h), r))
        most = LARGEST_MULTIPLIER
        limits = np.array([(0.0, 1.0 / settings.alpha), (-most, most), (-most, most)])
        matrix, right = np.concatenate(rows, axis=1), np.concatenate(needs, axis=1)
        variables, margins = largest_margins(matrix, right, limits, LARGEST_MARGIN)
        a, more, beta = variables.T
        return LedMultipliers(a, beta, self.potential * (a + part * more), margins)

    def margins(self, leaders: Floats, gains: Floats) -> Floats:
        """Return the largest margins for pairs of a leader and a gain."""
        return self.solve(
            *(np.stack([values, values], axis=1) for values in (leaders, gains))
        ).margin

    def worst(self) -> tuple[float, float, float]:
        """Return the smallest margin on grids of X and m, and X and m where it is."""
        shares = 1.0 - 0.9 * np.linspace(0.0, 1.0, LEADERS)[:-1] ** 2
        pairs = np.array(list(itertools.product(shares, np.linspace(-1.0, 1.0, GAINS)[1:-1])))
        margins = self.margins(pairs[:, 0] * self.x_max, pairs[:, 1])
        places = pairs[margins.argsort()[:NARROWED]]
        around = np.array(list(itertools.product((0.0, -1.0, 1.0), repeat=2)))
        step = np.array([1.0 / LEADERS, 2.0 / GAINS])
        for _ in range(5):  # between the points of the grids
            step = 0.5 * step
            near = places[:, None] + around * step
            near = np.clip(near, (0.0, EDGE - 1.0), (1.0, 1.0 - EDGE))
            margins = self.margins(near[..., 0].ravel() * self.x_max, near[..., 1].ravel())
            margins = margins.reshape(near.shape[:2])
            places = near[np.arange(len(near)), margins.argmin(axis=1)]
        margins = margins.min(axis=1)
        least = int(margins.argmin())
        share, gain = places[least]
        return float(margins[least]), float(share * self.x_max), float(gain)

    def _growth(self, x: Floats, h: float, r: Floats) -> Floats:
        """Return how much W grows beyond the first order, divided by ``alpha Phi(x)``."""
        c, bend, y = self.settings.c, self.settings.bend, (1.0 - h * h) * x + h * r
        grown = growth(x, h, r, c) * (1.0 + bend * (h * y) ** 2)
        values: Floats = grown + bend * (h * y * y * x * r / c + (y - x) * (y + x))
        return values


def certify_led(
    alpha: float,
    n_experts: int,
    c: float,
    *,
    alpha_from: float | None = None,
    tolerance: float = 1e-3,
) -> LedCertificate:
    """Find a bound on the average potential with multipliers that know the leader.

    It is worth its time, about half a minute, where c is below 1: there one round alone allows much
    more than any attack reaches. The bend is searched for; B is the smallest for which the
    margin is positive on grids of X and m.

    Parameters
    ----------
    alpha, n_experts, c, alpha_from
        As for `certify`.
    tolerance
        The search ends if B - 1 changes by less than this part.

    Raises
    ------
    NoCertificate
        If no B is found.

    Examples
    --------
    >>> 3.4 < certify_led(0.01, 10, 0.7, tolerance=0.01).potential < 3.6
    True
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    n_experts = max(inputs.count("n_experts", n_experts), 2)
    c = inputs.number("c", c, 1e-3, 1e3, closed=True)
    if alpha_from is None:
        alpha_from = alpha
    alpha_from = inputs.number("alpha_from", alpha_from, 0.0, alpha, closed=True)
    tolerance = inputs.number("tolerance", tolerance, 1e-6, 1.0)
    start = min(2.0 * quick_potential(alpha, n_experts, c), LARGEST_POTENTIAL)
    certificate = _choose_bend(LedCertificate(alpha_from, alpha, n_experts, c, start, 0.0))
    before = math.inf
    while certificate.potential - 1.0 < (before - 1.0) * (1.0 - tolerance):
        before = certificate.potential
        certificate = _choose_bend(_lower(certificate, tolerance / 4.0))
    if certificate.program(certificate.potential).worst()[0] < 0.0:
        raise NoCertificate(none_found(alpha, n_experts, c))
    return replace(certificate, error=tolerance * (certificate.potential - 1.0))


def _lower(certificate: LedCertificate, tolerance: float) -> LedCertificate:
    """Return the certificate with the smallest B for its bend, to a part of B - 1."""
    low, high = math.log(tolerance), math.log(certificate.potential - 1.0)
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        if certificate.program(1.0 + math.exp(middle)).worst()[0] >= 0.0:
            high = middle
        else:
            low = middle
    return replace(certificate, potential=1.0 + math.exp(high))


def _choose_bend(certificate: LedCertificate) -> LedCertificate:
    """Return the certificate with the bend that leaves the largest margin."""
    optimize = extras.require("scipy.optimize")

    def loss(bend: float) -> float:
        return -replace(certificate, bend=bend).program(certificate.potential).worst()[0]

    most = LARGEST_BEND / certificate.c
    best = optimize.minimize_scalar(loss, bounds=(0.0, most), options={"xatol": 0.01 * most})
    bend = float(f"{best.x:.3g}")
    improves = loss(bend) < loss(certificate.bend)
    return replace(certificate, bend=bend) if improves else certificate
