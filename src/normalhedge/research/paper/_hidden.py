"""Section 5: hidden states as experts, beside Bayes; the measurements and their tables."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import AdaHedge, Hedge, NormalHedge
from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
    follow,
)
from normalhedge.reports import Section, loss_plot
from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _hidden_cases as hidden_cases
from normalhedge.research.paper._hidden_cases import CASES, CHANGES, HiddenCase
from normalhedge.research.paper._part import ALPHA, Measured, PaperSettings, Part, on_one_core

HEDGER = NormalHedge.paper(ALPHA)
SEQUENCES, QUICK_SEQUENCES = 20, 3
POINTS = 100
"""The number of points of a curve."""

STATES, MODELS, BAYES = "state experts", "model experts", "Bayes average"
FORGETTING, BEST = "Bayes, discounted", "best candidate in hindsight"
WEIGHING = (STATES, MODELS, BAYES)
"""The predictors whose weights are recorded."""

RULES = ("Hedge", "AdaHedge")
"""Other rules, with the same experts, the same bounded loss and the same memory."""

ByCase = Mapping[str, Arrays]
"""The arrays of `play_case`, by the id of the case."""


def with_rule(experts: str, rule: str) -> str:
    """Return the name of a predictor whose rule is not NormalHedge."""
    return f"{experts}, {rule}"


def predictors(bank: CategoricalBank) -> dict[str, Predictor]:
    """Return the predictors that are compared, by name."""
    keep, models = 1.0 - ALPHA, bank.candidates
    states = models * bank.states
    return {
        STATES: StateExperts(bank, HEDGER),
        f"{STATES}, rounded": StateExperts(bank, HEDGER, rounded=True),
        with_rule(STATES, "Hedge"): StateExperts(bank, Hedge.corrected(ALPHA, states)),
        with_rule(STATES, "AdaHedge"): StateExperts(bank, AdaHedge(ALPHA)),
        MODELS: ModelExperts(bank, HEDGER),
        f"{MODELS}, rounded": ModelExperts(bank, HEDGER, rounded=True),
        with_rule(MODELS, "Hedge"): ModelExperts(bank, Hedge.corrected(ALPHA, models)),
        with_rule(MODELS, "AdaHedge"): ModelExperts(bank, AdaHedge(ALPHA)),
        BAYES: BayesAverage(bank),
        "Bayes rounded": BayesAverage(bank, rounded=True),
        FORGETTING: BayesAverage(bank, keep),
        "Bayes rounded, discounted": BayesAverage(bank, keep, rounded=True),
        "persistence": Persistence(bank.symbol_count),
    }


def play_case(case: HiddenCase, settings: PaperSettings) -> Arrays:
    """Return the losses and the wrong decisions of each predictor on each sequence of a case.

    ``loss`` and ``errors`` are means over all rounds, sequences x predictors; ``late`` and
    ``late_errors`` are means over the second half; ``curve`` is the mean loss in each hundredth of
    the rounds, sequences x predictors x 100.

    For state experts, model experts and Bayes there are also ``truth`` and ``best``: the mean
    weight, in the last tenth of the rounds, of the candidate that made the data, and of the
    candidate with the least L1 loss. ``converged`` is the number of rounds until the candidate that
    made the data (if there is none: the one with the least loss) first had half of the weight,
    counted from the change if there is one.

    ``is_best`` tells whether the candidate that made the data had the least L1 loss, ``sharper``
    whether the emissions of the candidate with the least loss are surer than its own.
    """
    count = QUICK_SEQUENCES if settings.quick else SEQUENCES
    seeds = np.random.SeedSequence([settings.seed, *case.id.encode()]).spawn(count)
    rows = [_play(case, np.random.default_rng(child)) for child in seeds]
    arrays = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return arrays | {"names": arrays["names"][0]}


def _play(case: HiddenCase, rng: np.random.Generator) -> Arrays:
    bank, symbols, truth = case.draw(rng)
    histories = {name: follow(each, symbols) for name, each in predictors(bank).items()}
    best, _ = best_candidate(bank, symbols)
    histories[BEST] = follow(BayesAverage(bank.take(best)), symbols)
    followed = list(histories.values())
    weighing = [histories[name] for name in WEIGHING]
    half, tenth = len(symbols) // 2, len(symbols) // 10
    made = best if truth is None else truth
    start = half if case.id in CHANGES else 0
    times = [f.time_to_switch(start, made) for f in weighing]
    columns = {
        "names": list(histories),
        "loss": [f.losses.mean() for f in followed],
        "errors": [f.wrong.mean() for f in followed],
        "late": [f.losses[half:].mean() for f in followed],
        "late_errors": [f.wrong[half:].mean() for f in followed],
        "curve": [f.losses.reshape(POINTS, -1).mean(axis=1) for f in followed],
        "truth": [f.candidates[-tenth:, made].mean() for f in weighing],
        "best": [f.candidates[-tenth:, best].mean() for f in weighing],
        "converged": [np.inf if t is None else float(t) for t in times],
        "is_best": best == made,
        "sharper": _sureness(bank, best) > _sureness(bank, made),
        "rounds": len(symbols),
    }
    return {name: np.array(values) for name, values in columns.items()}


def _sureness(bank: CategoricalBank, candidate: int) -> float:
    """Return the probability of a candidate's likeliest symbol, the mean over its states."""
    return float(bank.emission[..., candidate].max(axis=0).mean())


def by_case(measured: Measured) -> dict[str, Arrays]:
    """Return the arrays of each case that was measured."""
    return {case.id: measured[case.cell] for case in CASES if case.cell in measured}


def values_of(arrays: Arrays, field: str, name: str) -> Floats:
    """Return the values of a predictor, one for each sequence."""
    values: Floats = arrays[field][:, arrays["names"].tolist().index(name)]
    return values


def mean_text(arrays: Arrays, field: str, name: str) -> str:
    """Return the mean and the spread of the values of a predictor, in words."""
    values = values_of(arrays, field, name)
    spread = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{spread}"


def sections(measured: Measured) -> list[Section]:
    """Return a section with the curves of all cases that were measured, and a table for each."""
    cases = {case: measured[case.cell] for case in CASES if case.cell in measured}
    if not cases:
        return []
    panels = []
    for case, arrays in cases.items():
        # The curves of other rules would lie on the curves of NormalHedge; the tables have them.
        names = [name for name in arrays["names"].tolist() if not name.endswith(RULES)]
        curves = np.array([values_of(arrays, "curve", name).mean(axis=0) for name in names])
        panels.append((case.title, names, curves, int(arrays["rounds"][0])))
    first = Section(
        "hidden",
        "Section 5: hidden states as experts",
        "The L1 loss 1 − p(x) a round, mean over the sequences, in each hundredth of the rounds. "
        "Rounded: the most probable symbol is said for sure. Click in the legend to switch. State "
        "and model experts are weighed by NormalHedge; the tables also have Hedge (at its best η) "
        "and AdaHedge on the same experts, with the same bounded loss and the same memory. Where "
        "NormalHedge beats Bayes, they do, too: the bounded loss does it, not the rule.",
        loss_plot("hidden", panels),
    )
    return [first, *(_table(case, arrays) for case, arrays in cases.items())]


def _table(case: HiddenCase, arrays: Arrays) -> Section:
    fields, names = ("loss", "errors", "late", "late_errors"), arrays["names"].tolist()
    columns = []
    for field in fields:
        means = np.array([values_of(arrays, field, name).mean() for name in names])
        least = means <= means.min() * (1 + 1e-9)
        texts = [mean_text(arrays, field, name) for name in names]
        columns.append([text + "*" * int(mark) for text, mark in zip(texts, least, strict=True)])
    return Section(
        case.cell,
        case.title,
        f"{case.text} {len(arrays['loss'])} sequences of {arrays['rounds'][0]:,} rounds; mean ± "
        "spread a round. * is the least of its column.",
        head=("predictor", "L1 loss", "wrong decisions", "L1, second half", "wrong, second half"),
        rows=list(zip(names, *columns, strict=True)),
    )


PART = Part(
    "hidden",
    (__name__, hidden_cases.__name__),
    {case.cell: (on_one_core(case.cell, partial(play_case, case)),) for case in CASES},
    sections=sections,
    layers=("latent",),
)
