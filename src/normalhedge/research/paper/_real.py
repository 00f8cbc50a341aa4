"""Section 5 on real series: hidden states as experts, beside `infer`, which grew out of them."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import AdaHedge, Hedge, NormalHedge
from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    LearningBank,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    categorical_bank,
    follow,
    infer,
)
from normalhedge.latent.models import fit
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._part import ALPHA, PaperSettings, Part, on_one_core

FIRST = 365  # the candidates are fitted to windows of the first year, and judged afterwards
CANDIDATES, QUICK_CANDIDATES, STATES = 60, 8, 2
SHORTEST = 90  # the length of the shortest window
WARM = 15.0  # degrees

TITLES = {
    "rain": "Seattle: is it a wet day?",
    "warm": f"Seattle: is the maximum of the day above {WARM:g} °C?",
}
SCORES = ("L1 loss", "Brier score", "log score", "wrong decisions")


def measure(settings: PaperSettings) -> Arrays:
    """Return the mean scores of each predictor on each series, series x predictors x scores.

    Without vega_datasets, which has the series, there are none.
    """
    if find_spec("vega_datasets") is None:
        return {"scores": np.empty((0, 0, 0)), "names": np.empty(0, dtype=np.str_)}
    count = QUICK_CANDIDATES if settings.quick else CANDIDATES
    series = _series()
    results = [_scores(symbols, count, settings.seed) for symbols in series.values()]
    names = list(results[0])
    scores = np.array([[result[name] for name in names] for result in results])
    return {"scores": scores, "names": np.array(names), "candidates": np.array(count)}


def _series() -> dict[str, Floats]:
    """Return the days of 2012 to 2015 as symbols, by the keys of `TITLES`."""
    data: Any = import_module("vega_datasets").data
    weather = data.seattle_weather()
    return {
        "rain": (weather["precipitation"].to_numpy() > 0.0).astype(np.float64),
        "warm": (weather["temp_max"].to_numpy() > WARM).astype(np.float64),
    }


def predictors(bank: CategoricalBank, rng: np.random.Generator) -> dict[str, Predictor]:
    """Return the predictors, from the paper's own to what was added."""
    states = bank.candidates * bank.states
    hedger = NormalHedge.paper(ALPHA)
    return {
        "state experts, NormalHedge (the paper)": StateExperts(bank, hedger),
        "state experts, Hedge": StateExperts(bank, Hedge.corrected(ALPHA, states)),
        "state experts, AdaHedge": StateExperts(bank, AdaHedge(ALPHA)),
        "whole models as experts, NormalHedge": ModelExperts(bank, hedger),
        "whole models by their log score (Bayes)": BayesAverage(bank),
        "the same, with a memory": BayesAverage(bank, 1.0 - ALPHA),
        "models that are replaced while they are used": LearningBank(
            bank, rng, NormalHedge(alpha=10.0 * ALPHA)
        ),
        "the last symbol again": Persistence(bank.symbol_count),
    }


def _scores(symbols: Floats, count: int, seed: int) -> dict[str, list[float]]:
    """Return the scores of each predictor after the first year."""
    rng = np.random.default_rng(seed)
    bank, later = _bank(symbols[:FIRST], count, rng), symbols[FIRST:]
    result = {
        name: judged(follow(each, later, keep_weights=False).predictions, later)
        for name, each in predictors(bank, rng).items()
    }
    regimes = infer(symbols, kind="symbols", seed=seed)
    result["infer"] = judged(regimes.symbol_probabilities[FIRST:], later)
    return result


def _bank(symbols: Floats, count: int, rng: np.random.Generator) -> CategoricalBank:
    """Return models that are fitted to windows of a series: the first to all of it."""
    models = []
    for n in range(count):
        length = len(symbols) if n == 0 else int(rng.integers(SHORTEST, len(symbols)))
        start = int(rng.integers(len(symbols) - length + 1))
        part = symbols[start : start + length]
        models.append(fit(part, STATES, "categorical", rng=rng, starts=3, symbols=2))
    emissions: list[Any] = [model.emission for model in models]
    return categorical_bank(
        [model.stationary() for model in models],
        [model.transition for model in models],
        [emission.probabilities for emission in emissions],
    )


def judged(predictions: Floats, symbols: Floats) -> list[float]:
    """Return the mean of each of `SCORES` of predicted probabilities, T x m."""
    observed = symbols.astype(int)
    chances = predictions[np.arange(len(observed)), observed]
    brier = np.square(predictions - np.eye(predictions.shape[1])[observed]).sum(axis=1)
    logs = np.log(np.maximum(chances, 1e-12))
    wrong = predictions.argmax(axis=1) != observed
    return [float(part.mean()) for part in (1.0 - chances, brier, logs, wrong)]


def sections(arrays: Arrays) -> list[Section]:
    """Return a section with a table for each series."""
    result = []
    names = arrays["names"].tolist()
    for (key, title), scores in zip(TITLES.items(), arrays["scores"], strict=False):
        best = [scores[:, k].max() if k == 2 else scores[:, k].min() for k in range(len(SCORES))]
        rows = [
            (name, *(f"{x:.4f}" + "*" * int(x == y) for x, y in zip(row, best, strict=True)))
            for name, row in zip(names, scores.tolist(), strict=True)
        ]
        result.append(
            Section(
                f"real-{key}",
                f"Section 5 on real days. {title}",
                f"The paper's proposal on days that nobody simulated: {int(arrays['candidates'])} "
                f"HMMs with {STATES} states, fitted to windows of 2012, predict 2013 to 2015. Each "
                f"of the {int(arrays['candidates']) * STATES} states is an expert, its confidence "
                "is its posterior probability, its gain is 1 − L1 loss. “infer” is what "
                "`normalhedge.latent` made of the idea: models learn all the time, in several "
                "ways and with several numbers of states, and the log score, which rewards honest "
                "probabilities, weighs them. Means a day; * is the best of its column.",
                head=("predictor", *SCORES),
                rows=rows,
            )
        )
    return result


PART = Part(
    "real",
    (__name__,),
    {"real": (on_one_core("real", measure),)},
    sections=lambda measured: sections(measured["real"]) if "real" in measured else [],
    layers=("latent",),
)
