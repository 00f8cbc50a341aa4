"""NormalHedge: its settings, and its bound under attack."""

import dataclasses
import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from tests import adversaries
from tests.adversaries import alternate_then_break_away


def test_alpha_by_memory_and_by_half_life() -> None:
    assert NormalHedge(memory=1000) == NormalHedge(alpha=0.001) == NormalHedge(0.001, 1.0)
    hedger = NormalHedge(half_life=50)
    state = hedger.init(2)
    state = first = hedger.step(state, [1.0, -1.0])
    for _ in range(50):
        state = hedger.step(state, [0.0, 0.0])
    np.testing.assert_allclose(state.regrets, first.regrets / 2, rtol=1e-12)
    assert repr(NormalHedge(memory=8)) == "NormalHedge(alpha=0.125, c=1.0)"
    assert dataclasses.asdict(NormalHedge(memory=8)) == {"alpha": 0.125, "c": 1.0}
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
