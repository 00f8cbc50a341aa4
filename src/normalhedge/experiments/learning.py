"""Learning the parameters of hidden Markov models online: how much of the gap is closed."""

import logging
from importlib.util import find_spec

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats
from normalhedge.experiments.measures import Arrays
from normalhedge.hedgers import NormalHedge
from normalhedge.latent import BayesAverage, HMMBank, LearningBank, ModelExperts, Predictor, follow
from normalhedge.reports import Section

SEEDS, QUICK_SEEDS = 20, 2
ROUNDS, CANDIDATES = 5000, 60
HEDGER = NormalHedge(alpha=0.005, c=1.0)
TRUTH = HMMBank.discrete(
    [[0.5, 0.5]],
    [[[0.97, 0.03], [0.06, 0.94]]],
    [[[0.85, 0.1, 0.05], [0.05, 0.15, 0.8]]],
)
FIELDS = ("loss", "errors", "late", "late_errors")
NAMES = (
    "random bank, model experts",
    "the same, rounded",
    "learning bank",
    "the same, rounded",
    "fitted in hindsight",
    "the same, rounded",
)


def learn(seed: int, *, quick: bool) -> Arrays:
    """Return L1 losses and wrong decisions a round, sequences x predictors, and of the second half.

    Without hmmlearn those of the fitted model are NaN.
    """
    seeds = np.random.SeedSequence([seed, *b"learning"]).spawn(QUICK_SEEDS if quick else SEEDS)
    rows = [_learn(np.random.default_rng(child)) for child in seeds]
    return {field: np.array([row[field] for row in rows]) for field in FIELDS}


def _learn(rng: np.random.Generator) -> dict[str, list[float]]:
    _, symbols = TRUTH.sample(ROUNDS, rng)
    bank = HMMBank.random(CANDIDATES, 2, 3, rng)
    ways = ({"rounded": False}, {"rounded": True})
    predictors: list[Predictor] = [ModelExperts(bank, HEDGER, **way) for way in ways]
    predictors += [LearningBank(bank, rng, HEDGER, **way) for way in ways]
    fitted = _fit(symbols)
    if fitted is not None:
        predictors += [BayesAverage(fitted, **way) for way in ways]
    went = [follow(predictor, symbols) for predictor in predictors]
    none = [np.nan] * (len(NAMES) - len(went))
    half = ROUNDS // 2
    return {
        "loss": [float(f.losses.mean()) for f in went] + none,
        "errors": [float(f.wrong.mean()) for f in went] + none,
        "late": [float(f.losses[half:].mean()) for f in went] + none,
        "late_errors": [float(f.wrong[half:].mean()) for f in went] + none,
    }


def _fit(symbols: Floats) -> HMMBank | None:
    """Return the HMM of the largest likelihood in three fits of hmmlearn, if it is installed."""
    if find_spec("hmmlearn") is None:
        return None
    hmm = _extras.require("hmmlearn.hmm")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it warns of steps of 1e-6
    column = symbols.astype(int)[:, np.newaxis]
    models = [
        hmm.CategoricalHMM(2, n_features=3, n_iter=60, random_state=start).fit(column)
        for start in range(3)
    ]
    return HMMBank.from_hmmlearn([max(models, key=lambda model: model.score(column))])


def closed(found: Arrays, field: str) -> tuple[float, float]:
    """Return what share of the gap to the fitted HMM, rounded, is closed: plain, and rounded.

    The L1 loss is improper, so a fitted HMM that is not rounded is no yardstick for it.
    """
    plain, rounded, learned, learned_rounded, _, fitted = found[field].mean(axis=0)
    return (
        float((plain - learned) / (plain - fitted)),
        float((rounded - learned_rounded) / (rounded - fitted)),
    )


def learning_section(found: Arrays) -> Section:
    """Return the table of losses."""
    rows = []
    for k, name in enumerate(NAMES):
        cells = [found[field][:, k] for field in FIELDS]
        texts = [f"{cell.mean():.4f} ± {cell.std(ddof=1):.4f}" for cell in cells]
        rows.append((name, *(texts if np.isfinite(cells[0]).all() else ["needs hmmlearn"] * 4)))
    gap = ""
    if np.isfinite(found["loss"]).all():
        (all_plain, all_rounded), (plain, rounded) = closed(found, "loss"), closed(found, "late")
        gap = (
            " Of the gap in L1 loss between the random bank and the rounded fit, learning closes "
            f"{all_plain:.0%}, {plain:.0%} in the second half. Where the experts are rounded, too, "
            f"little of that gap is left to begin with; {all_rounded:.0%} and {rounded:.0%} of it."
        )
    return Section(
        "learning",
        "Learning the parameters online",
        f"{CANDIDATES} HMMs of two states over three symbols, drawn at random; those that were "
        "behind for a whole memory (200 rounds) are replaced by perturbed copies of those ahead. "
        f"{len(found['loss'])} sequences of {ROUNDS:,} rounds from an HMM that is not among them; "
        f"mean ± spread a round. Fitted: hmmlearn, on the whole sequence.{gap}",
        head=("predictor", "L1 loss", "wrong decisions", "L1, second half", "wrong, second half"),
        rows=rows,
    )
