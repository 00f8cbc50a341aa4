"""Tickets: used once, in any order, and expired."""

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures.rules import levels_of
from tests.rules import SINGLE, either


@either
def test_outcomes_in_any_order(hedger: str | None) -> None:
    mixture = Mixture(hedger, "absolute")
    tickets = [mixture.predict({"a": 0.0, "b": 1.0}).ticket for _ in range(10)]
    for ticket in reversed(tickets[1:]):
        mixture.update(ticket, 0.0)
    assert list(mixture.pending) == tickets[:1]
    good, bad = mixture.state().weights
    assert good > bad
    if hedger == SINGLE:
        assert (good, bad) == (1.0, 0.0)
    mixture.update(tickets[0], 0.0)
    assert not mixture.pending


@either
def test_tickets_are_used_once(hedger: str | None) -> None:
    mixture = Mixture(hedger)
    ticket = mixture.predict({"a": 0.0, "b": 1.0}).ticket
    mixture.update(ticket, 0.0)
    before = [getattr(mixture.live, name).copy() for name in ARRAYS]
    with pytest.raises(KeyError, match="ticket 0 was used already, or has expired"):
        mixture.update(ticket, 0.0)
    with pytest.raises(KeyError, match="ticket 7 was never given out"):
        mixture.update(7, 0.0)
    with pytest.raises(KeyError, match="ticket 'x' was never given out"):
        mixture.update("x", 0.0)  # type: ignore[arg-type]
    for name, array in zip(ARRAYS, before, strict=True):
        np.testing.assert_array_equal(getattr(mixture.live, name), array)


@either
def test_tickets_expire_by_count_and_by_age(hedger: str | None) -> None:
    few = Mixture(hedger, max_pending=3)
    tickets = [few.predict({"a": 0.0, "b": 1.0}).ticket for _ in range(10)]
    assert list(few.pending) == tickets[-3:]
    assert few.expired == 7
    young = Mixture(hedger, max_age=2)
    first = young.predict({"a": 0.0, "b": 1.0}).ticket
    for _ in range(20):
        young.update(young.predict({"a": 0.0, "b": 1.0}).ticket, 0.0)
    assert not young.pending
    with pytest.raises(KeyError, match="expired"):
        young.update(first, 0.0)


@either
def test_memory_stays_bounded(hedger: str | None) -> None:
    mixture = Mixture(hedger, max_pending=50, history=20)
    sizes = set()
    for k in range(500):
        mixture.predict({"a": 0.0, "b": 1.0})
        if k > 100:
            sizes.add((len(mixture.pending), len(mixture.history), mixture.live.expert_sums.size))
    assert sizes == {(50, 0, 12)}


def test_a_round_of_one_item_that_is_settled_after_the_second_came() -> None:
    mixture, rng = Mixture(), np.random.default_rng(0)
    scales = {"a": 1.0, "b": 2.0, "c": 3.0}

    def forecasts(*items: str) -> dict[str, dict[str, float]]:
        return {k: {item: s * rng.normal() for item in items} for k, s in scales.items()}

    waiting = mixture.predict(forecasts("x"))
    for _ in range(20):
        mixture.update(mixture.predict(forecasts("x", "y")).ticket, {"x": 0.0, "y": 0.0})
    mixture.update(waiting.ticket, {"x": 0.0})
    assert levels_of(mixture.live).ways[0].sum() == pytest.approx(1.0)
