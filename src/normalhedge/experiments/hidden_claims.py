"""The claims of Section 5, judged, and what is shown of them."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.experiments.figures import ALPHA
from normalhedge.experiments.hidden import BAYES, BEST, CASES, MODELS, STATES, WEIGHING, Case
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
    rounds = " and ".join(f"{found[case]['rounds'][0]:,}" for case in cases)
    return (
        f"{len(found[cases[0]]['loss'])} sequences of {rounds} rounds, α = {ALPHA:g}, c = 4; ± is "
        "the spread over the sequences"
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
    holds = min(half[0], half[1]) > 0.9 * runs
    return Claim(
        "With the truth among the candidates, NormalHedge quickly gives most of the weight to the "
        "correct parameter vector.",
        "Section 5",
        f"the truth carries more than half of the weight in the last tenth of the rounds: {shown} "
        f"of {runs} sequences. The L1 loss is improper: in {runs - int(case['is_best'].sum())} of "
        f"them another candidate, a sharper one, has a smaller L1 loss. L1 a round: "
        f"{STATES} {_mean(_of(case, 'loss', STATES))}, {BAYES} "
        f"{_mean(_of(case, 'loss', BAYES))}; wrong decisions {_mean(_of(case, 'errors', STATES))} "
        f"and {_mean(_of(case, 'errors', BAYES))}",
        _sample(found, "among"),
        "holds if it does so for state and model experts in nine of ten sequences",
        "holds" if holds else "does not hold",
    )


def least_regret(found: Found) -> Claim:
    """Judge whether the weight goes to the candidate with the least loss."""
    cases = ("none", "fragile", "among")
    good = {case: (found[case]["best"][:, :2] > 0.5).sum(axis=0).tolist() for case in cases}
    runs = len(found["none"]["best"])
    few = all(n > 0.9 * runs for case in ("none", "fragile") for n in good[case])
    many = all(n > 0.9 * runs for n in good["among"])
    verdict = "holds" if few and many else "does not hold"
    if few and not many:
        verdict = "holds only if one candidate is clearly the best"
    return Claim(
        "If none of the vectors is correct, it converges on the one that makes the fewest "
        "mistakes.",
        "Section 5",
        "the candidate with the least L1 loss carries more than half of the weight in the last "
        f"tenth, for state and model experts: none correct, in {_pair(good['none'])}; its "
        f"neighbour, in {_pair(good['fragile'])}; fifty drawn at random, in {_pair(good['among'])} "
        f"of {runs} sequences",
        _sample(found, "none", "among"),
        "holds if it does so in nine of ten sequences of each of the three",
        verdict,
    )


def _pair(values: list[int]) -> str:
    return f"{values[0]} and {values[1]}"


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
    stark, mild = found["change"], found["mild"]
    forgetting = "Bayes, discounted"
    good = [
        _clearly_less(_of(case, "late", MODELS), _of(case, "late", BAYES)) for case in (stark, mild)
    ]
    times = [
        "never" if math.isinf(t) else f"{t:,.0f}" for t in np.median(stark["converged"], axis=0)
    ]
    return Claim(
        "If the truth changes on the way, hedging recovers and the Bayesian average does not.",
        "Section 5; ours",
        f"L1 loss a round after the change: model experts {_mean(_of(stark, 'late', MODELS))}, "
        f"Bayes {_mean(_of(stark, 'late', BAYES))}, discounted Bayes "
        f"{_mean(_of(stark, 'late', forgetting))}; rounds until the new truth has half of the "
        f"weight (median): state experts {times[0]}, model experts {times[1]}, Bayes {times[2]} in "
        f"{stark['rounds'][0] // 2:,}. After a mild change: {_mean(_of(mild, 'late', MODELS))}, "
        f"{_mean(_of(mild, 'late', BAYES))}, {_mean(_of(mild, 'late', forgetting))}; wrong "
        f"decisions {_mean(_of(mild, 'late_errors', MODELS))}, "
        f"{_mean(_of(mild, 'late_errors', BAYES))}, {_mean(_of(mild, 'late_errors', forgetting))}",
        _sample(found, "change", "mild"),
        "holds if model experts lose clearly less L1 after the change than Bayes, in both cases. "
        "Bayes that forgets recovers, too",
        "holds" if all(good) else "holds only if the change is stark" if good[0]
        else "does not hold",
    )  # fmt: skip


_RULES: tuple[tuple[tuple[str, ...], Callable[[Found], Claim]], ...] = (
    (("known",), known_parameters),
    (("among",), correct_vector),
    (("none", "fragile", "among"), least_regret),
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
