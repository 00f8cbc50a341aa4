"""Reports on a state."""

import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge, State
from tests.adversaries import alternate_then_break_away
from tests.hedgers.examples import coins


def test_what_a_person_sees_of_a_state() -> None:
    hedger = NormalHedge.paper(1e-4)
    state = hedger.run(coins(40, 20)).state
    assert state.best_regret == max(state.regrets)
    ordered = np.sort(state.regrets)[::-1]
    assert state.quantile_regret(0.05) == ordered[0]
    assert state.quantile_regret(0.1) == ordered[1]
    assert state.quantile_regret(0.11) == ordered[2]
    assert state.quantile_regret(1.0) == ordered[-1]
    report = hedger.report(state, quantile=0.5)
    assert report.quantile_regret == ordered[9]
    level = report.bound.potential
    assert level < 1.154  # of a proof; Theorem 1 has 2.32
    assert report.bound.regret == pytest.approx(math.sqrt(8 * math.log1p(20 * (level - 1)) / 1e-4))
    half = math.sqrt(8 * math.log1p(2 * (level - 1)) / 1e-4)
    assert report.quantile_bound.regret == pytest.approx(half)
    text = str(report)
    limit = f"never above {level:.6g}"
    for word in ("NormalHedge", "40", "proof", limit, f"{state.best_regret:.6g}"):
        assert word in text
    bold = NormalHedge(0.01, c=0.3)
    assert "no theorem covers alpha=0.01 with 1000 experts" in str(bold.report(bold.init(1000)))
    other = NormalHedge(0.01, c=3.3)
    assert "certificate, numerical" in str(other.report(other.init(1000)))


def test_a_report_does_not_promise_too_much_after_many_have_left() -> None:
    def at_its_worst(hedger: NormalHedge | Hedge, n: int) -> State:
        gains = alternate_then_break_away(n, hedger.alpha)
        worst = int(hedger.run(gains).best_regret.argmax()) + 1
        state: State = hedger.run(gains[:worst]).state
        return state

    derived = Hedge.derived(0.001, 1000)
    state = at_its_worst(derived, 1000)
    report = derived.report(derived.leave(state, np.arange(10, 1000)))
    assert report.quantile_regret <= report.quantile_bound.regret
    assert report.average_potential <= report.potential_limit
    alpha = 0.99 / (800 * math.log(2.32 * 100))
    hedger = NormalHedge(alpha)
    state = at_its_worst(hedger, 100)
    report = hedger.report(hedger.leave(state, np.arange(1, 100)), quantile=0.5)
    assert report.average_potential > 2.32
    assert report.average_potential <= report.potential_limit
    assert report.quantile_regret <= report.quantile_bound.regret


def test_a_quantile_is_at_least_one_expert() -> None:
    for hedger in (NormalHedge(1e-4), Hedge(1e-4, 0.1)):
        assert hedger.bound(10, quantile=0.001).regret == hedger.bound(10).regret
        assert hedger.bound(10, quantile=0.5).regret < hedger.bound(10).regret
