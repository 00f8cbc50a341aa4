"""Beyond the paper: what can be promised for each c, and how close attacks come."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from normalhedge.certificates import (
    PAPER_C,
    PAPER_POTENTIAL,
    NoCertificate,
    best_known,
    certify,
    hedge_bound,
)
from normalhedge.experiments.measures import Arrays
from normalhedge.games.attacks import attack, hold
from normalhedge.hedgers import Hedge
from normalhedge.reports import Section, frontier_plot

ALPHA, EXPERTS = 0.001, 1000
CS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.85, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
QUICK_CS = (0.7, 1.0, 4.0)


class Point(NamedTuple):
    """What is known for one setting; infinity where nothing is.

    Attributes
    ----------
    alpha, experts, c
        The setting.
    potential, error
        C of the numerical certificate, and how far its grids leave it open.
    bound
        What that means for sqrt(alpha) R, for every expert.
    proved
        The average potential that is proved.
    attack_potential, attack_regret
        The highest average potential, and the largest sqrt(alpha) R, of the best attacks.
    """

    alpha: float
    experts: int
    c: float
    potential: float
    error: float
    bound: float
    proved: float
    attack_potential: float
    attack_regret: float

    @property
    def between(self) -> str:
        """Where the highest average potential lies."""
        if math.isinf(self.potential):
            return f"at least {self.attack_potential:.5g}"
        return f"between {self.attack_potential:.5g} and {self.potential:.5g}"


def point(
    alpha: float, experts: int, c: float, *, tolerance: float = 1e-4, thorough: bool = False
) -> Point:
    """Certify and attack one setting.

    Parameters
    ----------
    alpha, experts, c
        The settings of NormalHedge.
    tolerance
        Of the certificate.
    thorough
        Whether every attack is tried, or only the one that is nearly always the best.
    """
    try:
        found = certify(alpha, experts, c, tolerance=tolerance)
        promised = found.potential, found.error, found.scaled_regret
    except NoCertificate:
        promised = math.inf, 0.0, math.inf
    proof = best_known(alpha, experts, c)
    reached = (0.0, 0.0)
    if experts > 1:
        tried = [
            attack(alpha, experts, c, goal=goal) if thorough else hold(alpha, experts, c, goal)
            for goal in ("potential", "regret")
        ]
        reached = max(t.potential for t in tried), max(t.regret for t in tried)
    return Point(alpha, experts, c, *promised, proof.potential, *reached)


def frontier(
    alpha: float,
    experts: int,
    cs: Iterable[float],
    progress: Callable[[float], object] | None = None,
) -> list[Point]:
    """Certify and attack several c; ``progress`` is told of each that is done."""
    points = []
    for c in cs:
        points.append(point(alpha, experts, c))
        if progress is not None:
            progress(c)
    return points


def paper_bound(experts: int) -> float:
    """Return what Theorem 1 says of sqrt(alpha) R, where its condition holds."""
    return math.sqrt(2.0 * PAPER_C * math.log(PAPER_POTENTIAL * experts))


def hedges_bound(alpha: float, experts: int) -> float:
    """Return what holds for sqrt(alpha) R of discounted Hedge at its best rate, which needs N."""
    if experts == 1:
        return 0.0
    rate = Hedge.corrected(alpha, experts).eta
    return math.sqrt(alpha) * hedge_bound(alpha, experts, rate).regret


def measure(_seed: int, *, quick: bool) -> Arrays:
    """Return the frontier of the paper's simulations as arrays; nothing in it is drawn."""
    points = frontier(ALPHA, EXPERTS, QUICK_CS if quick else CS)
    return {name: np.array([getattr(p, name) for p in points]) for name in Point._fields}


def from_arrays(found: Arrays) -> list[Point]:
    """Return the points that `measure` wrote."""
    rows = zip(*(found[name].tolist() for name in Point._fields), strict=True)
    return [Point(*row) for row in rows]


def section(points: Sequence[Point]) -> Section:
    """Return the plot and the table of a frontier."""
    alpha, experts = points[0].alpha, points[0].experts
    lines = {"Theorem 1": paper_bound(experts), "Hedge, tuned to N": hedges_bound(alpha, experts)}
    return Section(
        "frontier",
        "Beyond the paper: what can be promised for any c",
        f"α = {alpha:g}, N = {experts:,}, outside of Theorem 1. C is the smallest average "
        "potential that one round cannot exceed (numerical certificate; proved where a value "
        "stands); the attacks are gains that drive the algorithm as far as is shown. The regret is "
        "in units of 1/√α.",
        frontier_plot("frontier", points, lines),
        head=("c", "C, certified", "C, proved", "C, attack", "regret, bound", "regret, attack"),
        rows=[
            (
                f"{p.c:g}",
                shown(p.potential),
                shown(p.proved),
                f"{p.attack_potential:.5g}",
                shown(p.bound),
                f"{p.attack_regret:.4g}",
            )
            for p in points
        ],
    )


def shown(value: float) -> str:
    """Return a bound in words."""
    return f"{value:.5g}" if math.isfinite(value) else "none"


TABLE_CS, TABLE_EXPERTS = (0.6, 0.7, 1.0, 2.0, 4.0), (10, 10**3, 10**6)


def markdown(alpha: float, progress: Callable[[float], object] | None = None) -> str:
    """Return the table of C over c and N, with proof and attack in each cell, as Markdown."""
    head = "| c | " + " | ".join(f"N = {n:,}" for n in TABLE_EXPERTS) + " |"
    rows = [head, "|---" * (1 + len(TABLE_EXPERTS)) + "|"]
    for c in TABLE_CS:
        cells = []
        for n in TABLE_EXPERTS:
            p = point(alpha, n, c, thorough=True)
            proof = f"proved {p.proved:.6g}" if math.isfinite(p.proved) else "not proved"
            attacked = f"attack {p.attack_potential:.5g}"
            cells.append(
                f"**{shown(p.potential)}**, {proof}, {attacked}; R√α: {shown(p.bound)}, attack "
                f"{p.attack_regret:.4g}"
            )
            if progress is not None:
                progress(c)
        rows.append(f"| {c:g} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
