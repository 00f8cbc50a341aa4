"""The compiled part of a mixture: inputs that once crashed, hung or misled it."""

import gc
import pickle
import weakref
from collections import UserDict
from random import Random
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, NormalHedge, _core
from tests.test_own_hedgers import Own, Totals


class Deaf(Own):
    """It plays those that sleep, too."""

    def play(self, state: Totals, confidence: Any = None) -> Any:
        del confidence
        return state.weights


def test_votes_of_those_that_sleep_do_not_hang() -> None:
    assert _core.combine(np.array([np.nan, 1.0]), np.array([0.4, 0.6]), "vote") == 1.0
    mixture = Mixture(Deaf(), loss="zero-one")
    mixture.predict({"a": 1.0, "b": 2.0, "c": 3.0})
    assert mixture.predict({"a": 1.0, "b": None, "c": 3.0}).value in {1.0, 3.0}


def test_arrays_that_python_sees_are_copies() -> None:
    mixture = Mixture("normal-hedge")
    ticket = mixture.predict({"a": 0.0, "b": 1.0}).ticket
    for name in _core.STATE_FIELDS:
        getattr(mixture.live, name)[...] = 7
    mixture.pending[ticket].forecasts[...] = np.nan
    mixture.names.clear()
    mixture.update(ticket, 0.0)
    assert mixture.next_weights()["a"] > 0.5
    assert np.isfinite(mixture.summary().blend)


def test_a_mixture_without_experts() -> None:
    for hedger in (Own(), NormalHedge(0.1), None):
        live = Mixture(hedger).live
        version = live.version
        with pytest.raises(TypeError, match="without all its fields"):
            live.predict_rows((1,))
        empty: tuple[Any, ...] = (
            version,
            np.empty((1, 1, 0)),
            None,
            None,
            [""],
            [],
            None,
            None,
            [],
            [],
        )
        with pytest.raises(ValueError, match="do not fit"):
            live.predict_rows(empty)
        with pytest.raises(KeyError):
            live.settle(version, 0, np.zeros(1))
        with pytest.raises(ValueError, match="no such expert"):
            live.leave(version, np.array([0]))
        with pytest.raises(ValueError, match="no such game"):
            live.start_game(3, np.array([0]))
        with pytest.raises(ValueError, match="column for each"):
            live.fill_plain(np.empty((10, 0, 10)), None)
        with pytest.raises(ValueError, match="of one size"):
            live.assign(version, {"weights": np.ones((3, 3))})
        with pytest.raises(RuntimeError, match="must not be used while"):
            live.join(version - 1, ["a"], [], [], [])
        assert live.version == version
        assert live.predict({"a": 1.0}, None) is None
        assert not live.update(0, 1.0)


def test_slices_that_are_none() -> None:
    usual = _core.get_slicing()
    for wrong in ((0, 1, 2), (100, 1, 2), (-1, 1, -1), (1024, 0, 1), (1024, 1, 0)):
        with pytest.raises(ValueError, match="slices must be whole blocks"):
            _core.set_slicing(*wrong)
    assert _core.get_slicing() == usual


@pytest.mark.parametrize("rounds", [2**63 - 1, 2**70])
def test_more_rounds_than_can_be_counted(rounds: int) -> None:
    hedger = NormalHedge(0.1)
    state = hedger.init(3)._replace(rounds=rounds)
    before = state.ledger.copy()
    with pytest.raises((ValueError, OverflowError)):
        hedger.step(state, np.array([1.0, 0.0, -1.0]), in_place=True)
    np.testing.assert_array_equal(state.ledger, before)


class Evil:
    """A number that changes an array when it is asked for."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __float__(self) -> float:
        self.array.resize((1, 1), refcheck=False)
        return 0.5


def test_numbers_that_do_something_when_they_are_read() -> None:
    gains = np.zeros((1000, 100))
    with pytest.raises(TypeError, match="something else than a number"):
        _core.leads(gains, Evil(gains), np.empty(1000))  # type: ignore[arg-type]


def test_confidences_whose_reciprocal_is_infinite() -> None:
    mixture = Mixture(even=0.5)
    made = mixture.predict({"a": 1.0, "b": 2.0}, {"a": 1e-310, "b": 1e-310})
    assert made.distribution.tolist() == [[0.5, 0.5]]
    mixture.update(made.ticket, 1.0)
    assert np.isfinite(mixture.live.expert_sums).all()
    assert np.isfinite(mixture.live.total_sums).all()


class Strange(Own):
    """It gives the weights it was made with."""

    def __init__(self, weights: Any) -> None:
        object.__setattr__(self, "strange", weights)
        super().__init__()

    def step(self, state: Totals, gains: Any, confidence: Any = None) -> Any:
        del gains, confidence
        return Totals(self.strange, state.gains)  # type: ignore[attr-defined]


@pytest.mark.parametrize("weights", [[np.nan, 0.5], [-1.0, 2.0], [np.inf, 0.0], [0.5], None, "ab"])
def test_weights_that_are_none_are_refused_and_nothing_is_learned(weights: Any) -> None:
    mixture = Mixture(Strange(weights))
    ticket = mixture.predict({"a": 0.0, "b": 1.0}).ticket
    before = {name: getattr(mixture.live, name) for name in _core.STATE_FIELDS}
    with pytest.raises((ValueError, TypeError)):
        mixture.update(ticket, 0.0)
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(mixture.live, name), array)
    assert list(mixture.pending) == [ticket]


def test_a_hedger_that_knows_its_mixture_is_collected() -> None:
    hedger = Strange([0.5, 0.5])
    mixture = Mixture(hedger)
    mixture.predict({"a": 1.0, "b": 2.0})
    object.__setattr__(hedger, "mixture", mixture)
    gone = weakref.ref(mixture)
    del mixture, hedger
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("hedger", "shared"), [("normal-hedge", True), ("normal-hedge", False), ("auto", True)]
)
def test_dicts_by_item_are_read_in_one_call_as_any_mapping_is(hedger: str, shared: bool) -> None:
    fast, plain = Mixture(hedger, shared=shared), Mixture(hedger, shared=shared)
    rng = Random(1)
    items = ["x", "y", "z"]
    for _ in range(40):
        rows = rng.sample(items, rng.randint(1, 3))
        numbers = [rng.gauss(0.0, 1.0), np.float64(rng.gauss(0.0, 1.0)), rng.randint(-2, 2), None]
        said: dict[str, Any] = {
            name: {row: rng.choice(numbers) for row in rows[: rng.randint(0, 3)]} for name in "abc"
        }
        said |= {"d": None, "e": {row: rng.gauss(0.0, 1.0) for row in rng.sample(rows, len(rows))}}
        made = fast.predict(said)
        same = plain.predict({name: said[name] and UserDict(said[name]) for name in said})
        assert made._replace(distribution=0) == same._replace(distribution=0)
        np.testing.assert_array_equal(made.distribution, same.distribution)
        outcome = {row: rng.choice(numbers) for row in rows} | {rows[0]: 1}
        fast.update(made.ticket, outcome)
        plain.update(same.ticket, UserDict(outcome))
    assert pickle.dumps(fast) == pickle.dumps(plain)


@pytest.mark.parametrize("outcome", [{"q": 1.0}, {"x": 1e300}, {"x": "1"}, {"x": None}, {}, 1.0])
def test_outcomes_by_item_that_are_none_are_refused(outcome: Any) -> None:
    mixture = Mixture()
    mixture.update(mixture.predict({"a": {"x": 1.0}, "b": {"x": 2.0}}).ticket, {"x": 1.0})
    made = mixture.predict({"a": {"x": 1.0}, "b": {"x": 2.0}})
    before = pickle.dumps(mixture)
    with pytest.raises((ValueError, TypeError), match="outcome"):
        mixture.update(made.ticket, outcome)
    assert pickle.dumps(mixture) == before
