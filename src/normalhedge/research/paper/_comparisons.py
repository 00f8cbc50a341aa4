"""Section 4.2: NormalHedge against Hedge, and one c against another, in the panels of the figures.

Two hedgers are compared run by run on the same gains: a is better than b in a panel if the mean of
the differences of their mean regrets is below zero by more than two standard errors. A claim is
judged at the learning rate of Hedge that the paper prints for its simulations; other rates and
other c go beyond it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.research.games import Trace
from normalhedge.research.paper._claim import FAILS, HOLDS, PaperClaim, holds_if, holds_only
from normalhedge.research.paper._figures import (
    FIGURES,
    FURTHER_C,
    HEDGE,
    HEDGES,
    PANELS,
    FigurePanel,
    normal,
    traces_of,
)
from normalhedge.research.paper._part import PRINTED_C, Measured, Part

Traces = Mapping[FigurePanel, Trace]

OTHER_HEDGES = tuple(hedge for hedge in HEDGES if hedge != HEDGE)
"""Hedge at rates that the simulations of the paper do not use."""


def _regrets(trace: Trace, name: str, parts: slice = slice(None)) -> Floats:
    """Return the mean regret of each run, over some parts of the game."""
    means: Floats = trace.part_regret[trace.hedgers.index(name)][:, parts].mean(axis=1)
    return means


def _mean_and_error(values: Floats) -> tuple[float, float]:
    """Return the mean over the runs and its standard error, infinite if there is one run."""
    runs = len(values)
    error = values.std(ddof=1) / math.sqrt(runs) if runs > 1 else math.inf
    return float(values.mean()), float(error)


def _compare(trace: Trace, hedger: str, other: str, parts: slice = slice(None)) -> int:
    """Return -1 if the first hedger is better, 1 if it is worse, 0 if neither is clear."""
    mean, error = _mean_and_error(_regrets(trace, hedger, parts) - _regrets(trace, other, parts))
    return 0 if abs(mean) <= 2.0 * error else int(np.sign(mean))


def _sample(traces: Traces) -> str:
    """Return the number of panels and runs, and the spread of a run, in words."""
    spreads = [
        _regrets(trace, name).std(ddof=1)
        for trace in traces.values()
        for name in trace.hedgers
        if trace.runs > 1
    ]
    spread = f"; spread of a run's mean regret {np.median(spreads):.2g} (median)" if spreads else ""
    runs = next(iter(traces.values())).runs
    return f"{len(traces)} panels, {runs} runs each{spread}"


def large_and_many(traces: Traces) -> PaperClaim:
    """Judge NormalHedge against Hedge when the good experts are many and much better."""
    total = len(traces)
    better = {
        hedge: [sum(_compare(t, normal(c), hedge) < 0 for t in traces.values()) for c in PRINTED_C]
        for hedge in HEDGES
    }
    pronounced = all(
        _ratio(trace, c, slice(0, 1)) > _ratio(trace, c, slice(1, None))
        for c in PRINTED_C
        for trace in traces.values()
    )
    verdict = FAILS
    if all(count == total for count in better[HEDGE]):
        verdict = HOLDS if pronounced else holds_only("over all rounds")
    shown = {hedge: ", ".join(map(str, counts)) for hedge, counts in better.items()}
    ratios = ", ".join(
        f"{np.mean([_ratio(t, c, slice(0, 1)) for t in traces.values()]):.2f} before and "
        f"{np.mean([_ratio(t, c, slice(1, None)) for t in traces.values()]):.2f} after"
        for c in PRINTED_C
    )
    return PaperClaim(
        "NormalHedge fares better than Hedge when γ and f are large, especially before the first "
        "shift.",
        "Section 4.2.1",
        f"panels (of {total}) in which c = 1, 2, 4 is better than {HEDGE}: {shown[HEDGE]}. Regret "
        f"of Hedge over NormalHedge's, c = 1, 2, 4: {ratios} the first shift",
        _sample(traces),
        "holds if better in every panel with γ ≥ 0.6 and f ≥ 0.1 for every printed c, and the "
        "ratio is larger before the first shift than after it",
        verdict,
        "; ".join(f"better than {hedge} in {shown[hedge]}" for hedge in OTHER_HEDGES),
    )


def _ratio(trace: Trace, c: float, parts: slice) -> float:
    """Return the regret of Hedge over the regret of NormalHedge."""
    return float(_regrets(trace, HEDGE, parts).mean() / _regrets(trace, normal(c), parts).mean())


def smaller_c(traces: Traces) -> PaperClaim:
    """Judge whether a smaller c is better."""
    printed, further = (
        list(pairwise(sorted(ladder, reverse=True)))
        for ladder in (PRINTED_C, (min(PRINTED_C), *FURTHER_C))
    )
    total = len(traces)
    settings = dict.fromkeys((p.f, p.experts) for p in traces)
    fine = [
        setting
        for setting in settings
        if all(
            _compare(t, normal(b), normal(a)) < 0
            for p, t in traces.items()
            for a, b in printed
            if (p.f, p.experts) == setting
        )
    ]
    if all(_steps(traces, a, b).count(-1) > total / 2 for a, b in printed):
        verdict = HOLDS
    elif fine:
        verdict = holds_only("if " + " or ".join(f"f = {f:g}, N = {n}" for f, n in fine))
    else:
        verdict = FAILS
    shown = _in_words(traces, printed)
    for there in (True, False):
        changes = [
            _regrets(t, normal(1.0)).mean() / _regrets(t, normal(4.0)).mean() - 1.0
            for p, t in traces.items()
            if ((p.f, p.experts) in fine) == there
        ]
        if changes:
            where = "where every panel improves" if there else "elsewhere"
            shown += f". From c = 4 to 1 the regret changes by {np.median(changes):+.1%} {where}"
    return PaperClaim(
        "The performance of NormalHedge generally improves as c decreases.",
        "Section 4.2.1",
        f"panels (of {total}), from one c to the next smaller: {shown}",
        _sample(traces),
        "holds if each step of 4 → 2 → 1 is better in more than half of the panels; else only for "
        "the f and N at which both steps are better for every γ",
        verdict,
        _in_words(traces, further),
    )


def _steps(traces: Traces, a: float, b: float, parts: slice = slice(None)) -> list[int]:
    """Compare two c, the second with the first, in each panel."""
    return [_compare(trace, normal(b), normal(a), parts) for trace in traces.values()]


def _in_words(traces: Traces, steps: Sequence[tuple[float, float]]) -> str:
    """Return the number of panels in which each step is better or worse, in words."""
    rows = [(a, b, _steps(traces, a, b), _steps(traces, a, b, slice(0, 1))) for a, b in steps]
    return "; ".join(
        f"{a:g} → {b:g}: {signs.count(-1)} better, {signs.count(1)} worse "
        f"({early.count(-1)} better before the first shift)"
        for a, b, signs, early in rows
    )


def every_simulation(traces: Traces) -> PaperClaim:
    """Judge NormalHedge with c = 1 against Hedge."""
    counts = {hedge: [_compare(t, normal(1.0), hedge) for t in traces.values()] for hedge in HEDGES}
    shown = {
        hedge: f"{hedge}: better in {signs.count(-1)}, worse in {signs.count(1)}"
        for hedge, signs in counts.items()
    }
    lost = [p for p, sign in zip(traces, counts[HEDGE], strict=True) if sign >= 0]
    places = "; ".join(f"γ = {p.gamma:g}, f = {p.f:g}, N = {p.experts}" for p in lost)
    return PaperClaim(
        "c = 1 outperforms Hedge in every simulation.",
        "Section 4.2.1",
        f"of {len(traces)} panels, c = 1 against {shown[HEDGE]}"
        + (f". Not better at {places}" if lost else ""),
        _sample(traces),
        "holds if better in every panel than Hedge at the η that the paper prints",
        holds_if(not lost),
        f"c = 1 against {'; '.join(shown[hedge] for hedge in OTHER_HEDGES)}",
    )


def fewer_experts(traces: Traces) -> PaperClaim:
    """Judge whether the gap to Hedge widens with fewer experts."""
    gammas = (0.2, 0.8)
    panels = {
        gamma: [traces[FigurePanel(gamma, 0.1, n)] for n in (1000, 100, 10)] for gamma in gammas
    }
    ratios = {
        (hedge, gamma, c): [
            _mean_and_error(_regrets(trace, hedge) / _regrets(trace, normal(c)))
            for trace in panels[gamma]
        ]
        for hedge in HEDGES
        for gamma in gammas
        for c in PRINTED_C
    }
    good = [h for h in HEDGES if all(_grows(ratios[h, g, c]) for g in gammas for c in PRINTED_C)]
    shown = {
        hedge: "; ".join(
            f"{hedge}, γ = {gamma:g}: "
            + ", ".join(f"{mean:.2f}" for mean, _ in ratios[hedge, gamma, 1.0])
            for gamma in gammas
        )
        for hedge in HEDGES
    }
    return PaperClaim(
        "The disparity between Hedge and NormalHedge grows as N decreases.",
        "Section 4.2.2",
        f"regret of Hedge over NormalHedge's, c = 1, at N = 1000, 100, 10: {shown[HEDGE]}",
        _sample(traces),
        "holds if the ratio grows from N = 1000 to 100 to 10, each time by more than two standard "
        "errors, for both γ and every printed c, at the η that the paper prints",
        holds_if(HEDGE in good),
        "; ".join(
            f"{shown[hedge]} ({'grows' if hedge in good else 'does not grow'} by this rule)"
            for hedge in OTHER_HEDGES
        ),
    )


def _grows(means: list[tuple[float, float]]) -> bool:
    """Tell whether each mean is above the one before it by more than two standard errors."""
    return all(b - a > 2.0 * math.hypot(da, db) for (a, da), (b, db) in pairwise(means))


_RULES: tuple[tuple[tuple[FigurePanel, ...], Callable[[Traces], PaperClaim]], ...] = (
    (
        tuple(p for p in PANELS if p.gamma >= 0.6 and p.f >= 0.1 and p.experts == 1000),
        large_and_many,
    ),
    (PANELS, smaller_c),
    (PANELS, every_simulation),
    (FIGURES[2].panels, fewer_experts),
)
"""The panels that a claim needs, all of them, and the function that judges it."""


def judge(measured: Measured) -> list[PaperClaim]:
    """Return each claim whose panels were all measured."""
    traces = traces_of(measured)
    return [
        rule({panel: traces[panel] for panel in panels})
        for panels, rule in _RULES
        if all(panel in traces for panel in panels)
    ]


PART = Part("comparisons", (__name__,), judge=judge)
