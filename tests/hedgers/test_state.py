"""States: what can be one, and how they travel."""

import json
import pickle

import numpy as np
import pytest

from normalhedge import NormalHedge, hedgers
from normalhedge.hedgers import State
from tests.hedgers.examples import coins


def test_states_that_do_not_fit_are_refused() -> None:
    state = hedgers.Squint().init(3)
    for change in (
        {"ledger": np.zeros((4, 2))},
        {"ledger": np.full((4, 3), np.nan)},
        {"weights": [0.5, 0.5, 0.5]},
        {"joined": 2},
        {"totals": [[1.0]]},
    ):
        with pytest.raises(ValueError, match=next(iter(change))):
            state._replace(**change)


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
