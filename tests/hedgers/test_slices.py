"""Long arrays, which are worked on in slices, by several cores."""

import pickle
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from threading import Thread

import numpy as np
import pytest

from normalhedge import NormalHedge, _core
from normalhedge.hedgers import CompiledHedger, Hedge, State


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
