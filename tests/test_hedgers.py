import dataclasses
import functools
import json
import math
import pickle
import sys
import tracemalloc
from collections.abc import Iterator
from multiprocessing import get_context
from threading import Thread

import numpy as np
import pytest
from hypothesis import assume, example, given

from normalhedge import Hedge, NormalHedge, State, _core, _threads
from normalhedge._inputs import Floats
from normalhedge.checks import Game, games
from normalhedge.hedgers import HEDGERS as NAMES
from normalhedge.hedgers import CompiledHedger, named
from tests import oracles

HEDGERS: list[CompiledHedger] = [
    NormalHedge(0.05),
    NormalHedge(0.3, c=0.6),
    NormalHedge(0.9, c=1.0),
    Hedge(0.05, eta=0.3),
    Hedge(0.5, eta=20.0),
]


def weigh_of(hedger: CompiledHedger) -> oracles.Weigh:
    if isinstance(hedger, NormalHedge):
        return functools.partial(oracles.normal_weights, alpha=hedger.alpha, c=hedger.c)
    assert isinstance(hedger, Hedge)
    return functools.partial(oracles.hedge_weights, eta=hedger.eta)


def coins(rounds: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (rounds, n))


def decided_by_rounding(hedger: CompiledHedger, gains: Floats, rated: Floats | None) -> bool:
    """Say whether a regret is not zero but for rounding, in ours or in the oracle's game."""
    if isinstance(hedger, Hedge):
        return False
    state = hedger.init(gains.shape[1])
    for t in range(1, len(gains)):
        upto = None if rated is None else rated[:t]
        state = hedger.step(state, gains[t - 1], None if rated is None else rated[t - 1])
        theirs = oracles.fold(weigh_of(hedger), hedger.alpha, gains[:t], upto)[1]
        sizes = np.abs(np.concatenate([state.regrets, np.asarray(theirs)]))
        if ((sizes > 0.0) & (sizes < 1e-12)).any():
            return True
    return False


@pytest.mark.parametrize("hedger", HEDGERS, ids=repr)
@example(
    game=Game(
        np.array([[0.875] * 4, [-1.0, 0.875, 0.875, 0.875]]),
        np.array([[0.0, 1.0, 1.0, 1.0], [1.0] * 4]),
    )
)
@given(game=games())
def test_run_is_the_paper(hedger: CompiledHedger, game: Game) -> None:
    # Regrets of order 1e-17 are rounding, and would decide weights: the gains are on a grid, and
    # where there are such regrets on the way nothing is to be compared.
    gains, confidence = np.round(game.gains * 8) / 8, np.round(game.confidence * 4) / 4
    for rated in (None, confidence):
        assume(not decided_by_rounding(hedger, gains, rated))
        weights, regrets, earned = oracles.fold(weigh_of(hedger), hedger.alpha, gains, rated)
        run = hedger.run(gains, rated)
        np.testing.assert_allclose(run.gains, earned, atol=1e-9)
        np.testing.assert_allclose(run.state.regrets, regrets, atol=1e-9)
        if abs(max(regrets)) > 1e-12:
            np.testing.assert_allclose(run.state.weights, weights, atol=1e-6)


@pytest.mark.parametrize("hedger", HEDGERS, ids=repr)
def test_regrets_are_differences_of_discounted_gains(hedger: CompiledHedger) -> None:
    gains = coins(200, 5)
    run = hedger.run(gains)
    own = oracles.discounted_gains(hedger.alpha, run.gains)
    expected = oracles.discounted_gains(hedger.alpha, gains) - own
    np.testing.assert_allclose(run.state.regrets, expected, atol=1e-10)


@pytest.mark.parametrize("hedger", HEDGERS, ids=repr)
@pytest.mark.parametrize("rated", [False, True])
def test_run_and_in_place_are_step_to_the_bit(hedger: CompiledHedger, rated: bool) -> None:
    rng = np.random.default_rng(1)
    gains = rng.uniform(-1, 1, (60, 37))
    confidence = rng.uniform(0, 1, (60, 37)) * (rng.random((60, 37)) < 0.7) if rated else None
    state, own = hedger.init(37), hedger.init(37)
    for t, row in enumerate(gains):
        now = None if confidence is None else confidence[t]
        state = hedger.step(state, row, now)
        own = hedger.step(own, row, now, in_place=True)
    run = hedger.run(gains, confidence)
    for other in (own, run.state):
        np.testing.assert_array_equal(state.weights, other.weights)
        np.testing.assert_array_equal(state.regrets, other.regrets)
        assert state[3:] == other[3:]


def test_in_place_keeps_the_arrays_of_the_state() -> None:
    hedger = NormalHedge(0.1)
    state = hedger.init(4)
    after = hedger.step(state, [1, 0, 0, -1], in_place=True)
    assert after.weights is state.weights
    assert after.ledger is state.ledger
    assert after.rounds == 1


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.float16, ">f8"])
def test_gains_of_any_dtype_mean_the_same(dtype: str) -> None:
    hedger, gains = NormalHedge(0.05), coins(50, 6)
    expected = hedger.run(gains)
    typed = gains.astype(dtype)
    np.testing.assert_array_equal(hedger.run(typed).state.weights, expected.state.weights)
    state = hedger.init(6)
    for row in typed:
        state = hedger.step(state, row)
    np.testing.assert_array_equal(state.weights, expected.state.weights)


def test_gains_of_any_layout_mean_the_same() -> None:
    hedger, gains = NormalHedge(0.05), coins(50, 6)
    expected = hedger.run(gains).state.weights
    wide = np.zeros((100, 12))
    wide[::2, ::2] = gains
    for same in (np.asfortranarray(gains), wide[::2, ::2], gains.tolist()):
        np.testing.assert_array_equal(hedger.run(same).state.weights, expected)
    state = hedger.step(hedger.init(6), wide[0, ::2])
    np.testing.assert_array_equal(state.weights, hedger.step(hedger.init(6), gains[0]).weights)


def test_run_in_blocks_of_a_converted_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normalhedge.hedgers.compiled_hedger.BLOCK", 20)
    hedger, gains = NormalHedge(0.05), coins(50, 6)
    confidence = np.random.default_rng(0).random((50, 6))
    expected = oracles.fold(weigh_of(hedger), 0.05, gains, confidence)
    run = hedger.run(gains.astype(np.int64), confidence, keep_weights=True)
    np.testing.assert_allclose(run.state.weights, expected[0], atol=1e-12)
    np.testing.assert_allclose(run.gains, expected[2], atol=1e-12)
    gains[33, 2] = 7
    with pytest.raises(ValueError, match=r"gains\[33, 2\] is 7"):
        hedger.run(gains, confidence)


def test_run_records_what_step_would_show() -> None:
    hedger, gains = NormalHedge(0.05, c=1.0), coins(30, 5)
    run = hedger.run(gains, keep_weights=True)
    assert run.weights is not None
    state = hedger.init(5)
    for t, row in enumerate(gains):
        np.testing.assert_array_equal(run.weights[t], state.weights)
        state = hedger.step(state, row)
        assert run.best_regret[t] == state.best_regret
        assert run.gains[t] == state.gain
        assert math.exp(run.log_potential[t]) == pytest.approx(hedger.average_potential(state))
    assert hedger.run(gains).weights is None


def test_run_keeps_no_copy_of_the_gains() -> None:
    hedger, gains = NormalHedge(0.01), np.ones((20_000, 100), dtype=np.int32)
    hedger.run(gains[:10])
    tracemalloc.start()
    hedger.run(gains)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * 8 * 20_000 + 2 * 8 * 2**20  # the three records, and two blocks


@pytest.fixture
def short_slices() -> Iterator[int]:
    """Make arrays count as long that a test can afford; yield how long they must be."""
    usual = _core.get_slicing()
    _core.set_slicing(2048, 5000, usual[2])
    yield 5000
    _core.set_slicing(*usual)


@pytest.mark.parametrize("rated", [False, True])
@pytest.mark.parametrize("hedger", [NormalHedge(0.1), Hedge(0.1, 0.3)], ids=repr)
def test_long_arrays_in_slices(hedger: CompiledHedger, rated: bool, short_slices: int) -> None:
    n = short_slices + 345
    rng = np.random.default_rng(2)
    gains = rng.uniform(-1, 1, (4, n))
    confidence = rng.random((4, n)) if rated else None
    run = hedger.run(gains, confidence, keep_weights=True)
    state = own = hedger.init(n)
    own = State(own.weights.copy(), own.ledger.copy(), *own[2:])
    for t, row in enumerate(gains):
        now = None if confidence is None else confidence[t]
        state = hedger.step(state, row, now)
        own = hedger.step(own, row, now, in_place=True)
    _core.set_slicing(*_core.get_slicing()[:1], n + 1, 1)
    whole = hedger.run(gains, confidence)
    np.testing.assert_allclose(run.gains, whole.gains, atol=1e-12)
    np.testing.assert_allclose(run.best_regret, whole.best_regret)
    np.testing.assert_allclose(run.log_potential, whole.log_potential)
    for result in (state, own, run.state):
        np.testing.assert_allclose(result.regrets, whole.state.regrets, atol=1e-12)
        np.testing.assert_allclose(result.weights, whole.state.weights, rtol=1e-9, atol=1e-18)
    np.testing.assert_array_equal(state.weights, run.state.weights)
    assert run.weights is not None
    at = hedger.init(n)
    for t, row in enumerate(gains):
        now = None if confidence is None else confidence[t]
        np.testing.assert_allclose(run.weights[t], hedger.play(at, now), atol=1e-15)
        before = pickle.dumps(at)
        after = hedger.step(at, row, now)
        assert pickle.dumps(at) == before
        at = after


def test_slices_give_the_same_bits_on_any_number_of_cores(short_slices: int) -> None:
    hedger, n = NormalHedge(0.1), short_slices + 1
    gains = np.random.default_rng(3).uniform(-1, 1, (3, n))
    results = []
    for cores in (1, 2, 3, 7):
        _core.set_slicing(*_core.get_slicing()[:2], cores)
        results.append(hedger.run(gains).state)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].weights, other.weights)


def _long_game(_: object = None) -> float:
    hedger, n = NormalHedge(0.1), _core.get_slicing()[1]
    state = hedger.init(n)
    for k in range(3):
        state = hedger.step(state, np.linspace(-1, 1, n) * (-1) ** k)
    return state.best_regret


def test_long_arrays_in_threads_and_after_a_fork() -> None:
    expected = _long_game()
    results: list[float] = []
    threads = [Thread(target=lambda: results.append(_long_game())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sys.platform == "linux":
        with get_context("fork").Pool(1) as pool:
            results += pool.map_async(_long_game, [None]).get(timeout=120)
    assert results == [expected] * len(results)


def test_a_slice_that_fails_says_so() -> None:
    def fail(item: int) -> int:
        return 1 // (item - 3)

    with pytest.raises(ZeroDivisionError):
        _threads.spread(fail, [(0,), (1,), (2,), (3,)])


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


def test_rates_of_hedge() -> None:
    alpha, log_n = 0.001, math.log(1000)
    assert Hedge.simulated(alpha, 1000).eta == pytest.approx(math.sqrt(0.0009995 * log_n))
    assert Hedge.derived(alpha, 1000).eta == pytest.approx(2 * Hedge.simulated(alpha, 1000).eta)
    assert Hedge.corrected(alpha, 1000).eta == pytest.approx(math.sqrt(2 * 0.000999 * log_n))
    assert Hedge.corrected(alpha, 1).eta > 0


def test_the_corrected_rate_has_the_least_bound() -> None:
    best = Hedge.corrected(0.01, 50)
    assert best.bound(50).regret == pytest.approx(math.sqrt(2 * math.log(50) / (0.01 * 0.99)))
    for factor in (0.9, 1.1):
        assert Hedge(0.01, best.eta * factor).bound(50).regret > best.bound(50).regret


def test_experts_join_and_leave() -> None:
    hedger = NormalHedge(0.1, c=1.0)
    state = hedger.run(coins(20, 3)).state
    larger = hedger.join(state, 2)
    np.testing.assert_array_equal(larger.regrets, [*state.regrets, 0.0, 0.0])
    np.testing.assert_array_equal(larger.weights[3:], 0.0)
    assert larger.joined == 5
    assert larger.rounds == state.rounds
    assert max(hedger.average_potential(larger), 1) <= max(hedger.average_potential(state), 1)
    smaller = hedger.leave(larger, [0, 4])
    np.testing.assert_array_equal(smaller.regrets, larger.regrets[[1, 2, 3]])
    assert smaller.joined == 5
    assert hedger.leave(larger, 0).weights.sum() == pytest.approx(1.0)
    state = hedger.step(smaller, [0.5, 0.0, -0.5])
    assert state.rounds == 21


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


def test_ties_beside_sleepers_leave_no_regret() -> None:
    gains = np.tile([0.3, 0.3, 0.3, np.nan], (50, 1))
    confidence = np.tile([0.7, 0.2, 1.0, 0.0], (50, 1))
    for hedger in HEDGERS:
        run = hedger.run(gains, confidence)
        np.testing.assert_array_equal(run.state.regrets, 0.0)
        np.testing.assert_array_equal(run.gains, 0.3)


def test_awake_and_asleep_as_booleans() -> None:
    hedger, gains = NormalHedge(0.1), coins(30, 4)
    awake = np.random.default_rng(0).random((30, 4)) < 0.6
    expected = hedger.run(gains, awake.astype(float))
    np.testing.assert_array_equal(hedger.run(gains, awake).state.regrets, expected.state.regrets)
    state = hedger.init(4)
    np.testing.assert_array_equal(
        hedger.play(state, awake[0]), hedger.play(state, awake[0].astype(float))
    )
    after = hedger.step(state, gains[0], awake[0].tolist())
    np.testing.assert_array_equal(
        after.regrets, hedger.step(state, gains[0], awake[0].astype(float)).regrets
    )


def test_states_are_made_of_what_can_be_a_state() -> None:
    frozen = np.full(2, 0.5)
    frozen.flags.writeable = False
    state = State(frozen, np.array([[0, 0]]), [], 0, 2, 0.0)
    hedger = NormalHedge(0.1)
    expected = hedger.step(hedger.init(2), [0.6, -1.0])
    for after in (
        hedger.step(state, [0.6, -1.0], in_place=True),
        hedger.run([[0.6, -1.0]], state=State([0.5, 0.5], [[0, 0]], [], 0, 2, 0.0)).state,
    ):
        np.testing.assert_array_equal(after.regrets, expected.regrets)
    assert frozen.tolist() == [0.5, 0.5]


def test_share_of_a_quantile_is_not_spoiled_by_rounding() -> None:
    state = NormalHedge(0.1).init(100)._replace(ledger=np.arange(100.0)[np.newaxis])
    assert 0.07 * 100 > 7
    assert state.quantile_regret(0.07) == 93.0


def test_states_travel_as_json() -> None:
    hedger = NormalHedge(0.1)
    state = hedger.run(coins(20, 3)).state
    back = State.from_json(state.to_json())
    np.testing.assert_array_equal(back.regrets, state.regrets)
    assert back[3:] == state[3:]
    assert json.loads(state.to_json())["rounds"] == 20
    np.testing.assert_array_equal(
        hedger.step(back, [1, 0, -1]).weights, hedger.step(state, [1, 0, -1]).weights
    )
    assert pickle.loads(pickle.dumps(hedger)) == hedger


def test_the_only_expert_ahead_has_all_the_weight() -> None:
    hedger, n = NormalHedge(0.01), 3
    state = hedger.init(n)
    for gain in np.random.default_rng(0).uniform(0.1, 1.0, 500):
        state = hedger.step(state, [gain, -gain, -gain])
        assert state.weights.tolist() == [1.0, 0.0, 0.0]


def test_states_that_were_forged_or_resized_are_refused_or_work() -> None:
    hedger, gains = NormalHedge(0.1), np.array([1.0, 0.0, -1.0])
    state = hedger.run([gains, gains]).state
    expected = hedger.step(state, gains)
    make = tuple.__new__
    strided = np.zeros((3, 4))[:, 0]
    strided[:] = state.weights
    frozen = state.weights.copy()
    frozen.flags.writeable = False
    for weights in (strided, frozen, state.weights.astype(">f8")):
        for in_place in (False, True):
            forged = make(State, (weights.copy() if in_place else weights, *state[1:]))
            forged = forged._replace() if in_place else forged
            after = hedger.step(forged, gains, in_place=in_place)
            np.testing.assert_array_equal(after.regrets, expected.regrets)
            state = hedger.run([gains, gains]).state
    short = state.weights.copy()
    short.resize(2, refcheck=False)
    for fields in (
        (),
        state[:3],
        (short, *state[1:]),
        (state.weights, np.zeros((0, 3)), *state[2:]),
        (state.weights, np.zeros((2, 3)), *state[2:]),
        (state.weights, state.ledger, np.zeros(2), *state[3:]),
        (None, None, None, None, None, None),
        (np.zeros(0), np.zeros((1, 0)), *state[2:]),
        (state.weights, state.ledger, state.totals, "two", 3, 0.0),
    ):
        for call in (
            lambda forged: hedger.step(forged, gains),
            lambda forged: hedger.step(forged, gains, in_place=True),
            lambda forged: hedger.play(forged, np.ones(3)),
            lambda forged: hedger.run(gains[np.newaxis], state=forged),
        ):
            with pytest.raises((TypeError, ValueError)):
                call(make(State, fields))


@pytest.mark.parametrize("name", sorted(NAMES.keys() - {"hedge-fixed"}))
def test_gains_that_are_a_part_of_the_state(name: str) -> None:
    """In place as pure, whatever the gains and the confidences share their memory with."""
    hedger = named(name, 4, alpha=0.05)
    start = hedger.run(np.random.default_rng(5).uniform(-1.0, 1.0, (30, 4))).state
    for use in (
        lambda s: (s.weights, None),
        lambda s: (s.weights, s.weights),
        lambda s: (np.ones(4), s.weights),
        lambda s: (np.clip(s.ledger[-1], -1.0, 1.0), s.weights),
    ):
        one = State(start.weights.copy(), start.ledger.copy(), start.totals.copy(), *start[3:])
        pure = hedger.step(start, *use(start))
        own = hedger.step(one, *use(one), in_place=True)
        for a, b in zip(pure, own, strict=True):
            np.testing.assert_array_equal(a, b)
