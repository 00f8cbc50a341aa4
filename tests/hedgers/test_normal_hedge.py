"""NormalHedge: its settings, and its bound under attack."""

import dataclasses
import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import named
from tests import adversaries
from tests.adversaries import alternate_then_break_away
from tests.family_oracles import LateNormalHedge
from tests.hedgers.examples import drawn_games


def test_alpha_by_memory_and_by_half_life() -> None:
    assert NormalHedge(memory=1000) == NormalHedge(alpha=0.001) == NormalHedge(0.001, 1.0)
    hedger = NormalHedge(half_life=50)
    state = hedger.init(2)
    state = first = hedger.step(state, [1.0, -1.0])
    for _ in range(50):
        state = hedger.step(state, [0.0, 0.0])
    np.testing.assert_allclose(state.regrets, first.regrets / 2, rtol=1e-12)
    assert repr(NormalHedge(memory=8)) == "NormalHedge(alpha=0.125, c=1.0)"
    assert dataclasses.asdict(NormalHedge(memory=8)) == {"alpha": 0.125, "c": 1.0, "delay": 0}
    assert dataclasses.replace(NormalHedge(memory=8), c=2.0) == NormalHedge(0.125, 2.0)


def test_the_only_expert_ahead_has_all_the_weight() -> None:
    hedger, n = NormalHedge(0.01), 3
    state = hedger.init(n)
    for gain in np.random.default_rng(0).uniform(0.1, 1.0, 500):
        state = hedger.step(state, [gain, -gain, -gain])
        assert state.weights.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [2, 10, 100])
def test_theorem_1_under_alternate_then_break_away(n: int) -> None:
    alpha = 0.99 / (800 * math.log(2.32 * n))
    hedger = NormalHedge(alpha)
    bound = hedger.bound(n)
    run = hedger.run(alternate_then_break_away(n, alpha))
    assert math.exp(run.log_potential.max()) < bound.potential
    assert run.best_regret.max() < bound.regret
    assert run.state.quantile_regret(0.5) < hedger.bound(n, quantile=0.5).regret


@pytest.mark.parametrize("n", [2, 10, 100])
def test_theorem_1_under_coins_and_a_steady_winner(n: int) -> None:
    alpha = 0.99 / (800 * math.log(2.32 * n))
    hedger = NormalHedge(alpha)
    rng = np.random.default_rng(n)
    gains = rng.choice(np.array([-1, 1], dtype=np.int8), (20_000, n))
    gains[8000:, 0] = 1
    run = hedger.run(gains)
    assert math.exp(run.log_potential.max()) < 2.32
    assert run.best_regret.max() < hedger.bound(n).regret


@pytest.mark.parametrize("kind", adversaries.KINDS)
def test_the_bound_carries_over_to_confidences(kind: str) -> None:
    n, alpha = 20, 0.99 / (800 * math.log(2.32 * 20))
    hedger = NormalHedge.paper(alpha)
    highest = max(
        hedger.average_potential(state)
        for state in adversaries.states(hedger, kind, n, 4000, np.random.default_rng(0))
    )
    assert highest < 1.1  # far below the 2.32 of the theorem


def test_confidences_read_literally_would_diverge() -> None:
    """Under r_i = c_i g_i - g_A, the other reading, one loud loser makes all sleepers heroes."""
    n = 20
    gains, confidence = -np.ones(n), (np.arange(n) == 0).astype(float)
    hedger = NormalHedge(0.001)
    right = hedger.run(np.tile(gains, (5000, 1)), np.tile(confidence, (5000, 1)))
    assert right.log_potential.max() == 0.0
    regrets = np.zeros(n)
    for _ in range(5000):
        played = hedger.play(hedger.init(n)._replace(ledger=regrets[np.newaxis]), confidence)
        regrets = 0.999 * regrets + confidence * gains - played @ gains
    assert hedger.average_potential(hedger.init(n)._replace(ledger=regrets[np.newaxis])) > 1e12


def test_the_confidence_rated_increments_are_orthogonal_to_the_weights() -> None:
    hedger = NormalHedge(0.01, c=1.0)
    rng = np.random.default_rng(1)
    state = hedger.run(rng.uniform(-1, 1, (300, 8))).state
    gains, confidence = rng.uniform(-1, 1, 8), rng.random(8)
    after = hedger.step(state, gains, confidence)
    increments = after.regrets - 0.99 * state.regrets
    assert state.weights @ increments == pytest.approx(0.0, abs=1e-12)


def test_bounds_of_a_crowd_that_comes_and_goes() -> None:
    """Those that left count: their potential is not there to be averaged over any more."""
    alpha = 0.99 / (800 * math.log(2.32 * 40))
    hedger = NormalHedge(alpha)
    state = hedger.init(20)
    rng = np.random.default_rng(5)
    for t in range(6000):
        n = len(state.regrets)
        gains = rng.choice([-1.0, 1.0], n)
        gains[0] = 1.0
        state = hedger.step(state, gains)
        if t % 300 == 0:
            state = hedger.join(hedger.leave(state, np.argmin(state.regrets)), 1)
        assert state.best_regret < hedger.bound(state.joined).regret
    assert state.joined == 40


# Outcomes that come late


@pytest.mark.parametrize("delay", [1, 2, 6, 50])
@pytest.mark.parametrize(("alpha", "c"), [(0.05, None), (0.3, 0.6), (0.02, 1.0)])
def test_late_outcomes_are_judged_by_what_was_played(
    alpha: float, c: float | None, delay: int
) -> None:
    hedger = NormalHedge(alpha, c, delay=delay)  # type: ignore[arg-type]
    for gains, confidence in drawn_games():
        for rated in (None, confidence):
            oracle = LateNormalHedge(alpha, hedger.c, gains.shape[1], delay)
            played = [
                oracle.step(row, None if rated is None else rated[t]) for t, row in enumerate(gains)
            ]
            while oracle.waiting:
                oracle.settle()
            run = hedger.run(gains, rated, keep_weights=True)
            assert run.weights is not None
            np.testing.assert_allclose(run.weights, played, atol=1e-9)
            np.testing.assert_allclose(run.gains, (run.weights * gains).sum(axis=1), atol=1e-9)
            np.testing.assert_allclose(run.state.regrets, oracle.regrets, atol=1e-9)
            np.testing.assert_allclose(run.state.weights, oracle.play(), atol=1e-9)
            assert hedger.average_potential(run.state) == pytest.approx(oracle.potential())
            assert math.exp(run.log_potential[-1]) == pytest.approx(oracle.potential())


def test_nothing_is_known_at_first() -> None:
    gains = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    weights = NormalHedge(0.1, delay=7).run(gains, keep_weights=True).weights
    assert weights is not None
    np.testing.assert_array_equal(weights[:8], 0.25)
    assert np.ptp(weights[8]) > 0.01
    other = gains.copy()
    other[12:] *= -1
    again = NormalHedge(0.1, delay=7).run(other, keep_weights=True).weights
    assert again is not None
    np.testing.assert_array_equal(again, weights)


def test_the_ledger_of_late_outcomes() -> None:
    """It has the regrets before each of the last outcomes, to the bit."""
    hedger, rng = NormalHedge(0.1, delay=3), np.random.default_rng(0)
    assert hedger.row_names == ("regret 1 ago", "regret 2 ago", "regret 3 ago")
    state, past = hedger.init(4), [np.zeros(4)] * 4
    for gains in rng.uniform(-1, 1, (30, 4)):
        state = hedger.step(state, gains)
        past = [state.regrets, *past[:3]]
        np.testing.assert_array_equal(state.ledger, past)
    joined = hedger.join(state, 2)
    np.testing.assert_array_equal(joined.ledger[:, 4:], 0.0)
    np.testing.assert_array_equal(hedger.leave(joined, [4, 5]).ledger, state.ledger)
    arrays = state.weights.copy(), state.ledger.copy(), state.totals.copy()
    hedger._engine.halve(*arrays)
    np.testing.assert_array_equal(arrays[1], state.ledger / 2)
    np.testing.assert_allclose(arrays[0], hedger.reweigh(state, state.ledger / 2).weights)
    with pytest.raises(ValueError, match="ledger has 4 rows"):
        hedger.step(NormalHedge(0.1, delay=2).init(2), [0.0, 1.0])


def test_settings_of_late_outcomes() -> None:
    assert repr(NormalHedge(memory=100, delay=3)) == "NormalHedge(alpha=0.01, c=16.0, delay=3)"
    assert repr(NormalHedge.paper(0.01)) == "NormalHedge(alpha=0.01, c=4.0)"
    assert NormalHedge(0.01, delay=0) == NormalHedge(0.01)
    assert NormalHedge(0.01, delay=0).algorithm == "normal_hedge"
    assert NormalHedge(0.01, 5, delay=3).c == 5.0
    late = NormalHedge(0.02, delay=np.int64(3))  # type: ignore[arg-type]
    assert late == named("normal-hedge:delay=3,memory=50") == eval(repr(late))
    assert named("normal-hedge:delay=3", alpha=0.02) == late
    assert late != NormalHedge(0.02, 16.0)
    assert dataclasses.replace(late, alpha=0.5) == NormalHedge(0.5, delay=3)
    for wrong in (-1, 1.5, 10**6, "3", None, True, np.True_, math.nan):
        with pytest.raises((ValueError, TypeError), match=r"delay must be .*, got"):
            NormalHedge(0.01, delay=wrong)  # type: ignore[arg-type]


def test_bounds_of_late_outcomes() -> None:
    assert str(NormalHedge(memory=1000, delay=3).bound(1000)).startswith("regret <= 439.201 (proof")
    assert NormalHedge(0.001, delay=4).bound(10) == NormalHedge(0.001, delay=5).bound(10)
    none = NormalHedge(0.0017, delay=3).bound(10)
    assert math.isinf(none.regret)
    assert "no theorem covers these settings with a delay of 3" in str(none)
