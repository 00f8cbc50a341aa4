"""Section 2.2: discounted sums of fair coins, their variance and their potential."""

import math

import numpy as np

from normalhedge.experiments.cells import Arrays
from normalhedge.experiments.paper.claim import PaperClaim, holds_if
from normalhedge.experiments.paper.part import PaperSettings, part_of_one
from normalhedge.experiments.paper.simulation import ALPHA
from normalhedge.games import IndependentCoins
from normalhedge.potentials import NormalPotential


def measure(settings: PaperSettings) -> Arrays:
    """Measure the variance of a discounted sum of fair coins, times alpha, in several batches.

    Return with it the mean potential of such sums at c = 1 and c = 1/2, after 6/alpha rounds.
    """
    batches, size = (5, 2_000) if settings.quick else (20, 20_000)
    found: dict[str, list[float]] = {"variance": [], "potential_1": [], "potential_half": []}
    for child in np.random.SeedSequence(settings.seed).spawn(batches):
        rng = np.random.default_rng(child)
        total = np.zeros(size)
        for block in IndependentCoins(size).gains(round(6 / ALPHA), rng):
            for coins in block:
                total *= 1.0 - ALPHA
                total += coins
        found["variance"].append(float(total.var()) * ALPHA)
        for name, c in (("potential_1", 1.0), ("potential_half", 0.5)):
            found[name].append(NormalPotential(c).average(math.sqrt(ALPHA) * total))
    return {name: np.array(values) for name, values in found.items()}


def variance_claim(found: Arrays) -> PaperClaim:
    """Judge the variance of Section 2.2."""
    values = found["variance"]
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    exact = ALPHA / (1.0 - (1.0 - ALPHA) ** 2)
    return PaperClaim(
        "A discounted sum of fair coins has variance about 1/α.",
        "Section 2.2",
        f"variance × α = {mean:.4f} ± {error:.4f}; 1/(1 − (1 − α)²) gives {exact:.4f}",
        f"{len(values)} batches, spread {values.std(ddof=1):.2g}",
        "holds if within a tenth of 1/α",
        holds_if(abs(mean - 1.0) < 0.1),
    )


def smallest_c_claim(found: Arrays) -> PaperClaim:
    """Judge whether the expected potential of chance is infinite at c = 1."""
    one, half = found["potential_1"], found["potential_half"]
    limit = 0.5 + 0.5 / math.sqrt(0.5)
    finite = one.mean() < limit + 4.0 * one.std(ddof=1) / math.sqrt(len(one)) + 0.02
    return PaperClaim(
        "So c must be larger than 1: at c = 1 the expected potential of chance is infinite.",
        "Section 2.2",
        f"mean potential of chance {one.mean():.3f} at c = 1 (in theory {limit:.3f}); at c = 1/2, "
        f"where theory has none, {half.mean():.3g}",
        f"{len(one)} batches, spread {one.std(ddof=1):.2g}",
        "does not hold if the mean at c = 1 is not above the finite value for variance 1/2α",
        holds_if(not finite),
    )


def judge(found: Arrays) -> list[PaperClaim]:
    """Return the claims of Section 2.2."""
    return [variance_claim(found), smallest_c_claim(found)]


PART = part_of_one("variance", __name__, measure, judge=judge)
