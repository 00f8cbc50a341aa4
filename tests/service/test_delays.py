"""Overdue rounds: by the delays of live rounds, whatever was learned afterwards, and for ever."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from normalhedge.service._delays import Delays
from tests.service.examples import ONE, ask
from tests.service.running import Asked, served

HOUR, DAY = 3600.0, 86_400.0


def learned(rounds: list[tuple[float, float]]) -> Delays:
    delays = Delays()
    for ticket, (begun, delay) in enumerate(rounds):
        delays.begin(ticket, begun)
        delays.settle(ticket, begun + delay)
    return delays


def test_a_history_that_is_learned_afterwards_is_no_habit() -> None:
    delays = learned([(0.01 * k, 0.005) for k in range(10_000)])
    delays.begin(10_000, 100.0)
    assert delays.overdue(1e9).rounds == 0
    assert delays.usual() is None


def test_a_history_in_large_parts_is_no_habit() -> None:
    """Ten batches of forecasts, then ten of outcomes, at five seconds each."""
    rounds = [(5.0 * part + 1e-4 * k, 50.0) for part in range(10) for k in range(20)]
    delays = learned(rounds)
    delays.begin(10_000, 100.0)
    assert delays.overdue(1e9).rounds == 0


@pytest.mark.parametrize("unit", [2.0, 60.0, HOUR, DAY])
def test_live_rounds_are_a_habit_at_every_pace(unit: float) -> None:
    delays = learned([(k * unit, unit) for k in range(10)])
    delays.begin(10, 10 * unit)
    delays.begin(11, 11 * unit)
    assert delays.usual() == 2.0 * unit
    assert delays.overdue(11.9 * unit) == (0, None, None, 2.0 * unit)
    assert delays.overdue(12.1 * unit) == (1, 10 * unit, 10, 2.0 * unit)
    assert delays.overdue(1e12).rounds == 2


def test_a_history_before_does_not_change_the_habit() -> None:
    history = [(0.01 * k, 0.005) for k in range(10_000)]
    live = [(DAY * k, DAY) for k in range(1, 11)]
    assert learned(history + live).usual() == learned(live).usual() == 2.0 * DAY


def test_weekends_are_not_late() -> None:
    """Outcomes of Friday come on Monday, and a round of Friday waits until then."""
    week = [(DAY * (7 * w + d), DAY if d < 4 else 3.0 * DAY) for w in range(8) for d in range(5)]
    delays = learned(week)
    delays.begin(100, DAY * (7 * 8 + 4))
    assert delays.overdue(DAY * (7 * 8 + 4) + 3.1 * DAY).rounds == 0
    assert delays.overdue(DAY * (7 * 8 + 4) + 5 * DAY).rounds == 1


def test_many_rounds_at_once_count_once() -> None:
    """Seven days ahead for fifty items: the longest horizon of the last weeks is usual."""
    rounds = [
        (DAY * day + 0.1 * item, DAY * ahead)
        for day in range(30)
        for item, ahead in itertools.product(range(50), range(1, 8))
    ]
    assert learned(rounds).usual() == pytest.approx(14.0 * DAY, rel=1e-3)


def test_delays_learned_in_any_order_are_the_same() -> None:
    rounds = [(10.0 * k, 5.0 + k % 3) for k in range(300)]
    one, other = Delays(), Delays()
    for begun, delay in rounds:
        one.learn(begun, delay)
    for begun, delay in reversed(rounds[-100:]):
        other.learn(begun, delay)
    assert one.usual() == other.usual()


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.7e9
        for module in ("_registry", "_views", "_broadcast", "_directory", "_alarms"):
            monkeypatch.setattr(f"normalhedge.service.{module}.time.time", lambda: self.now)


def health(client: Asked) -> Any:
    client.get(ONE)  # so that it is loaded
    return client.get("/v1/mixtures").json()["mixtures"][0]


def play(client: Asked, clock: Clock, rounds: int, delay: float) -> None:
    for _ in range(rounds):
        ticket = ask(client, "predict", {"forecasts": {"a": 1.0, "b": 2.0}})[1]["ticket"]
        clock.now += delay
        ask(client, "outcome", {"ticket": ticket, "outcome": 1.5})


def predict(client: Asked, rounds: int) -> None:
    lines = [{"forecasts": {"a": 1.0, "b": 2.0}} for _ in range(rounds)]
    client.send_json(f"{ONE}/rounds", {"rounds": lines})


def backfill(client: Asked, rounds: int) -> None:
    first = client.get(ONE).json()["next_ticket"]
    predict(client, rounds)
    outcomes = [{"ticket": first + k, "outcome": 1.5} for k in range(rounds)]
    client.send_json(f"{ONE}/outcomes", {"outcomes": outcomes})


def history(client: Asked) -> None:
    """Fill the log until its first events are beyond the newest snapshots."""
    for _ in range(3):
        backfill(client, 400)


@pytest.mark.parametrize("between", ["nothing", "a history", "a compaction"])
def test_overdue_rounds_are_overdue_after_a_restart(
    db: str, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    clock = Clock(monkeypatch)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        backfill(client, 50)
        predict(client, 1)
        clock.now += 10 * HOUR
        assert health(client)["overdue"] == 0  # nobody knows what is usual
        ask(client, "outcome", {"ticket": 50, "outcome": 1.5})
        play(client, clock, 12, HOUR)
        predict(client, 10)
        clock.now += 3 * HOUR
        if between != "nothing":
            history(client)
        if between == "a compaction":
            client.send_json(f"{ONE}/compact", {"keep_days": 0})
        before = health(client)
        assert (before["overdue"], before["overdue_after"]) == (10, 2 * HOUR)
        times = [row["time"] for row in client.get(f"{ONE}/pending").json()["pending"]]
    with served(db) as url, Asked(url) as client:
        after = health(client)
        if between != "a compaction":  # what was removed cannot be known
            assert (after["overdue"], after["overdue_after"]) == (10, 2 * HOUR)
            assert [r["time"] for r in client.get(f"{ONE}/pending").json()["pending"]] == times
        assert after["last_forecast"] == before["last_forecast"]
        assert after["last_outcome"] == before["last_outcome"]
        play(client, clock, 1, HOUR)


def test_rounds_that_were_given_up_are_not_overdue(
    client: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    client.send_json("/v1/mixtures", {"name": "load", "max_pending": 3})
    play(client, clock, 10, HOUR)
    predict(client, 8)
    clock.now += 3 * HOUR
    assert (health(client)["overdue"], health(client)["expired"]) == (3, 5)


def test_pending_rounds_of_a_state_count_from_its_import(
    client: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    client.send_json("/v1/mixtures", {"name": "load"})
    predict(client, 2)
    state = client.get(f"{ONE}/state").content
    client.delete(ONE)
    clock.now += HOUR
    headers = {"content-type": "application/json"}
    assert client.put(f"{ONE}/state", content=state, headers=headers).status_code == 201
    assert [r["time"] for r in client.get(f"{ONE}/pending").json()["pending"]] == [clock.now] * 2
    play(client, clock, 12, HOUR)
    assert health(client)["overdue"] == 2


def test_the_clock_may_be_set_back(client: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    client.send_json("/v1/mixtures", {"name": "load"})
    play(client, clock, 10, HOUR)
    clock.now -= 365 * DAY
    predict(client, 2)
    assert health(client)["overdue"] == 0
    play(client, clock, 2, HOUR)


def test_a_log_without_operations_is_read(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert health(client)["overdue"] == 0
