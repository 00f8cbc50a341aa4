"""The claims of Section 4.2: verdicts follow the traces of the panels."""

import numpy as np

from normalhedge.research._cells import Arrays
from normalhedge.research.games import Curves, Trace
from normalhedge.research.paper import _comparisons as comparisons
from normalhedge.research.paper._claim import FAILS, HOLDS, holds_only
from normalhedge.research.paper._figures import (
    FIGURES,
    HEDGE,
    HEDGE_CORRECTED,
    HEDGE_DERIVED,
    PANELS,
    STYLES,
    FigurePanel,
    normal,
    trace_to_arrays,
)


def fake(regrets: dict[str, float], runs: int = 6, noise: float = 0.01) -> Trace:
    """A trace of given mean regrets; the first part of the game twice as good for NormalHedge."""
    rng = np.random.default_rng(0)
    common = rng.normal(0, 1, (runs, 10))
    early = np.array([0.5] + [1.0] * 9)
    part = np.array(
        [
            regrets[name] * (early if name.startswith("Normal") else 1.0)
            + common
            + rng.normal(0, noise, (runs, 10))
            for name in STYLES
        ]
    )
    nothing = Curves(np.zeros((len(STYLES), 1)), np.zeros((len(STYLES), 1)))
    zeros = np.zeros(len(STYLES))
    return Trace(
        tuple(STYLES),
        np.array([1]),
        runs,
        (0.001,) * len(STYLES),
        nothing,
        nothing,
        nothing,
        None,
        None,
        zeros,
        zeros,
        part,
        part.mean(axis=2),
        part.mean(axis=2),
        None,
    )


GOOD = {
    HEDGE: 50.0,
    HEDGE_DERIVED: 45.0,
    HEDGE_CORRECTED: 46.0,
    normal(4.0): 40.0,
    normal(2.0): 35.0,
    normal(1.0): 30.0,
    normal(0.75): 29.0,
    normal(0.5): 28.0,
}


def test_verdicts_follow_the_data() -> None:
    good = dict.fromkeys(PANELS, fake(GOOD))
    assert comparisons.large_and_many(good).verdict == HOLDS
    assert comparisons.smaller_c(good).verdict == HOLDS
    assert comparisons.every_simulation(good).verdict == HOLDS
    bad = fake(GOOD | {HEDGE: 20.0})
    assert comparisons.every_simulation(good | {PANELS[0]: bad}).verdict == FAILS
    assert comparisons.large_and_many(dict.fromkeys(PANELS, bad)).verdict == FAILS
    rising = fake(GOOD | {normal(1.0): 36.0, normal(2.0): 35.5, normal(4.0): 35.0})
    assert comparisons.smaller_c(dict.fromkeys(PANELS, rising)).verdict == FAILS
    mixed = {panel: good[panel] if panel.f <= 0.01 else rising for panel in PANELS}
    assert comparisons.smaller_c(mixed).verdict == holds_only(
        "if f = 0.001, N = 1000 or f = 0.01, N = 1000"
    )
    tie = fake(GOOD | {HEDGE: 28.5}, noise=5.0)  # as good as c = 1 is over all parts
    assert comparisons.every_simulation(dict.fromkeys(PANELS, tie)).verdict == FAILS


def test_other_rates_of_hedge_go_beyond_the_claims() -> None:
    sharp = dict.fromkeys(PANELS, fake(GOOD | {HEDGE_DERIVED: 20.0, HEDGE_CORRECTED: 20.0}))
    for judge in (comparisons.large_and_many, comparisons.every_simulation):
        claim = judge(sharp)
        assert claim.verdict == HOLDS
        assert HEDGE in claim.measured
        assert HEDGE_DERIVED not in claim.measured + claim.rule
        assert HEDGE_DERIVED in claim.beyond
    assert f"{HEDGE_DERIVED}: better in 0, worse in {len(PANELS)}" in claim.beyond
    assert "1 → 0.75" in comparisons.smaller_c(sharp).beyond
    assert "0.75" not in comparisons.smaller_c(sharp).measured


def test_the_verdict_on_fewer_experts_follows_the_data() -> None:
    traces = {
        FigurePanel(gamma, 0.1, n): fake(
            {k: v + extra * k.startswith("Hedge") for k, v in GOOD.items()}
        )
        for gamma in (0.2, 0.8)
        for n, extra in ((1000, 0.0), (100, 10.0), (10, 20.0))
    }
    assert comparisons.fewer_experts(traces).verdict == HOLDS
    level = fake(GOOD | {HEDGE: 60.0})  # the other two rates do not gain from N = 1000 to 100
    some = traces | {FigurePanel(gamma, 0.1, 100): level for gamma in (0.2, 0.8)}
    assert comparisons.fewer_experts(some).verdict == HOLDS
    assert comparisons.fewer_experts(some).beyond.count("(does not grow by this rule)") == 2
    traces[FigurePanel(0.8, 0.1, 10)] = fake(GOOD)
    assert comparisons.fewer_experts(traces).verdict == FAILS
    assert comparisons.judge({}) == []


def test_an_advantage_that_is_not_early_is_said_to_be_so() -> None:
    trace = fake(GOOD)
    for name in (normal(1.0), normal(2.0), normal(4.0)):
        trace.part_regret[trace.hedgers.index(name), :, 0] *= 2.5
    row = comparisons.large_and_many(dict.fromkeys(PANELS[:4], trace))
    assert row.verdict == holds_only("over all rounds")


def arrays_of(traces: dict[FigurePanel, Trace]) -> dict[str, Arrays]:
    return {panel.id: trace_to_arrays(trace) for panel, trace in traces.items()}


def test_claims_are_judged_on_all_of_their_panels_or_not_at_all() -> None:
    traces = dict.fromkeys(PANELS, fake(GOOD))
    assert len(comparisons.judge(arrays_of(traces))) == 4
    assert [
        row.where
        for row in comparisons.judge(arrays_of(dict.fromkeys(FIGURES[2].panels, fake(GOOD))))
    ] == ["Section 4.2.2"]
    del traces[PANELS[0]]
    assert len(comparisons.judge(arrays_of(traces))) == 2


def test_parts_of_the_game_are_compared_apart() -> None:
    # Hedge is as good as NormalHedge over all, but not before the first shift.
    trace = fake(GOOD | {HEDGE: 28.5})
    assert comparisons._compare(trace, normal(1.0), HEDGE, slice(0, 1)) == -1
    assert comparisons._compare(trace, normal(1.0), HEDGE, slice(1, None)) == 1
    assert comparisons._compare(fake(GOOD, runs=1), normal(1.0), HEDGE) == 0
