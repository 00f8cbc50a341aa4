"""Section 5: hidden states as experts, beside Bayes; the measurements and their tables."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import AdaHedge, Hedge, NormalHedge
from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    Followed,
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
    ``late_errors`` those of the second half; ``curve`` is the mean loss in each hundredth of the
    rounds, sequences x predictors x 100.

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
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return found | {"names": found["names"][0]}


def _play(case: HiddenCase, rng: np.random.Generator) -> Arrays:
    bank, symbols, truth = case.draw(rng)
    histories = {name: follow(one, symbols) for name, one in predictors(bank).items()}
    best, _ = best_candidate(bank, symbols)
    histories[BEST] = follow(BayesAverage(bank.take(best)), symbols)
    followed = list(histories.values())
    weighing = [histories[name] for name in WEIGHING]
    half, tenth = len(symbols) // 2, len(symbols) // 10
    made = best if truth is None else truth
    start = half if case.id in CHANGES else 0
    found = {
        "names": list(histories),
        "loss": [f.losses.mean() for f in followed],
        "errors": [f.wrong.mean() for f in followed],
        "late": [f.losses[half:].mean() for f in followed],
        "late_errors": [f.wrong[half:].mean() for f in followed],
        "curve": [f.losses.reshape(POINTS, -1).mean(axis=1) for f in followed],
        "truth": [f.candidates[-tenth:, made].mean() for f in weighing],
        "best": [f.candidates[-tenth:, best].mean() for f in weighing],
        "converged": [_switched(f, start, made) for f in weighing],
        "is_best": best == made,
        "sharper": _sureness(bank, best) > _sureness(bank, made),
        "rounds": len(symbols),
    }
    return {name: np.array(values) for name, values in found.items()}


def _sureness(bank: CategoricalBank, candidate: int) -> float:
    """Return the probability of a candidate's likeliest symbol, the mean over its states."""
    return float(bank.emission[..., candidate].max(axis=0).mean())


def _switched(history: Followed, start: int, candidate: int) -> float:
    rounds = history.time_to_switch(start, candidate)
    return np.inf if rounds is None else float(rounds)


def by_case(measured: Measured) -> dict[str, Arrays]:
    """Return the arrays of each case that was measured."""
    names = {case.id: f"hidden-{case.id}" for case in CASES}
    return {case: measured[name] for case, name in names.items() if name in measured}


def values_of(found: Arrays, field: str, name: str) -> Floats:
    """Return the values of a predictor, one for each sequence."""
    values: Floats = found[field][:, found["names"].tolist().index(name)]
    return values


def mean_text(values: Floats) -> str:
    """Return the mean and the spread of some values, in words."""
    spread = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{spread}"


def sections(measured: Measured) -> list[Section]:
    """Return a section with the curves of all cases that were measured, and a table for each."""
    found = by_case(measured)
    cases = [case for case in CASES if case.id in found]
    if not cases:
        return []
    # The curves of other rules would lie on those of NormalHedge; the tables have their numbers.
    drawn = [name for name in found[cases[0].id]["names"].tolist() if not name.endswith(RULES)]
    panels = [
        (
            case.title,
            drawn,
            np.array([values_of(found[case.id], "curve", name).mean(axis=0) for name in drawn]),
            int(found[case.id]["rounds"][0]),
        )
        for case in cases
    ]
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
    return [first, *(_table(case, found[case.id]) for case in cases)]


def _table(case: HiddenCase, found: Arrays) -> Section:
    fields = ("loss", "errors", "late", "late_errors")
    names = found["names"].tolist()
    least = {field: min(values_of(found, field, name).mean() for name in names) for field in fields}
    rows = []
    for name in names:
        cells = [values_of(found, field, name) for field in fields]
        marks = ["*" if cell.mean() <= least[field] * (1 + 1e-9) else ""
                 for field, cell in zip(fields, cells, strict=True)]  # fmt: skip
        texts = [mean_text(cell) + mark for cell, mark in zip(cells, marks, strict=True)]
        rows.append((name, *texts))
    return Section(
        f"hidden-{case.id}",
        case.title,
        f"{case.text} {len(found['loss'])} sequences of {found['rounds'][0]:,} rounds; mean ± "
        "spread a round. * is the least of its column.",
        head=("predictor", "L1 loss", "wrong decisions", "L1, second half", "wrong, second half"),
        rows=rows,
    )


PART = Part(
    "hidden",
    (__name__, hidden_cases.__name__),
    {
        f"hidden-{case.id}": (on_one_core(f"hidden-{case.id}", partial(play_case, case)),)
        for case in CASES
    },
    sections=sections,
    layers=("latent",),
)
