"""Where other libraries crash, overflow or return NaN."""

import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import CompiledHedger, Hedge, State
from tests.hedgers.examples import FAMILY, discounted, each

MILLION = 1_000_000


def assert_sound(hedger: CompiledHedger, run: object) -> None:
    state = run.state  # type: ignore[attr-defined]
    assert np.isfinite(state.regrets).all()
    assert np.isfinite(state.weights).all()
    assert (state.weights >= 0).all()
    assert state.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(run.log_potential).all()  # type: ignore[attr-defined]
    assert str(hedger.report(state))


@pytest.mark.parametrize("alpha", [0.9, 1e-3, 1e-9])
@pytest.mark.parametrize("c", [0.5, 4.0])
def test_a_million_rounds_of_the_worst_gap(alpha: float, c: float) -> None:
    gains = np.tile(np.array([1, -1], dtype=np.int8), (MILLION, 1))
    for hedger in (NormalHedge(alpha, c=c), Hedge.corrected(alpha, 2), Hedge(alpha, 100.0)):
        run = hedger.run(gains)
        assert_sound(hedger, run)
        assert run.state.weights[0] > 0.68


def test_a_million_rounds_of_swapping_leaders() -> None:
    gains = np.ones((MILLION, 2), dtype=np.int8)
    gains[np.arange(MILLION) // 1000 % 2 == 0, 0] = -1
    gains[np.arange(MILLION) // 1000 % 2 == 1, 1] = -1
    for hedger in (NormalHedge(1e-9), NormalHedge(0.9), NormalHedge(1e-3, c=0.6)):
        assert_sound(hedger, hedger.run(gains))


@pytest.mark.parametrize("alpha", [0.9, 0.01, 1e-9])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_ties_and_sleep(alpha: float, n: int) -> None:
    rounds = 500
    tied = np.tile(np.linspace(-1, 1, rounds)[:, None] ** 3, (1, n))
    for hedger in (NormalHedge(alpha), NormalHedge(alpha, c=1e-3), Hedge(alpha, 3.0)):
        run = hedger.run(tied)
        assert_sound(hedger, run)
        np.testing.assert_array_equal(run.state.regrets, 0.0)
        np.testing.assert_allclose(run.state.weights, 1 / n)
        asleep = hedger.run(np.full((rounds, n), np.nan), np.zeros((rounds, n)), state=run.state)
        assert_sound(hedger, asleep)
        assert asleep.state.gain is None
        assert np.isnan(asleep.gains).all()
        np.testing.assert_array_equal(hedger.play(asleep.state, np.zeros(n)), 0.0)
        assert hedger.step(asleep.state, np.ones(n)).gain == 1.0


def test_sleep_only_lets_regrets_decay() -> None:
    hedger = NormalHedge(0.1)
    state = hedger.run([[1.0, -1.0, 0.0]] * 5).state
    after = hedger.step(state, [math.nan] * 3, [0.0] * 3)
    np.testing.assert_allclose(after.regrets, 0.9 * state.regrets)
    assert after.gain is None
    assert after.rounds == state.rounds + 1


def test_the_only_expert_ahead_is_asleep() -> None:
    hedger = NormalHedge(0.1)
    state = hedger.run([[1.0, -1.0, -1.0]] * 9).state
    np.testing.assert_array_equal(state.weights, [1, 0, 0])
    np.testing.assert_allclose(hedger.play(state, [0.0, 0.5, 0.25]), [0, 2 / 3, 1 / 3])
    after = hedger.step(state, [math.nan, 1.0, -1.0], [0.0, 0.5, 0.25])
    assert after.gain == pytest.approx(1 / 3)


def test_weights_that_vanish_beside_a_sleeper_still_count() -> None:
    """A leader 2,000 nats ahead sleeps: the second, not the average of the rest, is followed."""
    hedger = NormalHedge(0.001, c=0.1)
    state = hedger.init(4)
    state = hedger.join(state._replace(ledger=np.array([[700.0, 200.0, 150.0, -10.0]])))
    np.testing.assert_array_equal(state.weights[1:], 0.0)
    played = hedger.play(state, [0.0, 1.0, 1.0, 1.0, 1.0])
    assert played[1] == pytest.approx(1.0)
    gain = hedger.step(state, [0.0, 1.0, -1.0, -1.0, -1.0], [0.0, 1.0, 1.0, 1.0, 1.0]).gain
    assert gain == pytest.approx(1.0)


def test_tiny_confidences() -> None:
    hedger = NormalHedge(0.1)
    state = hedger.run([[1.0, -1.0, 0.5]] * 9).state
    for tiny in (1e-300, 1e-320, 5e-324):
        played = hedger.play(state, [tiny, tiny, 0.0])
        assert played.sum() == pytest.approx(1.0)
        after = hedger.step(state, [1.0, -1.0, math.nan], [tiny, tiny, 0.0])
        assert after.gain is not None
        assert np.isfinite(after.regrets).all()


def test_confidences_count_by_their_ratios() -> None:
    hedger = Hedge(0.1, 1.0)
    state = hedger.run([[1.0, -1.0]] * 2).state
    for tiny in (1.0, 1e-200, 1e-300, 1e-305):
        np.testing.assert_allclose(hedger.play(state, [tiny, tiny]), state.weights)
        assert hedger.step(state, [1.0, -1.0], [tiny, tiny]).gain == pytest.approx(
            state.weights[0] - state.weights[1]
        )


def test_tiny_gains() -> None:
    rng = np.random.default_rng(0)
    gains = rng.uniform(-1, 1, (300, 5))
    weights = NormalHedge(0.1, c=1e6).run(gains).state.weights
    for scale in (1e-12, 1e-100):
        tiny = NormalHedge(0.1, c=1e6).run(gains * scale).state.weights
        np.testing.assert_allclose(tiny, weights, rtol=1e-4, atol=1e-6)
    assert NormalHedge(0.1).run(gains * 1e-305).state.weights.sum() == pytest.approx(1.0)


def test_one_expert_among_a_million() -> None:
    n = 1_000_000
    hedger = NormalHedge(0.01)
    state = hedger.init(n)
    gains = -np.ones(n, dtype=np.int8)
    gains[123_456] = 1
    for _ in range(60):
        state = hedger.step(state, gains, in_place=True)
    assert state.weights[123_456] == pytest.approx(1.0)
    assert state.weights.sum() == pytest.approx(1.0)


def _sound(state: State) -> None:
    assert np.isfinite(state.ledger).all()
    assert np.isfinite(state.totals).all()
    assert (state.weights >= 0).all()
    assert abs(state.weights.sum() - 1) < 1e-9


@each
def test_extremes(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(9)
    for hedged in (hedger, discounted(hedger, 1e-6), discounted(hedger, 0.999)):
        for n in (1, 2, 30):
            for scale in (1.0, 1e-12, 1e-200):
                gains = scale * rng.uniform(-1, 1, (200, n))
                _sound(hedged.run(gains).state)
                _sound(hedged.run(gains, (rng.random((200, n)) < 0.3) * 1e-9).state)
            steady = np.zeros((3000, n))
            steady[:, 0] = 1.0
            _sound(hedged.run(steady).state)
            _sound(hedged.run(-steady).state)


@each
def test_tiny_gains_count(hedger: CompiledHedger) -> None:
    """Where one expert leads by 1e-12 a round, it never has less weight than the others."""
    gains = np.zeros((50, 4))
    gains[:, 2] = 1e-12
    weights = hedger.run(gains).state.weights
    assert weights[2] >= weights.max() - 1e-12


@each
def test_a_million_rounds_and_a_million_experts(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(10)
    block = rng.choice([-1.0, 1.0], (1000, 3))
    block[:, 0] = np.where(rng.random(1000) < 0.6, 1.0, -1.0)
    _sound(hedger.run(np.tile(block, (1000, 1))).state)
    wide = rng.uniform(-1, 1, 1_000_000)
    state = hedger.step(hedger.init(1_000_000), wide)
    _sound(hedger.step(state, wide, in_place=True))


@pytest.mark.parametrize("name", ["AdaHedge", "DecreasingHedge", "OptimisticHedge"])
def test_those_awake_are_weighed_although_the_leader_sleeps(name: str) -> None:
    hedger = FAMILY[name]
    gains = np.tile([1.0, -0.2, -1.0], (5000, 1))
    state = hedger.run(gains).state
    played = hedger.play(state, [0.0, 1.0, 1.0])
    assert state.weights[1] < 1e-6
    assert played[1] > 0.99
