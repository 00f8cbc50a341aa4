"""Corrected outcomes: the mixture is as if the right outcome had been given at once."""

from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from tests.rules import either
from tests.test_own_hedgers import Joins
from tests.torture.snapshot import difference, snapshot

RULES: list[dict[str, Any]] = [
    {},
    {"hedger": "normal-hedge"},
    {"hedger": "variable-share:n_experts=5", "loss": "absolute"},
    {"hedger": "squint", "include": ["mean", "median"], "loss": "absolute"},
    {"interval": (0.5, 0.9), "season": 7},
    {"hedger": "normal-hedge", "interval": 0.9},
]


def played(
    seed: int, wrong: dict[int, float], rounds: int = 150, **options: Any
) -> tuple[Mixture, list[float]]:
    """Return a mixture after rounds with late outcomes and newcomers, and the outcomes."""
    rng = np.random.default_rng(seed)
    mixture, waiting = Mixture(history=80, **options), []
    truth = rng.normal(size=rounds).cumsum()
    for t in range(rounds):
        forecasts: dict[str, float] = {
            f"e{k}": float(truth[t] + rng.normal() * (k + 1) + (k == 2))
            for k in range(4 + (t > rounds // 2))
            if rng.uniform() < 0.9 or k == 0
        }
        confidence = {"e0": float(rng.uniform())} if rng.uniform() < 0.2 else None
        waiting.append(mixture.predict(forecasts, confidence).ticket)
        while waiting and rng.uniform() < 0.55:
            ticket = waiting.pop(int(rng.integers(len(waiting))))
            mixture.update(ticket, wrong.get(ticket, float(truth[ticket])))
    return mixture, truth.tolist()


@pytest.mark.parametrize("options", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_a_correction_gives_what_the_right_outcome_would_have_given(
    options: dict[str, Any], seed: int
) -> None:
    expected, truth = played(seed, {}, **options)
    recent = [one.ticket for one in expected.history][-35:]
    for ticket in (recent[0], recent[-1], recent[len(recent) // 2]):
        mixture, _ = played(seed, {ticket: 1e3}, **options)
        assert difference(snapshot(mixture), snapshot(expected)) is not None
        mixture.correct(ticket, truth[ticket])
        assert difference(snapshot(mixture), snapshot(expected)) is None
        again = {"e0": 1.0, "e1": 2.0, "e9": 3.0}
        assert mixture.predict(again).weights == expected.peek(again).weights


def test_several_corrections_in_any_order() -> None:
    expected, truth = played(7, {})
    tickets = [one.ticket for one in expected.history][-30:]
    wrong = dict.fromkeys(tickets[::4], 50.0)
    mixture, _ = played(7, wrong)
    for ticket in reversed(wrong):
        mixture.correct(ticket, truth[ticket])
    assert difference(snapshot(mixture), snapshot(expected)) is None


def test_a_hedger_of_ones_own_is_corrected_too() -> None:
    expected, truth = played(1, {}, rounds=40, hedger=Joins())
    ticket = expected.history[-5].ticket
    mixture, _ = played(1, {ticket: 9.0}, rounds=40, hedger=Joins())
    mixture.correct(ticket, truth[ticket])
    assert difference(snapshot(mixture), snapshot(expected)) is None


@either
def test_half_of_the_history_can_be_corrected(hedger: str | None) -> None:
    mixture = Mixture(hedger, history=20)
    for t in range(500):
        mixture.update(mixture.predict({"a": float(t), "b": t + 1.0}).ticket, float(t))
        if t >= 10:
            mixture.correct(t - 9, t - 9.0)
    with pytest.raises(KeyError, match="ticket 100 cannot be corrected any more"):
        mixture.correct(100, 1.0)


def test_what_cannot_be_corrected() -> None:
    mixture = Mixture()
    mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, 1.0)
    open_ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    before = snapshot(mixture)
    for ticket, outcome, error, match in (
        (open_ticket, 1.0, KeyError, "waits for its outcome: use update"),
        (7, 1.0, KeyError, "never given out"),
        (0, "x", TypeError, "outcome"),
        (0, float("inf"), ValueError, "outcome"),
        (None, 1.0, TypeError, "the ticket or the id"),
    ):
        with pytest.raises(error, match=match):
            mixture.correct(ticket, outcome)
    assert difference(snapshot(mixture), before) is None
    mixture.join(["c"])
    with pytest.raises(KeyError, match="experts or a table arrived"):
        mixture.correct(0, 2.0)
    small = Mixture(history=0)
    small.update(small.predict({"a": 1.0}).ticket, 1.0)
    with pytest.raises(KeyError, match="cannot be corrected"):
        small.correct(0, 2.0)


def test_a_wrong_outcome_of_an_expired_round_is_said() -> None:
    mixture = Mixture(max_pending=2)
    for _ in range(4):
        made = mixture.predict({"a": 1.0, "b": 2.0})
    mixture.update(made.ticket, 1.0)
    mixture.correct(made.ticket, 2.0)
    for _ in range(3):
        mixture.predict({"a": 1.0, "b": 2.0})
    with pytest.raises(KeyError, match="cannot be corrected"):
        mixture.correct(made.ticket, 1.0)
