"""Learning the parameters of hidden Markov models online, beside a fit in hindsight."""

import logging
from importlib.util import find_spec

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import NormalHedge
from normalhedge.latent import (
    BayesAverage,
    HMMBank,
    LearningBank,
    ModelExperts,
    Predictor,
    bank_from_hmmlearn,
    categorical_bank,
    follow,
    random_categorical_bank,
)
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._claim import FAILS, HOLDS, PaperClaim, holds_only
from normalhedge.research.paper._part import PaperSettings, part_of_one

SEQUENCES, QUICK_SEQUENCES = 20, 2
ROUNDS, CANDIDATES = 5000, 60
HEDGER = NormalHedge(alpha=0.005, c=1.0)
TRUTH = categorical_bank(
    [[0.5, 0.5]],
    [[[0.97, 0.03], [0.06, 0.94]]],
    [[[0.85, 0.1, 0.05], [0.05, 0.15, 0.8]]],
)
FIELDS = ("loss", "errors", "late", "late_errors")
NAMES = (
    "random bank",
    "random bank, rounded",
    "learning bank",
    "learning bank, rounded",
    "fitted in hindsight",
    "fitted in hindsight, rounded",
)


def measure(settings: PaperSettings) -> Arrays:
    """Return the L1 losses and wrong decisions a round, sequences x predictors.

    The means of all rounds come first, then the means of the second half. Without hmmlearn the
    columns of the fitted model are NaN.
    """
    count = QUICK_SEQUENCES if settings.quick else SEQUENCES
    seeds = np.random.SeedSequence([settings.seed, *b"learning"]).spawn(count)
    rows = [_learn(np.random.default_rng(child)) for child in seeds]
    return {field: np.array([row[field] for row in rows]) for field in FIELDS}


def _learn(rng: np.random.Generator) -> dict[str, list[float]]:
    _, symbols = TRUTH.sample(ROUNDS, rng)
    bank = random_categorical_bank(CANDIDATES, 2, 3, rng)
    ways = ({"rounded": False}, {"rounded": True})
    predictors: list[Predictor] = [ModelExperts(bank, HEDGER, **way) for way in ways]
    predictors += [LearningBank(bank, rng, HEDGER, **way) for way in ways]
    fitted = _fit(symbols)
    if fitted is not None:
        predictors += [BayesAverage(fitted, **way) for way in ways]
    histories = [follow(predictor, symbols) for predictor in predictors]
    none = [np.nan] * (len(NAMES) - len(histories))
    half = ROUNDS // 2
    return {
        "loss": [float(f.losses.mean()) for f in histories] + none,
        "errors": [float(f.wrong.mean()) for f in histories] + none,
        "late": [float(f.losses[half:].mean()) for f in histories] + none,
        "late_errors": [float(f.wrong[half:].mean()) for f in histories] + none,
    }


def _fit(symbols: Floats) -> HMMBank | None:
    """Return the HMM of the largest likelihood in three fits of hmmlearn, if it is installed."""
    if find_spec("hmmlearn") is None:
        return None
    hmm = extras.require("hmmlearn.hmm")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it warns of steps of 1e-6
    column = symbols.astype(int)[:, np.newaxis]
    models = [
        hmm.CategoricalHMM(2, n_features=3, n_iter=60, random_state=start).fit(column)
        for start in range(3)
    ]
    return bank_from_hmmlearn([max(models, key=lambda model: model.score(column))])


def closed_share(arrays: Arrays, field: str, *, rounded: bool) -> tuple[float, float]:
    """Return the share of the gap from the random bank to the fitted HMM that learning closes.

    Return the mean over the sequences and its standard error, by leaving out one sequence at a
    time. Under the L1 loss only rounded predictors can be compared, because that loss rewards
    forecasts that are bolder than they should be.
    """
    random, learned, fitted = (arrays[field][:, k + rounded] for k in (0, 2, 4))
    share = _share(random, learned, fitted)
    runs = len(random)
    others = [_share(*(np.delete(v, k) for v in (random, learned, fitted))) for k in range(runs)]
    return share, float(np.sqrt((runs - 1) * np.var(others)))


def _share(random: Floats, learned: Floats, fitted: Floats) -> float:
    return float((random - learned).mean() / (random - fitted).mean())


MEASURED = (
    ("wrong decisions", "late_errors", False),
    ("wrong decisions, rounded", "late_errors", True),
    ("L1 loss, rounded", "late", True),
)


def learning_claim(arrays: Arrays) -> PaperClaim | None:
    """Judge whether learning closes most of the gap; this claim is ours, and needs hmmlearn."""
    if not np.isfinite(arrays["loss"]).all():
        return None
    shares = {
        what: closed_share(arrays, field, rounded=rounded) for what, field, rounded in MEASURED
    }
    good = [what for what, (share, error) in shares.items() if share - 2.0 * error > 0.5]
    likely = [what for what, (share, _) in shares.items() if share > 0.5]
    plain, _, learned, _, _, fitted = arrays["late"].mean(axis=0)
    alone = (plain - arrays["late"][:, 1].mean()) / (plain - fitted)
    verdict = FAILS
    if len(good) == len(shares):
        verdict = HOLDS
    elif len(likely) == len(shares):
        clear = f"{len(good)} of {len(shares)}"
        verdict = holds_only(f"if two standard errors are not asked for in all ({clear})")
    elif likely:
        verdict = holds_only(f"for {', '.join(likely)}")
    shown = ", ".join(f"{what} {s:.0%} ± {2 * e:.0%}" for what, (s, e) in shares.items())
    return PaperClaim(
        "A bank that learns online closes most of the gap between a random bank and the best "
        "HMM fitted in hindsight.",
        "Section 5, only sketched; ours",
        f"share of the gap that is closed in the second half: {shown} (± two standard errors). "
        f"L1 not rounded: {plain:.3f}, learning {learned:.3f}, the fit rounded {fitted:.3f}; "
        f"but rounding the random bank closes {alone:.0%} of that by itself",
        f"{len(arrays['loss'])} sequences of {ROUNDS:,} rounds, {CANDIDATES} candidates, "
        f"α = {HEDGER.alpha:g}, c = {HEDGER.c:g}",
        "holds if more than half is closed, clearly, for decisions, and for L1 with all rounded",
        verdict,
    )


def section(arrays: Arrays) -> Section:
    """Return the section with the table of losses."""
    rows = []
    for k, name in enumerate(NAMES):
        cells = [arrays[field][:, k] for field in FIELDS]
        texts = [f"{cell.mean():.4f} ± {cell.std(ddof=1):.4f}" for cell in cells]
        rows.append((name, *(texts if np.isfinite(cells[0]).all() else ["needs hmmlearn"] * 4)))
    return Section(
        "learning",
        "Learning the parameters online",
        f"{CANDIDATES} HMMs of two states over three symbols, drawn at random; those that were "
        f"behind for a whole memory ({1 / HEDGER.alpha:.0f} rounds) are replaced by perturbed "
        f"copies of those ahead. {len(arrays['loss'])} sequences of {ROUNDS:,} rounds from an HMM "
        "that is not among them; mean ± spread a round. Fitted: hmmlearn, on the whole sequence. "
        "Compare like with like: rounding by itself lowers the L1 loss of anybody.",
        head=("predictor", "L1 loss", "wrong decisions", "L1, second half", "wrong, second half"),
        rows=rows,
    )


PART = part_of_one(
    "learning", __name__, measure, claims=[learning_claim], sections=[section], layers=("latent",)
)
