"""Certificates: the smallest average potential that one round cannot exceed, in floating point."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import extras, inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees._bounds import scaled_limit, share
from normalhedge.guarantees._program import (
    LARGEST_POTENTIAL,
    Grid,
    Program,
    bounded_grid,
    growth,
    least_potential,
    roots,
)

EDGE = 1e-7
"""The grid replaces the gains ±1, at which r = 0 leaves beta free, by gains this close to them."""

COARSE_POINTS, COARSE_GAINS, LEVELS = 500, 64, 6
"""The sizes of the first grids of x and m, and how often both are doubled at most."""

FIRST_POINTS = 1000
"""The number of points of the grid of x from which a proof is first drafted."""


class NoCertificate(ValueError):  # noqa: N818 -- an answer, not a fault
    """No bound on the average potential was found for these settings."""


class Multipliers(NamedTuple):
    """The dual solution for one gain m of the hedger."""

    m: float
    a: float
    beta: float


class Mass(NamedTuple):
    """A share of the experts that all have the scaled regret x and get the same gain, +1 or -1."""

    x: float
    gain: int
    share: float


@dataclass(frozen=True)
class Certificate:
    r"""A numerical bound on the average potential of NormalHedge.

    The average potential never exceeds C = ``potential``, up to rounding and the error of grids.
    Then every ``Phi(x_i) <= N C - N + 1``, since the other experts have at least 1, and

    .. math:: R_i \le \sqrt{2 c \ln(N C - N + 1) / \alpha}, \qquad
              R_\epsilon \le \sqrt{2 c \ln(1 + (C-1)/\epsilon) / \alpha},

    which is better than with ``ln(C N)`` and ``ln(C/epsilon)``. It is not a proof; `prove` makes
    one.

    Attributes
    ----------
    alpha, alpha_from
        The certificate holds for every discount rate from ``alpha_from`` to ``alpha``; 0 stands for
        the limit alpha -> 0.
    n_experts, c
        The largest number of experts, and the c of NormalHedge.
    potential
        C, the smallest B that one round cannot exceed if it starts at or below B.
    error
        The change of C when both grids were last doubled (they approach C from below), plus a
        millionth of ``C - 1`` for the gains ±1, which the grid replaces by close ones.
    worst_gain
        The gain m of the hedger that needs the largest potential.
    worst_measure
        The best move of Nature at that gain: a distribution of the experts that keeps the average
        potential at C.
    multipliers
        The dual on a grid of m, as A and beta: ``lambda0 = alpha A C``, ``kappa = -alpha A`` and
        ``lambda1 = sqrt(alpha) (1 + sqrt(alpha) beta)``.
    delay
        The number of rounds by which every outcome is late.
    """

    alpha: float
    alpha_from: float
    n_experts: int
    c: float
    potential: float
    error: float
    worst_gain: float
    worst_measure: tuple[Mass, ...]
    multipliers: tuple[Multipliers, ...] = field(repr=False)
    delay: int = 0

    @property
    def scaled_regret(self) -> float:
        """The largest possible ``sqrt(alpha) R_i``, for all rates of the certificate."""
        return scaled_limit(self.potential, 1.0 / self.n_experts, self.c)

    @property
    def regret(self) -> float:
        """The largest possible regret, for all rates of the certificate; infinite if one is 0."""
        return self._unscale(self.scaled_regret)

    def quantile(self, epsilon: float) -> float:
        """Return the bound on the regret to the best epsilon-quantile of experts."""
        return self._unscale(scaled_limit(self.potential, share(self.n_experts, epsilon), self.c))

    @property
    def claim(self) -> dict[str, float | int]:
        """The settings of the claim; its potential is not among them."""
        names = ("alpha", "n_experts", "c", "delay" if self.delay else "alpha_from")
        return {name: getattr(self, name) for name in names}

    def grid(self, potential: float, finer: int) -> Program:
        """Return the inequality on a grid from which a proof is drafted.

        Parameters
        ----------
        potential
            The average potential B, which limits x.
        finer
            How many times finer than usual.
        """
        x_max = scaled_limit(potential, 1.0 / self.n_experts, self.c) * (1.0 + 1e-12)
        rates = roots(self.alpha_from, self.alpha, 4 * finer + 1)
        return Program.on_grid(self.c, x_max, FIRST_POINTS * finer, rates, self.delay)

    def _unscale(self, limit: float) -> float:
        if not self.alpha_from:
            return math.inf
        return min(limit / math.sqrt(self.alpha_from), 2.0 / self.alpha_from)


def certify(
    alpha: float,
    n_experts: int,
    c: float,
    *,
    alpha_from: float | None = None,
    delay: int = 0,
    tolerance: float = 1e-5,
) -> Certificate:
    """Find numerically the smallest average potential C that NormalHedge never exceeds.

    C is the smallest B such that, for every gain of the hedger, the one-step program (`program`)
    has a dual solution which shows that the average potential cannot exceed B after the round.

    Parameters
    ----------
    alpha, c
        The settings of NormalHedge.
    n_experts
        The number N of experts that ever take part.
    alpha_from
        The smallest rate, to certify one C for all rates from it to alpha (0: all positive rates),
        with the same A and beta. That C is somewhat larger. None: certify the rate alpha only.
    delay
        The number of rounds by which every outcome is late: when the hedger plays, it does not know
        the outcomes of the last ``delay`` rounds. Only for a single rate, and with a larger c: some
        4 delay + 2.
    tolerance
        The grids are refined until C changes by less than this, relative to C.

    Raises
    ------
    NoCertificate
        If no B is found, as in the limit alpha -> 0 for c <= 1/2.

    Examples
    --------
    >>> certificate = certify(alpha=0.001, n_experts=1000, c=1.0)
    >>> round(certificate.potential, 3), round(certificate.regret, 1)
    (1.651, 113.8)
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    if alpha_from is None:
        alpha_from = alpha
    alpha_from = inputs.number("alpha_from", alpha_from, 0.0, alpha, closed=True)
    delay = inputs.count("delay", delay, least=0)
    if delay and alpha_from != alpha:
        raise ValueError("a certificate with a delay is for one rate: leave alpha_from out")
    return _certify(alpha, alpha_from, n_experts, c, tolerance, delay)


@lru_cache(maxsize=256)
def quick_potential(alpha: float, n_experts: int, c: float) -> float:
    """Return the C of `certify` on its first grid, plus a safety margin.

    The margin is one percent of ``C - 1`` plus four times the difference to C on a grid half as
    fine. The result is infinity if there is no C. It takes 0.1 to 1 seconds and is cached.
    """
    grid, start = bounded_grid(c, max(n_experts, 2), roots(alpha, alpha)), below(1.0)
    with np.errstate(over="ignore", invalid="ignore"):  # where it overflows there is no beta
        coarse, fine = (
            least_potential(
                grid, grid_of_gains(COARSE_GAINS // k, 0.0), COARSE_POINTS // k, at_least=start
            )
            for k in (2, 1)
        )
    if not math.isfinite(fine) or not math.isfinite(coarse):
        return math.inf
    return fine + 0.01 * (fine - 1.0) + 4.0 * abs(fine - coarse)


def certify_limit(n_experts: int, c: float, *, tolerance: float = 1e-5) -> Certificate:
    """Find the smallest average potential in the limit alpha -> 0; see `certify`.

    If ``m = 0`` is the worst gain, it is ``exp(1/(4c - 2))``.

    Parameters
    ----------
    n_experts, c, tolerance
        As for `certify`.

    Examples
    --------
    >>> round(certify_limit(1000, 1.0).potential, 3)
    1.649
    """
    return _certify(0.0, 0.0, n_experts, c, tolerance)


def best_c(alpha: float, n_experts: int) -> Certificate:
    """Find the c whose certificate of one round has the smallest bound on the regret.

    The values 6.9, 3.7, 2.1, ... are tried until the bound gets worse. Then golden-section search
    in ``ln(c - 1/2)`` around the best of them finds ``c - 1/2`` to 3 %. It takes about 20
    certificates. With `certify_led` the best c would be somewhat smaller.

    Parameters
    ----------
    alpha, n_experts
        As for `certify`.
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    n_experts = inputs.count("n_experts", n_experts)
    certificates: dict[float, Certificate] = {}

    @lru_cache
    def bound(log: float) -> float:
        c = 0.5 + math.exp(log)
        try:
            certificates[log] = _certify(alpha, alpha, n_experts, c, 1e-3)
        except NoCertificate:
            return math.inf
        return certificates[log].scaled_regret

    start, least = math.log(6.4), math.inf
    for k in range(9):
        log = math.log(6.4 / 2**k)
        if bound(log) < least:
            start, least = log, bound(log)
        elif certificates:
            break
    low, high = start - math.log(2.0), start + math.log(2.0)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    while high - low > 0.03:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if bound(round(left, 9)) <= bound(round(right, 9)):  # one of them is a point of before
            high = right
        else:
            low = left
    if not certificates:
        raise NoCertificate(f"no c has a certificate at alpha={alpha:g} with {n_experts} experts")
    best = min(certificates.values(), key=lambda certificate: certificate.scaled_regret)
    return certify(alpha, n_experts, float(f"{best.c:.3g}"))


def _certify(
    alpha: float, alpha_from: float, n_experts: int, c: float, tolerance: float, delay: int = 0
) -> Certificate:
    n_experts = inputs.count("n_experts", n_experts)
    c = inputs.number("c", c, 1e-3, 1e3, closed=True)
    tolerance = inputs.number("tolerance", tolerance, 1e-8, 1.0)
    extras.require("scipy")
    grid = bounded_grid(c, max(n_experts, 2), roots(alpha_from, alpha), delay)
    program, potential, error, worst, multipliers = search(
        grid, COARSE_POINTS, LEVELS, tolerance, none_found(alpha, n_experts, c)
    )
    measure = () if delay else _worst_measure(program, worst, potential)
    return Certificate(
        alpha, alpha_from, n_experts, c, potential, error, worst, measure, multipliers, delay
    )


def none_found(alpha: float, n_experts: int, c: float) -> str:
    """Return the sentence that no bound was found."""
    return (
        f"no bound on the average potential up to {LARGEST_POTENTIAL:g} was found for "
        f"alpha={alpha:g}, {n_experts} experts and c={c:g}: try a larger c"
    )


def grid_of_gains(cells: int, near: float) -> Floats:
    """Return a grid of gains m from -1 to 1."""
    even = np.linspace(-1.0, 1.0, cells + 1)
    close = near + np.linspace(-2.0, 2.0, 33) / cells
    gains: Floats = np.unique(np.clip(np.concatenate([even, close]), EDGE - 1.0, 1.0 - EDGE))
    return gains


def below(potential: float) -> float:
    """Return a little less: a finer grid does not contain all the constraints of a coarser one."""
    return 1.0 + max((potential - 1.0) * (1.0 - 1e-3), 1e-9)


def search(
    grid: Grid,
    points: int,
    levels: int,
    tolerance: float,
    failure: str,
    *,
    gains_of: Callable[[int, float], Floats] = grid_of_gains,
    largest: float = LARGEST_POTENTIAL,
) -> tuple[Program, float, float, float, tuple[Multipliers, ...]]:
    """Find the smallest potential on finer and finer grids of x and m.

    Return the last program, the potential, its error, the worst gain and the multipliers.
    """
    potential, worst = 1.0, 0.0
    for level in range(levels):
        gains, before = gains_of(COARSE_GAINS * 2**level, worst), potential
        potential = least_potential(grid, gains, points * 2**level, at_least=below(before))
        if not potential <= largest:
            raise NoCertificate(failure)
        program = grid(potential, points * 2**level)
        worst = _worst_gain(program, gains, potential)
        error = abs(potential - before)
        if error <= tolerance * potential:
            break
    duals = (
        (float(m), program.lines(1.0 - m, -1.0 - m).solve(potential))
        for m in gains_of(COARSE_GAINS, worst)
    )
    multipliers = tuple(Multipliers(m, dual.a, dual.beta) for m, dual in duals)
    return program, potential, error + 1e-6 * (potential - 1.0), worst, multipliers


def _worst_gain(program: Program, gains: Floats, potential: float) -> float:
    """Return the gain that needs the largest potential."""
    start = below(potential)

    def need(m: float) -> float:
        lines = program.lines(1.0 - m, -1.0 - m)
        return lines.smallest_potential(start, lines.solve(potential).a)

    return float(max(gains, key=need))


def _worst_measure(program: Program, m: float, potential: float) -> tuple[Mass, ...]:
    """Return the distribution of experts and gains with which Nature raises the potential most.

    It solves a linear program whose unknowns are shares times Phi(x), so that they are of similar
    size.
    """
    optimize = extras.require("scipy.optimize")
    x, h = np.append(program.x, 0.0), np.append(program.h, program.h.max())
    u, increments = np.exp(-x * x / (2.0 * program.c)), (1.0 - m, -1.0 - m)
    solution = optimize.linprog(
        -np.concatenate([growth(x, h, r, program.c) for r in increments]),
        A_eq=np.concatenate([np.stack([u, np.ones_like(x), x * r]) for r in increments], axis=1),
        b_eq=[1.0, potential, 0.0],
    )
    if solution.x is None:
        return ()
    x, gains, shares = np.tile(x, 2), np.repeat([1, -1], len(x)), solution.x * np.tile(u, 2)
    masses: list[Mass] = []
    order = np.lexsort((x, -gains))
    for i in order[shares[order] > 1e-9]:
        mass = Mass(float(x[i]), int(gains[i]), float(shares[i]))
        # Masses on neighbouring points of the grid are one mass.
        if masses and masses[-1].gain == mass.gain and mass.x - masses[-1].x < x.max() / 100.0:
            last = masses.pop()
            total = last.share + mass.share
            middle = (last.x * last.share + mass.x * mass.share) / total
            mass = Mass(middle, mass.gain, total)
        masses.append(mass)
    return tuple(masses)
