"""Every hedger of the package: arrays, states, docstrings, and experts that come and go."""

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge, hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger
from tests import oracles
from tests.hedgers.examples import BOUNDED, coins, each, weigh_of


def test_states_of_other_hedgers_are_refused() -> None:
    """The core would read and write beyond the ledger."""
    gains = np.zeros(3)
    for hedger in BOUNDED.values():
        for other in BOUNDED.values():
            state = other.init(3)
            if (len(state.ledger), len(state.totals)) == (
                hedger._engine.rows,
                hedger._engine.totals,
            ):
                continue
            for use in (
                lambda: hedger.step(state, gains),  # noqa: B023 -- used at once
                lambda: hedger.step(state, gains, in_place=True),  # noqa: B023
                lambda: hedger.run(gains[None], state=state),  # noqa: B023
                lambda: hedger.play(state),  # noqa: B023
                lambda: hedger.bounds(state),  # noqa: B023
                lambda: hedger.join(state),  # noqa: B023
                lambda: hedger.leave(state, 0),  # noqa: B023
            ):
                with pytest.raises(
                    ValueError, match=f"state must be one of {type(hedger).__name__}"
                ):
                    use()


@pytest.mark.parametrize("hedger", [hedgers.Squint(), hedgers.NormalHedge(0.1)], ids=repr)
def test_arrays_of_any_kind_are_read(hedger: Any) -> None:
    """What pandas and memory maps hand out: read-only, not aligned, not in rows, swapped bytes."""
    gains = np.eye(3)
    frozen = gains.copy()
    frozen.flags.writeable = False
    odd = np.frombuffer(b"x" + gains.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(3, 3)

    def use(table: Floats) -> list[Floats]:
        found = []
        for confidence in (None, table):
            state = hedger.run(table, confidence).state
            row = None if confidence is None else confidence[0]
            found.append(hedger.step(state, table[0], row).weights)
            found.append(hedger.step(state, table[0], row, in_place=True).weights)
        return found

    expected = use(gains)
    for other in (frozen, odd, gains.T, np.asfortranarray(gains), gains.astype(">f8"), gains == 1):
        if other.dtype == np.bool_:
            continue
        for one, two in zip(expected, use(other), strict=True):
            np.testing.assert_array_equal(one, two)


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
    monkeypatch.setattr("normalhedge.hedgers._compiled_hedger.BLOCK", 20)
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


@each
def test_docstrings_are_complete(hedger: CompiledHedger) -> None:
    """The base class fills in the discount rate and the cost where an algorithm says nothing."""
    text = type(hedger).__doc__ or ""
    assert text.count("Parameters\n----------") == text.count("A round costs") == 1
    assert "alpha" in text.partition("Parameters\n")[2].partition("Notes\n")[0]
