"""The claims of the paper, judged: a function from what was measured to a row of the table.

Two hedgers are compared run by run on the same gains: a is better than b in a panel if the mean of
the differences of their mean regrets is below zero by more than two standard errors.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.experiments.figures import (
    ALPHA,
    FIGURES,
    FURTHER_C,
    HEDGE,
    HEDGES,
    PRINTED_C,
    Panel,
    normal,
)
from normalhedge.experiments.measures import SWITCH_SETTINGS, Arrays
from normalhedge.games import Trace
from normalhedge.reports import Claim

Traces = Mapping[Panel, Trace]
Measured = Mapping[str, Arrays]


def judge(traces: Traces, measured: Measured) -> list[Claim]:
    """Return every claim that the data at hand can judge."""
    rows: list[Claim] = []
    for name, rules in _OF_MEASURES.items():
        if name in measured:
            rows += [rule(measured[name]) for rule in rules]
    for needs, judge_panels in _OF_PANELS:
        if all(panel in traces for panel in needs):
            rows.append(judge_panels({panel: traces[panel] for panel in needs}))
    return rows


def _regrets(trace: Trace, name: str) -> Floats:
    """Return the mean regret of each run in each part of the game."""
    part: Floats = trace.part_regret[trace.hedgers.index(name)]
    return part


def _compare(trace: Trace, one: str, other: str, parts: slice = slice(None)) -> int:
    """Return -1 where the first is better, 1 where it is worse, 0 where it cannot be told."""
    difference = (_regrets(trace, one) - _regrets(trace, other))[:, parts].mean(axis=1)
    runs = len(difference)
    error = difference.std(ddof=1) / math.sqrt(runs) if runs > 1 else math.inf
    mean = difference.mean()
    return 0 if abs(mean) <= 2.0 * error else int(np.sign(mean))


def _runs(traces: Iterable[Trace]) -> str:
    traces = list(traces)
    spreads = [
        _regrets(trace, name).mean(axis=1).std(ddof=1)
        for trace in traces
        for name in trace.hedgers
        if trace.runs > 1
    ]
    spread = f"; spread of a run's mean regret {np.median(spreads):.2g} (median)" if spreads else ""
    return f"{len(traces)} panels, {traces[0].runs} runs each{spread}"


def theorem_potential(found: Arrays) -> Claim:
    """Judge the bound on the average potential."""
    return Claim(
        "With c = 4 and α < 1/(800 ln 2.32N) the average potential stays below 2.32.",
        "Theorem 1",
        f"highest average potential {found['potential'].max():.4f}",
        _games(found),
        "holds if it is below 2.32 in every game, adversaries included",
        "holds" if found["potential"].max() < 2.32 else "does not hold",
    )


def theorem_regret(found: Arrays) -> Claim:
    """Judge the bounds on the regrets."""
    best, half = found["regret"].max(), found["quantile"].max()
    return Claim(
        "Then every regret is at most √(8 ln(2.32N)/α), and that to the best ε-quantile at most "
        "√(8 ln(2.32/ε)/α).",
        "Theorem 1",
        f"highest regret {best:.2f} of its bound; to the best half {half:.2f} of its bound",
        _games(found),
        "holds if both stay below their bounds in every game",
        "holds" if max(best, half) < 1.0 else "does not hold",
    )


def _games(found: Arrays) -> str:
    sizes = ", ".join(f"{n:.0f}" for n in np.unique(found["experts"]))
    kinds = ", ".join(sorted(set(found["nature"].tolist())))
    share = found["alpha_over_limit"].mean()
    return f"{len(found['nature'])} games of N = {sizes} ({kinds}), α = {share:.2f} of the limit"


def hedge_bound(found: Arrays) -> Claim:
    """Judge the bound of Section 4.1."""
    broken = bool(np.any(found["reached"] > found["claimed"]))
    kept = bool(np.all(found["reached"] <= found["true"]))
    corrected = "kept" if kept else "broken too"
    shown = "; ".join(
        f"N = {n:.0f}: {reached:.2f} {'>' if reached > claimed else '≤'} {claimed:.2f} (corrected "
        f"{true:.2f}; NormalHedge, c = 1, {other:.2f})"
        for n, reached, claimed, true, other in zip(
            *(found[k] for k in ("experts", "reached", "claimed", "true", "normal_hedge")),
            strict=True,
        )
    )
    return Claim(
        "The regret of Hedge with the derived η is at most √(ln N/(α − α²/2)).",
        "Section 4.1",
        f"regret × √α, reached and claimed: {shown}; the corrected bound is {corrected}",
        f"alternate-then-break-away, N = {', '.join(f'{n:.0f}' for n in found['experts'])}, "
        "α = 0.001; nothing is drawn",
        "does not hold if the attack exceeds it for any N",
        "does not hold" if broken else "holds",
    )


def variance_claim(found: Arrays) -> Claim:
    """Judge the variance of Section 2.2."""
    values = found["variance"]
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    exact = ALPHA / (1.0 - (1.0 - ALPHA) ** 2)
    near_claim = abs(mean - 1.0) < 0.1
    return Claim(
        "A discounted sum of fair coins has variance about 1/α.",
        "Section 2.2",
        f"variance × α = {mean:.4f} ± {error:.4f}; 1/(1 − (1 − α)²) gives {exact:.4f}",
        f"{len(values)} batches, spread {values.std(ddof=1):.2g}",
        "holds if within a tenth of 1/α",
        "holds" if near_claim else "does not hold",
    )


def smallest_c(found: Arrays) -> Claim:
    """Judge whether c = 1 is out of reach because the potential of chance is infinite there."""
    one, half = found["potential_1"], found["potential_half"]
    limit = 0.5 + 0.5 / math.sqrt(0.5)
    finite = one.mean() < limit + 4.0 * one.std(ddof=1) / math.sqrt(len(one)) + 0.02
    return Claim(
        "So c must be larger than 1: at c = 1 the expected potential of chance is infinite.",
        "Section 2.2",
        f"mean potential of chance {one.mean():.3f} at c = 1 (in theory {limit:.3f}); at c = 1/2, "
        f"where theory has none, {half.mean():.3g}",
        f"{len(one)} batches, spread {one.std(ddof=1):.2g}",
        "does not hold if the mean at c = 1 is not above the finite value for variance 1/2α",
        "does not hold" if finite else "holds",
    )


def switching(found: Arrays) -> Claim:
    """Judge how fast the weights follow."""
    times = found["times"]
    settings, cs, runs, shifts = times.shape
    medians = np.median(times.reshape(settings, cs, -1), axis=2)
    fails = {
        setting: row
        for setting, row in zip(SWITCH_SETTINGS, medians, strict=True)
        if row.max() > 1.0
    }
    fine = medians[medians.max(axis=1) <= 1.0]
    shown = "nowhere within 1/α"
    if len(fine):
        shown = f"{fine.min():.2f} to {fine.max():.2f} in {len(fine)} of {settings} settings"
    if fails:
        places = [f"γ = {gamma:g}, f = {f:g}" for gamma, f in fails]
        slow = "; ".join(
            f"{place} ({', '.join(_time(t) for t in row)})"
            for place, row in zip(places, fails.values(), strict=True)
        )
        shown += f"; not at {slow}"
    if not fails:
        verdict = "holds"
    elif len(fine):
        verdict = f"holds only if not {' or '.join(places)}"
    else:
        verdict = "does not hold"
    return Claim(
        "If the best expert changes, NormalHedge switches to the new one within about 1/α rounds.",
        "Section 3.2",
        "median time until half of the weight has followed, in units of 1/α, for c = 1, 2, 4: "
        f"{shown}. Two experts that swap their gains are level again after ln(2 − 1/e) = 0.49, "
        "whatever the weights: discounting alone",
        f"{runs} runs of {shifts} shifts each in every setting of Figures 1 and 2; over all, from "
        f"{_time(times.min())} to {_time(times.max())}",
        "holds if the median is at most 1 in every setting for every c",
        verdict,
    )


def _time(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "never"


_OF_MEASURES: dict[str, tuple[Callable[[Arrays], Claim], ...]] = {
    "theorem-1": (theorem_potential, theorem_regret),
    "variance": (variance_claim, smallest_c),
    "switch": (switching,),
    "hedge-bound": (hedge_bound,),
}


def large_and_many(traces: Traces) -> Claim:
    """Judge the comparison where good experts are many and much better."""
    better = {
        (c, hedge): sum(_compare(trace, normal(c), hedge) < 0 for trace in traces.values())
        for c in PRINTED_C
        for hedge in HEDGES
    }
    early = {
        c: sum(
            _ratio(trace, c, slice(0, 1)) > _ratio(trace, c, slice(1, None))
            for trace in traces.values()
        )
        for c in PRINTED_C
    }
    total = len(traces)
    good = [hedge for hedge in HEDGES if all(better[c, hedge] == total for c in PRINTED_C)]
    pronounced = all(count == total for count in early.values())
    verdict = _against(good)
    if good and not pronounced:
        verdict += " only over all rounds" if verdict == "holds" else ", and over all rounds"
    shown = "; ".join(
        f"{hedge}: " + ", ".join(f"{better[c, hedge]}" for c in PRINTED_C) for hedge in HEDGES
    )
    ratios = ", ".join(
        f"{np.mean([_ratio(t, c, slice(0, 1)) for t in traces.values()]):.2f} before and "
        f"{np.mean([_ratio(t, c, slice(1, None)) for t in traces.values()]):.2f} after"
        for c in PRINTED_C
    )
    return Claim(
        "NormalHedge fares better than Hedge when γ and f are large, especially before the first "
        "shift.",
        "Section 4.2.1",
        f"panels (of {total}) in which c = 1, 2, 4 is better than {shown}. Regret of Hedge with "
        f"the paper's η over that of NormalHedge, c = 1, 2, 4: {ratios} the first shift",
        _runs(traces.values()),
        "holds if better in every panel with γ ≥ 0.6 and f ≥ 0.1 for every printed c and every η, "
        "and the ratio is larger before the first shift than after it",
        verdict,
    )


def _against(good: list[str]) -> str:
    """Return the verdict of a comparison that comes out well against these kinds of Hedge."""
    if len(good) == len(HEDGES):
        return "holds"
    return f"holds only against {' and '.join(good)}" if good else "does not hold"


def _ratio(trace: Trace, c: float, parts: slice) -> float:
    """Return the regret of Hedge over that of NormalHedge."""
    hedge = _regrets(trace, HEDGE)[:, parts].mean()
    return float(hedge / _regrets(trace, normal(c))[:, parts].mean())


def smaller_c(traces: Traces) -> Claim:
    """Judge whether a smaller c is better."""
    ladder = sorted({*PRINTED_C, *FURTHER_C}, reverse=True)
    steps = list(pairwise(ladder))
    better, worse = (
        [sum(_compare(t, normal(b), normal(a)) == sign for t in traces.values()) for a, b in steps]
        for sign in (-1, 1)
    )
    total = len(traces)
    printed = list(pairwise(sorted(PRINTED_C, reverse=True)))
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
    if all(count > total / 2 for step, count in zip(steps, better, strict=True) if step in printed):
        verdict = "holds"
    elif fine:
        verdict = "holds only if " + " or ".join(f"f = {f:g}, N = {n}" for f, n in fine)
    else:
        verdict = "does not hold"
    shown = "; ".join(
        f"{a:g} → {b:g}: {up} better, {down} worse"
        for (a, b), up, down in zip(steps, better, worse, strict=True)
    )
    early = [
        sum(_compare(t, normal(b), normal(a), slice(0, 1)) < 0 for t in traces.values())
        for a, b in steps
    ]
    shown += f". Better before the first shift: {', '.join(str(count) for count in early)}"
    for there in (True, False):
        changes = [
            _regrets(t, normal(1.0)).mean() / _regrets(t, normal(4.0)).mean() - 1.0
            for p, t in traces.items()
            if ((p.f, p.experts) in fine) == there
        ]
        if changes:
            where = "where every panel improves" if there else "elsewhere"
            shown += f". From c = 4 to 1 the regret changes by {np.median(changes):+.1%} {where}"
    return Claim(
        "The performance of NormalHedge generally improves as c decreases.",
        "Section 4.2.1",
        f"panels (of {total}), from one c to the next smaller: {shown}",
        _runs(traces.values()),
        "holds if each step of 4 → 2 → 1 is better in more than half of the panels; else only for "
        "the f and N at which both steps are better for every γ",
        verdict,
    )


def every_simulation(traces: Traces) -> Claim:
    """Judge c = 1 against Hedge, at all three rates."""
    counts = {hedge: [_compare(t, normal(1.0), hedge) for t in traces.values()] for hedge in HEDGES}
    total = len(traces)
    good = [hedge for hedge, signs in counts.items() if all(sign < 0 for sign in signs)]
    verdict = _against(good)
    shown = "; ".join(
        f"{hedge}: better in {signs.count(-1)}, worse in {signs.count(1)}"
        for hedge, signs in counts.items()
    )
    lost = [p for p, sign in zip(traces, counts[HEDGE], strict=True) if sign >= 0]
    where = ""
    if lost:
        places = "; ".join(f"γ = {p.gamma:g}, f = {p.f:g}, N = {p.experts}" for p in lost)
        where = f". Not better than with the paper's η at {places}"
    return Claim(
        "c = 1 outperforms Hedge in every simulation.",
        "Section 4.2.1",
        f"of {total} panels, c = 1 against {shown}{where}",
        _runs(traces.values()),
        "holds if better in every panel against every η; else only for the η for which it is",
        verdict,
    )


def fewer_experts(traces: Traces) -> Claim:
    """Judge whether the gap to Hedge widens with fewer experts, at all three rates."""
    cases = [(gamma, c) for gamma in (0.2, 0.8) for c in PRINTED_C]
    ratios = {
        (hedge, gamma, c): [
            _run_ratios(traces[Panel(gamma, 0.1, n)], hedge, c) for n in (1000, 100, 10)
        ]
        for hedge in HEDGES
        for gamma, c in cases
    }
    good = [h for h in HEDGES if all(_grows(ratios[h, gamma, c]) for gamma, c in cases)]
    shown = "; ".join(
        f"{hedge}, γ = {gamma:g}: "
        + ", ".join(f"{mean:.2f}" for mean, _ in ratios[hedge, gamma, 1.0])
        for hedge in HEDGES
        for gamma in (0.2, 0.8)
    )
    verdict = _against(good)
    return Claim(
        "The disparity between Hedge and NormalHedge grows as N decreases.",
        "Section 4.2.2",
        f"regret of Hedge over that of NormalHedge, c = 1, at N = 1000, 100, 10: {shown}",
        _runs(traces.values()),
        "holds if the ratio grows from N = 1000 to 100 to 10, each time by more than two standard "
        "errors, for both γ, every printed c and every η",
        verdict,
    )


def _run_ratios(trace: Trace, hedge: str, c: float) -> tuple[float, float]:
    """Return the mean over runs of the regret of Hedge over NormalHedge's, and its error."""
    values = _regrets(trace, hedge).mean(axis=1) / _regrets(trace, normal(c)).mean(axis=1)
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return float(values.mean()), float(error)


def _grows(means: list[tuple[float, float]]) -> bool:
    """Tell whether each mean is above the one before it by more than two standard errors."""
    return all(b - a > 2.0 * math.hypot(da, db) for (a, da), (b, db) in pairwise(means))


_ALL = tuple(dict.fromkeys(panel for figure in FIGURES for panel in figure.panels))

_OF_PANELS: tuple[tuple[tuple[Panel, ...], Callable[[Traces], Claim]], ...] = (
    (
        tuple(p for p in _ALL if p.gamma >= 0.6 and p.f >= 0.1 and p.experts == 1000),
        large_and_many,
    ),
    (_ALL, smaller_c),
    (_ALL, every_simulation),
    (FIGURES[2].panels, fewer_experts),
)
"""Which panels a claim is judged on, all of them or not at all, and by what."""
