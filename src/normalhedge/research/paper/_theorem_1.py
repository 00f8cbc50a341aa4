"""Theorem 1: bounds on the average potential and on the regrets, tried in games."""

import math

import numpy as np

from normalhedge.guarantees import PAPER_C, PAPER_POTENTIAL, theorem_1 as promised
from normalhedge.hedgers import NormalHedge
from normalhedge.research._cells import Arrays
from normalhedge.research.games import BreakAway, GoodAndBad, Greedy, IndependentCoins, Nature, play
from normalhedge.research.paper._claim import PaperClaim, holds_if
from normalhedge.research.paper._part import PaperSettings, part_of_one


def measure(settings: PaperSettings) -> Arrays:
    """Play NormalHedge, c = 4, just inside Theorem 1 against natures and adversaries.

    Return, for each game: the number of experts, the highest average potential, the highest regret
    over its bound, the highest regret to the best half over its bound (seen at 50 rounds), and
    alpha over the largest that the theorem allows.
    """
    rows, names = [], []
    for n in (10, 100) if settings.quick else (10, 100, 1000):
        alpha = 0.99 / (800.0 * math.log(PAPER_POTENTIAL * n))
        hedger = NormalHedge.paper(alpha)
        natures: dict[str, tuple[Nature, int]] = {
            "break-away": (BreakAway(n, alpha), BreakAway(n, alpha).rounds),
            "good-and-bad": (GoodAndBad(n, 0.8, 0.1, alpha), round(4 / alpha)),
            "coins": (IndependentCoins(n), round(4 / alpha)),
        }
        if n <= 100:
            natures["greedy"] = (Greedy(n, hedger), 1000 if settings.quick else 6000)
        for name, (nature, rounds) in natures.items():
            every = max(rounds // 50, 1)
            trace = play([hedger], nature, rounds, seed=settings.seed, quantile=0.5, every=every)
            assert trace.quantile_regret is not None
            best, half = (promised(alpha, n, PAPER_C, quantile).regret for quantile in (None, 0.5))
            reached = math.exp(trace.highest_potential[0]), trace.highest_regret[0] / best
            to_half = trace.quantile_regret.mean.max() / half
            rows.append((n, *reached, to_half, alpha * 800.0 * math.log(PAPER_POTENTIAL * n)))
            names.append(name)
    fields = ("experts", "potential", "regret", "quantile", "alpha_over_limit")
    return {"nature": np.array(names), **dict(zip(fields, np.array(rows).T, strict=True))}


def potential_claim(arrays: Arrays) -> PaperClaim:
    """Judge the bound on the average potential."""
    return PaperClaim(
        "With c = 4 and α < 1/(800 ln 2.32N) the average potential stays below 2.32.",
        "Theorem 1",
        f"highest average potential {arrays['potential'].max():.4f}",
        _games(arrays),
        "holds if it is below 2.32 in every game, adversaries included",
        holds_if(arrays["potential"].max() < 2.32),
    )


def regret_claim(arrays: Arrays) -> PaperClaim:
    """Judge the bound on the regrets."""
    best, half = arrays["regret"].max(), arrays["quantile"].max()
    return PaperClaim(
        "Then every regret is at most √(8 ln(2.32N)/α).",
        "Theorem 1",
        f"highest regret {best:.2f} of its bound",
        _games(arrays),
        "holds if it stays below its bound in every game",
        holds_if(best < 1.0),
        "the regret to the best ε-quantile is at most √(8 ln(2.32/ε)/α), too: to the best half "
        f"{half:.2f} of that bound",
    )


def _games(arrays: Arrays) -> str:
    sizes = ", ".join(f"{n:.0f}" for n in np.unique(arrays["experts"]))
    kinds = ", ".join(sorted(set(arrays["nature"].tolist())))
    share = arrays["alpha_over_limit"].mean()
    return f"{len(arrays['nature'])} games of N = {sizes} ({kinds}), α = {share:.2f} of the limit"


PART = part_of_one("theorem-1", __name__, measure, claims=[potential_claim, regret_claim])
