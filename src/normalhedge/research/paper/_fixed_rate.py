"""Section 4.1: Hedge at a learning rate that does not depend on the number of experts."""

import math

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import at_most, hedge_bound
from normalhedge.hedgers import Hedge
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.games import BreakAway, play
from normalhedge.research.paper._claim import PaperClaim, holds_if
from normalhedge.research.paper._part import ALPHA, PaperSettings, part_of_one

FACTORS = (0.5, 1.0, 2.0)
RATES = ("√α/2", "√α", "2√α")
"""The rates are these factors times sqrt(alpha), and their names."""

EXPERTS = (10, 100, 1000, 10**6, 10**9, 10**12)
ATTACKED = (10, 100, 1000)
"""The numbers of experts for which the regret is measured, too."""


def printed_bound(experts: int, eta: float) -> float:
    """Return the bound that Section 4.1 prints for Hedge at a rate; it does not hold."""
    return math.log(experts) / eta + eta / (4.0 * (ALPHA - ALPHA**2 / 2.0))


def measure(settings: PaperSettings) -> Arrays:
    """Return regrets times sqrt(alpha), numbers of experts x rates, the best rate last.

    ``printed`` and ``true`` are the printed bound and the corrected one, ``reached`` the regret to
    which alternating and breaking away drives Hedge, for each of ``attacked`` numbers of experts.
    """
    root = math.sqrt(ALPHA)
    rates = [factor * root for factor in FACTORS]
    printed = [
        [printed_bound(n, eta) for eta in (*rates, Hedge.derived(ALPHA, n).eta)] for n in EXPERTS
    ]
    true = [
        [hedge_bound(ALPHA, n, eta).regret for eta in (*rates, Hedge.corrected(ALPHA, n).eta)]
        for n in EXPERTS
    ]
    reached = []
    attacked = ATTACKED[:2] if settings.quick else ATTACKED
    for n in attacked:
        hedgers = [*(Hedge(ALPHA, eta) for eta in rates), Hedge.corrected(ALPHA, n)]
        attack = BreakAway(n, ALPHA)
        trace = play(hedgers, attack, attack.rounds, seed=settings.seed, every=attack.rounds)
        reached.append(trace.highest_regret)
    return {
        "printed": root * np.array(printed),
        "true": root * np.array(true),
        "reached": root * np.array(reached),
        "attacked": np.array(attacked),
    }


def _worse(levels: Floats) -> Floats:
    """Return the factor by which each fixed rate is worse than the best, over sqrt(ln N)."""
    roots = np.sqrt(np.log(EXPERTS[: len(levels)]))
    return np.asarray(levels[:, :-1] / levels[:, -1:] / roots[:, np.newaxis])


def rate_claim(arrays: Arrays) -> PaperClaim:
    """Judge the cost of a rate that does not know N."""
    worse = {name: _worse(arrays[name]) for name in ("printed", "true", "reached")}
    ranges = {
        name: ", ".join(
            f"{low:.2f} to {high:.2f}"
            for low, high in zip(values.min(axis=0), values.max(axis=0), strict=True)
        )
        for name, values in worse.items()
    }
    spread = (worse["printed"].max(axis=0) / worse["printed"].min(axis=0)).max()
    return PaperClaim(
        "If η = Θ(√α) independently of N, the bound for Hedge is worse by a factor of Θ(√ln N).",
        "Section 4.1",
        f"that factor over √ln N, from N = 10 to 10¹², at η = {', '.join(RATES)}: "
        f"{ranges['printed']} for the printed bound",
        "computed; nothing is drawn",
        "holds if the factor over √ln N varies by less than 2 for each of these η",
        holds_if(spread < 2.0),
        f"{ranges['true']} for the bound that holds. The regret itself is worse, too: under "
        f"attack, N = {', '.join(map(str, arrays['attacked']))}, {ranges['reached']}",
    )


def section(arrays: Arrays) -> Section:
    """Return the section with the table of bounds and regrets."""
    rows = []
    for k, n in enumerate(EXPERTS):
        for name in ("printed", "true"):
            label = f"N = {n:,}, {'printed bound' if name == 'printed' else 'bound that holds'}"
            rows.append((label, *(at_most(value, 3) for value in arrays[name][k])))
        if k < len(arrays["attacked"]):
            rows.append((f"N = {n:,}, attack", *(f"{value:.2f}" for value in arrays["reached"][k])))
    return Section(
        "fixed-rate",
        "Section 4.1: Hedge that does not know N",
        f"Regret × √α of Hedge, α = {ALPHA:g}: the bound of the paper, the bound that holds, and "
        "the regret that alternating and breaking away reaches. The last column has the best η for "
        "N, where the regret grows as √ln N; at a fixed η it grows as ln N.",
        head=("", *(f"η = {rate}" for rate in RATES), "best η for N"),
        rows=rows,
    )


PART = part_of_one("fixed-rate", __name__, measure, claims=[rate_claim], sections=[section])
