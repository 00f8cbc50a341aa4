"""Section 2.2: good and poor independent actions, and the regrets of optimal hedging to them."""

import math
from collections.abc import Iterable

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees.potentials import NormalPotential
from normalhedge.reports import Section, curves_plot
from normalhedge.research._cells import Arrays
from normalhedge.research.games import IndependentCoins
from normalhedge.research.paper._claim import PaperClaim, holds_if
from normalhedge.research.paper._part import ALPHA, PaperSettings, part_of_one

GAMMA = 0.1
"""The edge of the good actions; the paper says "very small"."""

ALPHAS = (0.1, 0.01, ALPHA)
EXACT = ALPHA * (1.0 - GAMMA**2) / (1.0 - (1.0 - ALPHA) ** 2)
"""The variance of the discounted gain of a good action, times alpha."""

BINS = np.linspace(-8.0, 5.0, 131)
"""The bins of regrets times sqrt(alpha)."""


def measure(settings: PaperSettings) -> Arrays:
    """Play independent good and poor actions for 8/alpha rounds, in several batches.

    Optimal hedging gives equal weights to the good actions and none to the others. The arrays
    ``mean``, ``variance`` and ``poor_variance`` describe the discounted gains of the actions, times
    alpha, alphas x batches; ``distance`` is Kolmogorov's, from all regrets of optimal hedging
    to good actions to the normal distribution with their variance, one for each alpha. For the
    last alpha ``potential_1`` and ``potential_half`` are the mean potentials of these regrets at
    c = 1 and c = 1/2, one for each batch, and ``good`` and ``poor`` the densities of the scaled
    regrets in `BINS`.
    """
    batches, size = (5, 2_000) if settings.quick else (20, 20_000)
    arrays: dict[str, list[list[float]]] = {"mean": [], "variance": [], "poor_variance": []}
    distances = []
    for k, alpha in enumerate(ALPHAS):
        seeds = np.random.SeedSequence([settings.seed, k]).spawn(batches)
        gains = np.array([_discount_gains(alpha, size, np.random.default_rng(s)) for s in seeds])
        good, poor = gains[:, : size // 2], gains[:, size // 2 :]
        arrays["mean"].append((alpha * good.mean(axis=1)).tolist())
        arrays["variance"].append((alpha * good.var(axis=1)).tolist())
        arrays["poor_variance"].append((alpha * poor.var(axis=1)).tolist())
        optimal = good.mean(axis=1, keepdims=True)
        scaled, others = (math.sqrt(alpha) * (each - optimal) for each in (good, poor))
        distances.append(_distance(scaled.ravel()))
    return {
        **{name: np.array(values) for name, values in arrays.items()},
        "distance": np.array(distances),
        "actions": np.array(scaled.size),
        "potential_1": np.array([NormalPotential(1.0).average(batch) for batch in scaled]),
        "potential_half": np.array([NormalPotential(0.5).average(batch) for batch in scaled]),
        "good": np.histogram(scaled, BINS, density=True)[0],
        "poor": np.histogram(others, BINS, density=True)[0],
    }


def _discount_gains(alpha: float, size: int, rng: np.random.Generator) -> Floats:
    """Return the discounted gains of actions, of which the first half are good."""
    total = np.zeros(size)
    for block in IndependentCoins(size, GAMMA, 0.5).gains(round(8 / alpha), rng):
        for coins in block:
            total *= 1.0 - alpha
            total += coins
    return total


def _normal(x: Floats, variance: float) -> Floats:
    """Return the density of a normal distribution around zero."""
    return np.exp(-(x**2) / (2.0 * variance)) / math.sqrt(2.0 * math.pi * variance)


def _distance(values: Floats) -> float:
    """Return Kolmogorov's distance to the normal distribution of the same mean and variance."""
    x = np.sort((values - values.mean()) / values.std())
    below = 0.5 * (1.0 + np.array([math.erf(v) for v in x / math.sqrt(2.0)]))
    steps = np.arange(len(x) + 1) / len(x)
    return float(max((steps[1:] - below).max(), (below - steps[:-1]).max()))


def normal_claim(arrays: Arrays) -> PaperClaim:
    """Judge the mean and the shape of the distribution."""
    mean, distance = arrays["mean"][-1], arrays["distance"]
    noise = 1.36 / math.sqrt(arrays["actions"])
    return PaperClaim(
        "The discounted gain of a good action has mean γ/α, and as α → 0 its distribution "
        "approaches a normal one.",
        "Section 2.2",
        f"mean × α/γ = {mean.mean() / GAMMA:.4f} ± {_error(mean) / GAMMA:.4f}; Kolmogorov's "
        f"distance to a normal distribution {_list(distance, '.4f')} at α = {_list(ALPHAS, 'g')}, "
        f"where chance alone has up to {noise:.4f}",
        _sample(arrays),
        "holds if the mean is within a hundredth of γ/α, and the distance at the smallest α within "
        "chance",
        holds_if(abs(mean.mean() / GAMMA - 1.0) < 0.01 and distance[-1] <= noise),
    )


def variance_claim(arrays: Arrays) -> PaperClaim:
    """Judge the variance."""
    values = arrays["variance"][-1]
    return PaperClaim(
        "Its variance is about 1/α, so the regrets of optimal hedging to good actions have the "
        "density exp(−αR²/2)/Z.",
        "Section 2.2",
        f"variance × α = {values.mean():.4f} ± {_error(values):.4f}; (1 − γ²)/(1 − (1 − α)²) gives "
        f"{EXACT:.4f}",
        _sample(arrays),
        "holds if within a tenth of 1/α",
        holds_if(abs(values.mean() - 1.0) < 0.1),
        "the variance is about 1/2α, and the density exp(−αR²)/Z; for poor actions variance × α = "
        f"{arrays['poor_variance'][-1].mean():.4f}",
    )


def smallest_c_claim(arrays: Arrays) -> PaperClaim:
    """Judge whether the expected potential of chance is infinite at c = 1."""
    whole, half = arrays["potential_1"], arrays["potential_half"]
    limit = 0.5 + 0.5 / math.sqrt(1.0 - EXACT)
    finite = whole.mean() < limit + 4.0 * _error(whole) + 0.02
    return PaperClaim(
        "So c must be larger than 1: at c = 1 the expected potential of these regrets is infinite.",
        "Section 2.2",
        f"mean potential {whole.mean():.3f} at c = 1 (in theory {limit:.3f})",
        _sample(arrays),
        "does not hold if the mean at c = 1 is not above the finite value of theory",
        holds_if(not finite),
        f"the argument gives c > 1/2; at c = 1/2, which has no mean in theory, {half.mean():.3g}",
    )


def _error(values: Floats) -> float:
    """Return the standard error of a mean over batches."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _list(values: Iterable[float], form: str) -> str:
    return ", ".join(f"{value:{form}}" for value in values)


def _sample(arrays: Arrays) -> str:
    batches = arrays["mean"].shape[1]
    return f"{arrays['actions']:,} good actions in {batches} batches, γ = {GAMMA:g}, α = {ALPHA:g}"


def section(arrays: Arrays) -> Section:
    """Return the section with the picture behind the potential."""
    x = 0.5 * (BINS[1:] + BINS[:-1])
    good, positive = arrays["good"], np.maximum(x, 0.0)
    curves = {
        "good actions": good,
        "poor actions": arrays["poor"],
        "normal, variance 1/α (printed)": _normal(x, 1.0),
        "normal, variance 1/2α": _normal(x, 0.5),
        "good, times potential, c = 1": good * np.exp(positive**2 / 2.0),
        "good, times potential, c = 1/2": good * np.exp(positive**2),
    }
    columns = (arrays["mean"] / GAMMA, arrays["variance"], arrays["poor_variance"])
    rows = [
        (f"{alpha:g}", *(f"{values[k].mean():.4f}" for values in columns), f"{distance:.4f}")
        for k, (alpha, distance) in enumerate(zip(ALPHAS, arrays["distance"], strict=True))
    ]
    return Section(
        "chance",
        "Section 2.2: good and poor independent actions",
        f"Good actions gain 1 with probability (1 + γ)/2, γ = {GAMMA:g}, and poor ones with 1/2, "
        "each by a coin of its own; optimal hedging has equal weights on the good actions. Below "
        f"the table: the density of √α R, the scaled regret of optimal hedging, at α = {ALPHA:g}. "
        "A potential that is the reciprocal of this density keeps the product constant. The paper "
        "has variance 1/α, and so c = 1; the regrets have variance 1/2α, and so c = 1/2.",
        curves_plot(
            "chance", x, curves, list(curves)[:4], xaxis_title="regret × √α", yaxis_title="density"
        ),
        head=("α", "mean × α/γ", "variance × α", "poor: variance × α", "distance to normal"),
        rows=rows,
    )


PART = part_of_one(
    "variance",
    __name__,
    measure,
    claims=[normal_claim, variance_claim, smallest_c_claim],
    sections=[section],
)
