"""Experts that leave, are forgotten or are too many; and mixtures that are used from within."""

import copy
import os
import pickle
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures.growth import ARRAYS
from tests.rules import either

NAMES = [name for name in HEDGERS if name not in {"hedge-fixed"}]


def made(hedger: str) -> Mixture:
    tuned = hedger in {"hedge", "hedge-derived", "hedge-simulated", "optimistic-hedge"}
    tuned = tuned or hedger.endswith("share")
    return Mixture(f"{hedger}:n_experts=4" if tuned else hedger)


def fed(mixture: Mixture, names: str, rounds: int, seed: int = 0) -> Mixture:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        said = {name: float(rng.normal() * (1 + k)) for k, name in enumerate(names)}
        mixture.update(mixture.predict(said).ticket, 0.0)
    return mixture


@pytest.mark.parametrize("hedger", NAMES)
def test_leaving_is_what_the_hedger_says_it_is(hedger: str) -> None:
    mixture = fed(made(hedger), "abcd", 30)
    before = mixture.state()
    mixture.leave("b")
    assert mixture.names == ["a", "c", "d"]
    expected = mixture.recipe.hedger.leave(before, [1])  # type: ignore[union-attr]
    np.testing.assert_allclose(mixture.weights[0], expected.weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(mixture.games.ledgers[0], expected.ledger)
    fed(mixture, "acd", 5)
    fed(mixture, "acdb", 5)
    assert mixture.names == ["a", "c", "d", "b"]


@either
def test_rounds_that_wait_go_on_without_who_left(hedger: str | None) -> None:
    one, two = Mixture(hedger), Mixture(hedger)
    first = {"a": 0.0, "b": 3.0, "c": 1.0}
    tickets = [mixture.predict(first, {"c": 0.5}).ticket for mixture in (one, two)]
    one.leave("b")
    one.update(tickets[0], 0.5)
    assert one.weights.shape == (1, 2)
    assert one.games.expert_sums.shape == (6, 2)
    assert one.predict({"c": 1.0, "a": 0.0}).weights.keys() == {"a", "c"}
    fed(one, "ac", 3).summary()


def test_who_cannot_leave() -> None:
    mixture = Mixture(include="mean")
    mixture.predict({"a": 1.0})
    for name, word in (("a", "cannot leave"), ("(mean)", "cannot leave"), ("b", "no expert 'b'")):
        with pytest.raises(ValueError, match=word):
            mixture.leave(name)
    assert mixture.names == ["(mean)", "a"]


@either
def test_the_silent_are_forgotten_when_others_come(hedger: str | None) -> None:
    mixture = Mixture(hedger, forget_after=10)
    for k in range(300):
        said = {"always": 0.0, f"model {k // 5}": 1.0}
        mixture.update(mixture.predict(said).ticket, 0.0)
    assert "always" in mixture.names
    assert len(mixture.names) <= 6
    assert mixture.games.weights.shape == (1, len(mixture.names))
    assert mixture.predict({"always": 2.0}).value == 2.0


@either
def test_too_many_names(hedger: str | None) -> None:
    mixture = Mixture(hedger, max_names=3)
    mixture.predict({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="2 experts, and 2 more exceed max_names = 3"):
        mixture.predict({"c": 1.0, "d": 2.0})
    assert mixture.names == ["a", "b"]
    mixture.join(["c"])
    assert mixture.names == ["a", "b", "c"]


@pytest.mark.parametrize("hedger", ["auto", *NAMES])
def test_joining_one_by_one_is_joining_at_once(hedger: str) -> None:
    """In columns that are free, and in arrays that had to be moved."""
    more = [f"n{k}" for k in range(40)]
    one, two = fed(made(hedger), "abcd", 20), fed(made(hedger), "abcd", 20)
    for name in more:
        one.join([name])
    two.join(more)
    assert one.names == two.names
    if hedger != "ml-prod":  # whose newcomers begin with a share of those that are there
        np.testing.assert_allclose(one.weights, two.weights, rtol=1e-12, atol=1e-15)
    for name in ARRAYS:
        assert getattr(one.games, name).shape == getattr(two.games, name).shape
    fed(one, "abcd", 3)
    assert one.weights.sum() == pytest.approx(1.0)


class Meddler(dict[str, float]):
    """Forecasts that use the mixture while they are read."""

    def __init__(self, mixture: Mixture, **values: float) -> None:
        super().__init__(values)
        self.mixture = mixture

    def items(self) -> Any:
        self.mixture.predict({"x": 1.0, "y": 2.0})
        return super().items()


def test_a_mixture_that_is_used_from_within_refuses() -> None:
    mixture = fed(Mixture(), "ab", 3)
    with pytest.raises(RuntimeError, match="must not be used while it predicts or learns"):
        mixture.predict(Meddler(mixture, a=1.0, c=2.0))
    assert mixture.names == ["a", "b", "x", "y"]  # the inner round was whole
    assert list(mixture.pending) == [3]
    fed(mixture, "abxy", 2)


def test_pickles_and_copies_beside_a_thread_that_predicts() -> None:
    mixture, stop, failed = fed(Mixture(), "ab", 3), threading.Event(), []

    def work() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            said = {"a": 1.0, "b": 2.0, f"n{k % 50}": 3.0}
            mixture.update(mixture.predict(said).ticket, 1.0)

    def look() -> None:
        try:
            for _ in range(60):
                for other in (pickle.loads(pickle.dumps(mixture)), copy.deepcopy(mixture)):
                    assert len(other.names) == other.weights.shape[1]
                    other.predict({"a": 1.0, "b": 2.0})
                mixture.summary()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    threads[1].join()
    stop.set()
    threads[0].join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_beside_a_thread_gets_a_sound_mixture() -> None:
    mixture, stop = fed(Mixture(), "ab", 3), threading.Event()

    def work() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            mixture.update(mixture.predict({"a": 1.0, "b": 2.0, f"n{k % 9}": 3.0}).ticket, 1.0)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    fed(mixture, "abq", 3)
                    os._exit(0 if len(mixture.names) == mixture.weights.shape[1] else 1)
                finally:
                    os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_series_of_several_columns_are_told_apart() -> None:
    rows = [("a|", "b"), ("a", "|b"), ("q", ""), ("|q", ""), ("a\\", "|b"), ("a\\|", "b")]
    table = pa.table(
        {
            "one": [one for one, _ in rows for _ in range(3)],
            "two": [two for _, two in rows for _ in range(3)],
            "t": [t for _ in rows for t in range(3)],
            "y": [1.0] * 3 * len(rows),
            "m": [1.0] * 3 * len(rows),
            "n": [2.0] * 3 * len(rows),
        }
    )
    found = blend(table, "y", ["m", "n"], by=("one", "two"), time="t")
    assert len(set(found.mixture.items)) == len(rows)
