"""Section 4.1: the bound on the regret of Hedge, under attack."""

import math

import numpy as np

from normalhedge.guarantees import at_most
from normalhedge.hedgers import Hedge, NormalHedge
from normalhedge.research._cells import Arrays
from normalhedge.research.games import BreakAway, play
from normalhedge.research.paper._claim import PaperClaim, holds_if
from normalhedge.research.paper._part import ALPHA, PaperSettings, part_of_one


def measure(settings: PaperSettings) -> Arrays:
    """Attack Hedge, tuned as Section 4.1 derives it, by alternating and breaking away.

    Return regret times sqrt(alpha): reached, claimed in the paper, and true.
    """
    rows = []
    for n in (10, 1000) if settings.quick else (10, 100, 1000):
        hedgers = [Hedge.derived(ALPHA, n), NormalHedge(ALPHA, c=1.0)]
        attack = BreakAway(n, ALPHA)
        trace = play(hedgers, attack, attack.rounds, seed=settings.seed, every=attack.rounds)
        claimed = math.sqrt(math.log(n) / (ALPHA - ALPHA**2 / 2.0))
        rows.append((n, *trace.highest_regret, claimed, hedgers[0].bound(n).regret))
    experts, *regrets = np.array(rows).T
    names = ("reached", "normal_hedge", "claimed", "true")
    scaled = (values * math.sqrt(ALPHA) for values in regrets)
    return {"experts": experts, **dict(zip(names, scaled, strict=True))}


def bound_claim(arrays: Arrays) -> PaperClaim:
    """Judge the bound of Section 4.1."""
    broken = bool(np.any(arrays["reached"] > arrays["claimed"]))
    kept = bool(np.all(arrays["reached"] <= arrays["true"]))
    corrected = "kept" if kept else "broken too"
    numbers = "; ".join(
        f"N = {n:.0f}: {reached:.2f} {'>' if reached > claimed else '≤'} {claimed:.2f} (corrected "
        f"{at_most(true, 3)}; NormalHedge, c = 1, {other:.2f})"
        for n, reached, claimed, true, other in zip(
            *(arrays[k] for k in ("experts", "reached", "claimed", "true", "normal_hedge")),
            strict=True,
        )
    )
    return PaperClaim(
        "The regret of Hedge with the derived η is at most √(ln N/(α − α²/2)).",
        "Section 4.1",
        f"regret × √α, reached and claimed: {numbers}; the corrected bound is {corrected}",
        f"alternate-then-break-away, N = {', '.join(f'{n:.0f}' for n in arrays['experts'])}, "
        "α = 0.001; nothing is drawn",
        "does not hold if the attack exceeds it for any N",
        holds_if(not broken),
    )


PART = part_of_one("hedge-bound", __name__, measure, claims=[bound_claim])
