"""Beyond the paper: the certified bound for each c, and the regret that attacks reach."""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.progress import Listener, listener
from normalhedge.guarantees import (
    PAPER_C,
    PAPER_POTENTIAL,
    NoCertificate,
    at_most,
    best_known,
    certify,
    certify_led,
    hedge_bound,
    scaled_limit,
)
from normalhedge.hedgers import Hedge
from normalhedge.reports import Section, frontier_plot
from normalhedge.research._cells import Arrays
from normalhedge.research.games.attacks import attack, hold
from normalhedge.research.paper._part import PaperSettings, part_of_one

ALPHA, EXPERTS = 0.001, 1000
CS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.85, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
QUICK_CS = (0.7, 1.0, 4.0)
LED_BELOW = 1.0
"""From this c on, certificates of one round meet the attacks."""


class FrontierPoint(NamedTuple):
    """The bounds and attacks of one setting; infinity if there is no bound."""

    alpha: float
    experts: int
    c: float
    potential: float  # C of the numerical certificate of one round
    error: float  # the error that its grids leave
    led: float  # the smaller C, of one round or of multipliers that know the leader
    bound: float  # the bound on sqrt(alpha) R to every expert that follows from one round
    led_bound: float  # the bound that follows from the smaller C
    proved: float  # the average potential that is proved
    attack_potential: float  # the highest average potential of an attack
    attack_regret: float  # the largest sqrt(alpha) R of an attack

    @property
    def between(self) -> str:
        """The range of the highest average potential, in words."""
        if math.isinf(self.led):
            return f"at least {self.attack_potential:.5g}"
        return f"between {self.attack_potential:.5g} and {bound_text(self.led)}"


def point(
    alpha: float,
    experts: int,
    c: float,
    *,
    tolerance: float = 1e-4,
    thorough: bool = False,
    led: bool = True,
) -> FrontierPoint:
    """Certify and attack one setting."""
    potential, error, least = math.inf, 0.0, math.inf
    with suppress(NoCertificate):
        certificate = certify(alpha, experts, c, tolerance=tolerance)
        potential, error = certificate.potential, certificate.error
    if led and c < LED_BELOW:
        with suppress(NoCertificate):
            least = certify_led(alpha, experts, c, tolerance=10.0 * tolerance).potential
    least = min(least, potential)
    bound, led_bound = (scaled_limit(limit, 1.0 / experts, c) for limit in (potential, least))
    proved = best_known(alpha, experts, c).potential
    reached = (0.0, 0.0)
    if experts > 1:
        attacks = [
            attack(alpha, experts, c, goal=goal) if thorough else hold(alpha, experts, c, goal)
            for goal in ("potential", "regret")
        ]
        reached = max(a.potential for a in attacks), max(a.regret for a in attacks)
    limits = potential, error, least, bound, led_bound, proved
    return FrontierPoint(alpha, experts, c, *limits, *reached)


def frontier(
    alpha: float,
    experts: int,
    cs: Sequence[float],
    progress: Listener = None,
    *,
    led: bool = True,
) -> list[FrontierPoint]:
    """Certify and attack several c."""
    told = listener(progress)
    told.total(len(cs))
    points = []
    for c in cs:
        points.append(point(alpha, experts, c, led=led))
        told.done(1, f"c = {c:g}")
    return points


def paper_bound(experts: int) -> float:
    """Return the bound of Theorem 1 on sqrt(alpha) R, which holds under its condition."""
    return math.sqrt(2.0 * PAPER_C * math.log(PAPER_POTENTIAL * experts))


def hedges_bound(alpha: float, experts: int) -> float:
    """Return the bound on sqrt(alpha) R of discounted Hedge at its best rate."""
    if experts == 1:
        return 0.0
    rate = Hedge.corrected(alpha, experts).eta
    return math.sqrt(alpha) * hedge_bound(alpha, experts, rate).regret


def measure(settings: PaperSettings) -> Arrays:
    """Return the frontier of the paper's simulations as arrays; no number in it is random."""
    cs, led = (QUICK_CS, False) if settings.quick else (CS, True)
    points = frontier(ALPHA, EXPERTS, cs, led=led)
    return {name: np.array([getattr(p, name) for p in points]) for name in FrontierPoint._fields}


def from_arrays(arrays: Arrays) -> list[FrontierPoint]:
    """Return the points that `measure` wrote."""
    rows = zip(*(arrays[name].tolist() for name in FrontierPoint._fields), strict=True)
    return [FrontierPoint(*row) for row in rows]


def section(points: Sequence[FrontierPoint]) -> Section:
    """Return the section with the plot and the table of a frontier."""
    alpha, experts = points[0].alpha, points[0].experts
    lines = {"Theorem 1": paper_bound(experts), "Hedge, tuned to N": hedges_bound(alpha, experts)}
    return Section(
        "frontier",
        "Beyond the paper: what can be promised for any c",
        f"α = {alpha:g}, N = {experts:,}, outside of Theorem 1. C is the smallest average "
        "potential that one round cannot exceed (numerical certificate), and a smaller one "
        "where the multipliers know the leader; the attacks are gains that drive the algorithm as "
        "far as is shown. The regret is in units of 1/√α.",
        frontier_plot("frontier", points, lines),
        head=HEAD,
        rows=[
            (
                f"{p.c:g}",
                *(bound_text(limit) for limit in (p.potential, p.led)),
                bound_text(p.proved, 6),
                f"{p.attack_potential:.5g}",
                bound_text(p.led_bound),
                f"{p.attack_regret:.4g}",
            )
            for p in points
        ],
    )


HEAD = (
    "c",
    "C, one round (numerical)",
    "C, leader known (numerical)",
    "C, proved",
    "C, attack (observed)",
    "regret, bound (numerical)",
    "regret, attack (observed)",
)


def bound_text(value: float, digits: int = 5) -> str:
    """Return a bound, rounded up, or "none" if it is infinite."""
    return at_most(value, digits) if math.isfinite(value) else "none"


TABLE_CS, TABLE_EXPERTS = (0.6, 0.7, 1.0, 2.0, 4.0), (10, 10**3, 10**6)


def table(alpha: float, progress: Listener = None) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of C over c and N, with proof and attack in each cell."""
    told = listener(progress)
    told.total(len(TABLE_CS) * len(TABLE_EXPERTS))
    head = ["c", *(f"N = {n:,}" for n in TABLE_EXPERTS)]
    rows = []
    for c in TABLE_CS:
        cells = []
        for n in TABLE_EXPERTS:
            p = point(alpha, n, c, thorough=True)
            proof = f"proved {at_most(p.proved)}" if math.isfinite(p.proved) else "not proved"
            attacked = f"attack {p.attack_potential:.5g}"
            led = f"leader known {bound_text(p.led)}, " if p.led < p.potential else ""
            cells.append(
                f"**{bound_text(p.potential)}**, {led}{proof}, {attacked}; "
                f"R√α: {bound_text(p.led_bound)}, attack {p.attack_regret:.4g}"
            )
            told.done(1, f"c = {c:g}, N = {n:,}")
        rows.append([f"{c:g}", *cells])
    return head, rows


PART = part_of_one(
    "frontier", __name__, measure, sections=[lambda arrays: section(from_arrays(arrays))]
)
