"""Experts that leave, are forgotten or are too many; and items, ids and games."""

import json

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures.streams._stream import Stream
from tests.mixtures.examples import fed
from tests.rules import either


def test_many_items_take_no_longer_each() -> None:
    items = [f"s{k}" for k in range(30_000)]  # ten seconds, were each looked for among all
    mixture = Mixture("squint")
    made = mixture.predict({"a": dict.fromkeys(items, 1.0), "b": dict.fromkeys(items, 2.0)})
    mixture.update(made.ticket, dict.fromkeys(items, 1.0))
    assert made.value["s29999"] == 1.5


def test_items_that_come_one_by_one_have_games_of_their_own() -> None:
    slowly, at_once = (Mixture("squint", shared=False) for _ in range(2))
    items = [f"s{k}" for k in range(300)]
    for item in items:
        made = slowly.predict({"a": {item: 1.0}, "b": {item: 2.0}})
        slowly.update(made.ticket, {item: 1.0})
    made = at_once.predict({"a": dict.fromkeys(items, 1.0), "b": dict.fromkeys(items, 2.0)})
    at_once.update(made.ticket, dict.fromkeys(items, 1.0))
    np.testing.assert_array_equal(slowly.live.ledgers, at_once.live.ledgers)
    np.testing.assert_array_equal(slowly.weights, at_once.weights)


def test_ids_of_rounds_that_expired_are_forgotten_in_time() -> None:
    stream = Stream(Mixture(max_pending=10))
    for k in range(100):
        (answer,) = stream.answers([json.dumps({"id": k, "forecasts": {"a": 1.0, "b": 2.0}})])
        assert answer["id"] == k
        assert len(stream.mixture.ids) <= 20
    (answer,) = stream.answers([json.dumps({"id": 5, "outcome": 1.0})])
    assert "error" in answer
    (answer,) = stream.answers([json.dumps({"id": 99, "outcome": 1.0})])
    assert answer["settled"] == 99


@either
def test_rounds_that_wait_go_on_without_who_left(hedger: str | None) -> None:
    one, two = Mixture(hedger), Mixture(hedger)
    first = {"a": 0.0, "b": 3.0, "c": 1.0}
    tickets = [mixture.predict(first, {"c": 0.5}).ticket for mixture in (one, two)]
    one.leave("b")
    one.update(tickets[0], 0.5)
    assert one.weights.shape == (1, 2)
    assert one.live.expert_sums.shape == (6, 2)
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
    mixture = Mixture(hedger or "auto:inside=true", forget_after=10)
    for k in range(300):
        said = {"always": 0.0, f"model {k // 5}": 1.0}
        mixture.update(mixture.predict(said).ticket, 0.0)
    assert "always" in mixture.names
    assert len(mixture.names) <= 6
    assert mixture.live.weights.shape == (1, len(mixture.names))
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


def test_books_is_a_former_name_of_the_mixture_itself() -> None:
    mixture = fed(Mixture(), "ab", 3)
    with pytest.warns(DeprecationWarning, match="books"):
        assert mixture.books.names == mixture.names
    with pytest.warns(DeprecationWarning, match="books"):
        assert Mixture.of(mixture.books).rounds == mixture.rounds
