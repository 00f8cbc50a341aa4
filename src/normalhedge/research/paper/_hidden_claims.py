"""The claims of Section 5 about hidden states, judged."""

import math
from collections.abc import Callable

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._claim import (
    FAILS,
    HOLDS,
    PaperClaim,
    Verdict,
    holds_if,
    holds_only,
)
from normalhedge.research.paper._hidden import (
    BAYES,
    BEST,
    FORGETTING,
    HEDGER,
    MODELS,
    RULES,
    STATES,
    WEIGHING,
    ByCase,
    by_case,
    mean_text,
    values_of,
    with_rule,
)
from normalhedge.research.paper._hidden_cases import CASES
from normalhedge.research.paper._part import Measured, Part


def _sample(arrays: ByCase, *cases: str) -> str:
    rounds = " and ".join(dict.fromkeys(f"{arrays[case]['rounds'][0]:,}" for case in cases))
    return (
        f"{len(arrays[cases[0]]['loss'])} sequences of {rounds} rounds, α = {HEDGER.alpha:g}, "
        f"c = {HEDGER.c:g}; ± is the spread over the sequences"
    )


def known_parameters(arrays: ByCase) -> PaperClaim:
    """Judge the first case, one HMM whose states are the experts; this claim is ours."""
    case = arrays["known"]
    ratio = {
        field: values_of(case, field, STATES).mean() / values_of(case, field, BAYES).mean()
        for field in ("loss", "errors")
    }
    good = [what for field, what in (("loss", "the L1 loss"), ("errors", "wrong decisions"))
            if ratio[field] < 1.01]  # fmt: skip
    verdict = HOLDS if len(good) == 2 else holds_only(f"for {good[0]}") if good else FAILS
    return PaperClaim(
        "With known parameters and an expert for each hidden state, confident by Bayes' formula, "
        "hedging over the states loses no more than the HMM itself.",
        "Section 5; ours",
        f"L1 loss a round {mean_text(case, 'loss', STATES)}, of the HMM itself "
        f"{mean_text(case, 'loss', BAYES)}; wrong decisions {mean_text(case, 'errors', STATES)}, "
        f"of the HMM {mean_text(case, 'errors', BAYES)}",
        _sample(arrays, "known"),
        "holds for each loss that is at most 1 % more than the HMM's",
        verdict,
    )


def correct_vector(arrays: ByCase) -> PaperClaim:
    """Judge where the weight goes when the truth is among the candidates."""
    case = arrays["among"]
    half = (case["truth"] > 0.5).sum(axis=0)
    runs = len(case["truth"])
    shown = ", ".join(f"{name} in {n}" for name, n in zip(WEIGHING, half, strict=True))
    other = runs - int(case["is_best"].sum())
    return PaperClaim(
        "With the truth among the candidates, NormalHedge quickly gives most of the weight to the "
        "correct parameter vector.",
        "Section 5",
        f"the truth carries more than half of the weight in the last tenth of the rounds: {shown} "
        f"of {runs} sequences. The L1 loss is improper: in {other} of them another candidate has "
        f"the least L1 loss, and in {int(case['sharper'].sum())} that one's emissions are surer. "
        f"L1 a round: {STATES} {mean_text(case, 'loss', STATES)}, {BAYES} "
        f"{mean_text(case, 'loss', BAYES)}; wrong decisions {mean_text(case, 'errors', STATES)} "
        f"and {mean_text(case, 'errors', BAYES)}",
        _sample(arrays, "among"),
        "holds if it does so for state and model experts in nine of ten sequences; how quickly is "
        "then not asked",
        holds_if(min(half[0], half[1]) >= 0.9 * runs),
    )


def least_regret(arrays: ByCase) -> PaperClaim:
    """Judge whether the weight goes to the candidate with the least loss."""
    cases = ("none", "fragile", "without")
    runs = len(arrays["none"]["best"])
    shown, good = [], []
    for case in cases:
        both = (arrays[case]["best"][:, :2] > 0.5).sum(axis=0)
        shown.append(f"{_title(case)}: {both[0]} and {both[1]}")
        if both.min() >= 0.9 * runs:
            good.append(_title(case))
    return PaperClaim(
        "If none of the vectors is correct, it converges on the one that makes the fewest "
        "mistakes, that is, on the least L1 loss.",
        "Section 5",
        "the candidate with the least L1 loss carries more than half of the weight in the last "
        f"tenth, for state and model experts, in so many of {runs} sequences: {'; '.join(shown)}",
        _sample(arrays, *cases),
        "holds if it does so in nine of ten sequences of all three cases, for both",
        _in(good, len(cases)),
    )


def _in(titles: list[str], cases: int) -> Verdict:
    """Return the verdict on a claim that holds in the cases of these titles, of so many cases."""
    if len(titles) == cases:
        return HOLDS
    return holds_only(f"in: {'; '.join(titles)}") if titles else FAILS


def _title(case: str) -> str:
    return next(each.title.lower() for each in CASES if each.id == case)


def _to_best(case: Arrays, name: str) -> Floats:
    """Return the loss of a predictor over the best candidate's, for each sequence."""
    return np.asarray(values_of(case, "loss", name) / values_of(case, "loss", BEST))


def bayes_fails(arrays: ByCase) -> PaperClaim:
    """Judge the contrast with the Bayesian average."""
    none, near = arrays["none"], arrays["fragile"]
    ratios = [_to_best(case, BAYES) for case in (none, near)]
    rules = {
        kind: ", ".join(
            f"{_to_best(none, name).mean():.3f}"
            for name in (kind, *(with_rule(kind, rule) for rule in RULES))
        )
        for kind in (MODELS, STATES)
    }
    return PaperClaim(
        "If none is correct, the loss of the Bayesian average can be much larger than that of the "
        "best candidate.",
        "Section 5",
        f"loss of the Bayesian average over the best candidate's: {ratios[0].mean():.2f} (least "
        f"{ratios[0].min():.2f})",
        _sample(arrays, "none", "fragile"),
        "holds if it is more than twice as large in every sequence of the first case",
        holds_if(ratios[0].min() > 2.0),
        f"by NormalHedge, {' and '.join(RULES)} on the same bounded loss: {rules[MODELS]} for "
        f"model experts, {rules[STATES]} for state experts. The bounded loss beats Bayes, not the "
        "rule. The case is fragile: with a little less noise Bayes finds the sharp candidate, "
        f"{ratios[1].mean():.2f}",
    )


def recovery(arrays: ByCase) -> PaperClaim:
    """Judge what happens when the truth changes; this claim is ours."""
    cases = ("change", "mild")
    good = [case for case in cases if all(_is_spared(arrays[case], f) for f in ("loss", "errors"))]
    stark = arrays["change"]
    times = [
        "never" if math.isinf(t) else f"{t:,.0f}" for t in np.median(stark["converged"], axis=0)
    ]
    return PaperClaim(
        "If the truth changes on the way, hedging recovers and the Bayesian average does not.",
        "Section 5; ours",
        f"{'. '.join(f'{_title(case).capitalize()}: {_after(arrays[case])}' for case in cases)}. "
        f"Rounds until the new truth has half of the weight (median, {_title('change')}): {STATES} "
        f"{times[0]}, {MODELS} {times[1]}, {BAYES} {times[2]} in {stark['rounds'][0] // 2:,}",
        _sample(arrays, *cases),
        f"holds if from the first half to the second the losses of {MODELS} grow clearly less than "
        "Bayes' losses, L1 and wrong decisions, in both cases",
        _in([_title(case) for case in good], len(cases)),
    )


def _is_spared(case: Arrays, field: str) -> bool:
    """Tell whether the change cost model experts less than Bayes, by over two standard errors."""
    late = {"loss": "late", "errors": "late_errors"}[field]
    models, bayes = (values_of(case, late, n) - values_of(case, field, n) for n in (MODELS, BAYES))
    less = 2.0 * models - 2.0 * bayes
    return bool(less.mean() < -2.0 * less.std(ddof=1) / math.sqrt(len(less)))


def _after(case: Arrays) -> str:
    """Return losses after the change, in words."""
    names = (MODELS, BAYES, FORGETTING)
    losses = ", ".join(f"{name} {mean_text(case, 'late', name)}" for name in names)
    errors = ", ".join(mean_text(case, "late_errors", name) for name in names)
    return f"L1 a round after the change {losses}; wrong decisions {errors}"


_RULES: tuple[tuple[tuple[str, ...], Callable[[ByCase], PaperClaim]], ...] = (
    (("known",), known_parameters),
    (("among",), correct_vector),
    (("none", "fragile", "without"), least_regret),
    (("none", "fragile"), bayes_fails),
    (("change", "mild"), recovery),
)
"""The cases that a claim needs, all of them, and the function that judges it."""


def judge(measured: Measured) -> list[PaperClaim]:
    """Return each claim whose cases were all measured."""
    cases = by_case(measured)
    return [rule(cases) for needs, rule in _RULES if all(case in cases for case in needs)]


PART = Part("hidden-claims", (__name__,), judge=judge)
