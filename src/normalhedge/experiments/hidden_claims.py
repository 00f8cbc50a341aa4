"""The claims of Section 5, judged, and what is shown of them."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.experiments.hidden import (
    BAYES,
    BEST,
    CASES,
    FORGETTING,
    HEDGER,
    MODELS,
    STATES,
    WEIGHING,
    Case,
)
from normalhedge.experiments.measures import Arrays
from normalhedge.reports import Claim, Section, loss_plot

Found = Mapping[str, Arrays]
"""What `hidden.play_case` returned, by the case."""


def judge_hidden(found: Found) -> list[Claim]:
    """Return every claim that the cases at hand can judge."""
    return [rule(found) for needs, rule in _RULES if all(case in found for case in needs)]


def _of(found: Arrays, field: str, name: str) -> Floats:
    """Return the values of a predictor, one for each sequence."""
    values: Floats = found[field][:, found["names"].tolist().index(name)]
    return values


def _mean(values: Floats) -> str:
    spread = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{spread}"


def _clearly_less(one: Floats, other: Floats) -> bool:
    """Tell whether the first is less, sequence by sequence, by more than two standard errors."""
    difference = one - other
    return bool(difference.mean() < -2.0 * difference.std(ddof=1) / math.sqrt(len(difference)))


def _sample(found: Found, *cases: str) -> str:
    rounds = " and ".join(dict.fromkeys(f"{found[case]['rounds'][0]:,}" for case in cases))
    return (
        f"{len(found[cases[0]]['loss'])} sequences of {rounds} rounds, α = {HEDGER.alpha:g}, "
        f"c = {HEDGER.c:g}; ± is the spread over the sequences"
    )


def known_parameters(found: Found) -> Claim:
    """Judge the first case, one HMM whose states are the experts."""
    case = found["known"]
    ratio = {
        field: _of(case, field, STATES).mean() / _of(case, field, BAYES).mean()
        for field in ("loss", "errors")
    }
    good = [what for field, what in (("loss", "the L1 loss"), ("errors", "wrong decisions"))
            if ratio[field] < 1.01]  # fmt: skip
    verdict = (
        "holds" if len(good) == 2 else f"holds only for {good[0]}" if good else "does not hold"
    )
    return Claim(
        "With known parameters, an expert for each hidden state, confident by Bayes' formula, "
        "solves the prediction problem: hedging over the states loses no more than the HMM itself.",
        "Section 5",
        f"L1 loss a round {_mean(_of(case, 'loss', STATES))}, of the HMM itself "
        f"{_mean(_of(case, 'loss', BAYES))}; wrong decisions {_mean(_of(case, 'errors', STATES))}, "
        f"of the HMM {_mean(_of(case, 'errors', BAYES))}",
        _sample(found, "known"),
        "holds for what is at most 1 % more than the HMM's",
        verdict,
    )


def correct_vector(found: Found) -> Claim:
    """Judge where the weight goes when the truth is among the candidates."""
    case = found["among"]
    half = (case["truth"] > 0.5).sum(axis=0)
    runs = len(case["truth"])
    shown = ", ".join(f"{name} in {n}" for name, n in zip(WEIGHING, half, strict=True))
    other = runs - int(case["is_best"].sum())
    return Claim(
        "With the truth among the candidates, NormalHedge quickly gives most of the weight to the "
        "correct parameter vector.",
        "Section 5",
        f"the truth carries more than half of the weight in the last tenth of the rounds: {shown} "
        f"of {runs} sequences. The L1 loss is improper: in {other} of them another candidate has "
        f"the least L1 loss, and in {int(case['sharper'].sum())} that one's emissions are surer. "
        f"L1 a round: {STATES} {_mean(_of(case, 'loss', STATES))}, {BAYES} "
        f"{_mean(_of(case, 'loss', BAYES))}; wrong decisions {_mean(_of(case, 'errors', STATES))} "
        f"and {_mean(_of(case, 'errors', BAYES))}",
        _sample(found, "among"),
        "holds if it does so for state and model experts in nine of ten sequences; how quickly is "
        "then not asked",
        "holds" if min(half[0], half[1]) >= 0.9 * runs else "does not hold",
    )


def least_regret(found: Found) -> Claim:
    """Judge whether the weight goes to the candidate with the least loss."""
    cases = ("none", "fragile", "without")
    runs = len(found["none"]["best"])
    shown, good = [], []
    for case in cases:
        both = (found[case]["best"][:, :2] > 0.5).sum(axis=0)
        shown.append(f"{_title(case)}: {both[0]} and {both[1]}")
        if both.min() >= 0.9 * runs:
            good.append(_title(case))
    verdict = f"holds only in: {'; '.join(good)}" if good else "does not hold"
    return Claim(
        "If none of the vectors is correct, it converges on the one that makes the fewest "
        "mistakes, that is, on the least L1 loss.",
        "Section 5",
        "the candidate with the least L1 loss carries more than half of the weight in the last "
        f"tenth, for state and model experts, in so many of {runs} sequences: {'; '.join(shown)}",
        _sample(found, *cases),
        "holds if it does so in nine of ten sequences of all three cases, for both",
        "holds" if len(good) == len(cases) else verdict,
    )


def _title(case: str) -> str:
    return next(known.title.lower() for known in CASES if known.id == case)


def bayes_fails(found: Found) -> Claim:
    """Judge the contrast with the Bayesian average."""
    none, near = found["none"], found["fragile"]
    ratios = [_of(case, "loss", BAYES) / _of(case, "loss", BEST) for case in (none, near)]
    return Claim(
        "If none is correct, the loss of the Bayesian average can be much larger than that of the "
        "best candidate.",
        "Section 5",
        f"loss of the Bayesian average over the best candidate's: {ratios[0].mean():.2f} (least "
        f"{ratios[0].min():.2f}); that of model experts "
        f"{(_of(none, 'loss', MODELS) / _of(none, 'loss', BEST)).mean():.3f}, of state experts "
        f"{(_of(none, 'loss', STATES) / _of(none, 'loss', BEST)).mean():.3f}. It is fragile: with "
        f"a little less noise Bayes finds the sharp candidate, {ratios[1].mean():.2f}",
        _sample(found, "none", "fragile"),
        "holds if it is more than twice as large in every sequence of the first case",
        "holds" if ratios[0].min() > 2.0 else "does not hold",
    )


def recovery(found: Found) -> Claim:
    """Judge what happens when the truth changes; this claim is ours."""
    cases = ("change", "mild")
    good = [case for case in cases if all(_spared(found[case], f) for f in ("loss", "errors"))]
    stark = found["change"]
    times = [
        "never" if math.isinf(t) else f"{t:,.0f}" for t in np.median(stark["converged"], axis=0)
    ]
    verdict = f"holds only in: {'; '.join(_title(c) for c in good)}" if good else "does not hold"
    return Claim(
        "If the truth changes on the way, hedging recovers and the Bayesian average does not.",
        "Section 5; ours",
        f"{'. '.join(f'{_title(case).capitalize()}: {_after(found[case])}' for case in cases)}. "
        f"Rounds until the new truth has half of the weight (median, {_title('change')}): {STATES} "
        f"{times[0]}, {MODELS} {times[1]}, {BAYES} {times[2]} in {stark['rounds'][0] // 2:,}",
        _sample(found, *cases),
        f"holds if from the first half to the second the losses of {MODELS} grow clearly less than "
        "those of Bayes, L1 and wrong decisions, in both cases",
        "holds" if len(good) == len(cases) else verdict,
    )


def _spared(case: Arrays, field: str) -> bool:
    """Tell whether the change cost model experts clearly less than Bayes."""
    late = {"loss": "late", "errors": "late_errors"}[field]
    grown = [2.0 * (_of(case, late, n) - _of(case, field, n)) for n in (MODELS, BAYES)]
    return _clearly_less(grown[0], grown[1])


def _after(case: Arrays) -> str:
    """Return losses after the change, in words."""
    names = (MODELS, BAYES, FORGETTING)
    losses = ", ".join(f"{name} {_mean(_of(case, 'late', name))}" for name in names)
    errors = ", ".join(_mean(_of(case, "late_errors", name)) for name in names)
    return f"L1 a round after the change {losses}; wrong decisions {errors}"


_RULES: tuple[tuple[tuple[str, ...], Callable[[Found], Claim]], ...] = (
    (("known",), known_parameters),
    (("among",), correct_vector),
    (("none", "fragile", "without"), least_regret),
    (("none", "fragile"), bayes_fails),
    (("change", "mild"), recovery),
)


def hidden_sections(found: Found) -> list[Section]:
    """Return the curves of all cases, and a table for each."""
    cases = [case for case in CASES if case.id in found]
    if not cases:
        return []
    panels = [
        (case.title, found[case.id]["names"].tolist(), found[case.id]["curve"].mean(axis=0),
         int(found[case.id]["rounds"][0]))
        for case in cases
    ]  # fmt: skip
    first = Section(
        "hidden",
        "Section 5: hidden states as experts",
        "The L1 loss 1 − p(x) a round, mean over the sequences, in each hundredth of the rounds. "
        "Rounded: the most probable symbol is said for sure. Click in the legend to switch.",
        loss_plot("hidden", panels),
    )
    return [first, *(_table(case, found[case.id]) for case in cases)]


def _table(case: Case, found: Arrays) -> Section:
    fields = ("loss", "errors", "late", "late_errors")
    names = found["names"].tolist()
    least = {field: min(_of(found, field, name).mean() for name in names) for field in fields}
    rows = []
    for name in names:
        cells = [_of(found, field, name) for field in fields]
        marks = ["*" if cell.mean() <= least[field] * (1 + 1e-9) else ""
                 for field, cell in zip(fields, cells, strict=True)]  # fmt: skip
        texts = [_mean(cell) + mark for cell, mark in zip(cells, marks, strict=True)]
        rows.append((name, *texts))
    return Section(
        f"hidden-{case.id}",
        case.title,
        f"{case.text} {len(found['loss'])} sequences of {found['rounds'][0]:,} rounds; mean ± "
        "spread a round. * is the least of its column.",
        head=("predictor", "L1 loss", "wrong decisions", "L1, second half", "wrong, second half"),
        rows=rows,
    )
