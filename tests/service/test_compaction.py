"""A log whose old part is removed."""

import time
from typing import Any

import pytest

from normalhedge.service import _memory as memory
from normalhedge.service._recovery import recover, state_at, state_text
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, ask, events, operations_at_random
from tests.service.running import Asked, served


def test_compaction_leaves_a_log_that_replays(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr("normalhedge.service._recovery.HISTORY", 10)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k, (verb, body) in enumerate(operations_at_random(5, 200)):
            assert ask(client, verb, body, f"key-{k}")[0] in {200, 404, 409}
        before, log = client.get(f"{ONE}/state").text, events(client)
        done = client.send_json(f"{ONE}/compact", {"keep_days": 0})
        assert 100 < done["removed"] < 200
        assert events(client) == log[done["removed"] :]
        assert client.send_json(f"{ONE}/compact", {"keep_days": 0})["removed"] == 0
    storage = storage_of(db)
    storage.open()
    try:
        assert state_text(recover(storage, 1).object) == before
        oldest = storage.snapshots(1)[-1]
        assert oldest == done["sequence"]
        assert state_text(state_at(storage, 1, log[-1]["sequence"])) == before
    finally:
        storage.close()


DAY = 86_400.0


class Clock:
    """A clock that tests set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.7e9
        for module in ("_registry", "_directory"):
            monkeypatch.setattr(f"normalhedge.service.{module}.time.time", lambda: self.now)


def fill(client: Asked, clock: Clock, days: int, first: int = 0) -> None:
    """Play a round each hour of some days."""
    for k in range(24 * days):
        clock.now += DAY / 24
        ticket = first + k
        assert ask(client, "predict", {"forecasts": {"a": 1.0, "b": 2.0}}, f"p{ticket}")[0] == 200
        assert ask(client, "outcome", {"ticket": ticket, "outcome": 1.0}, f"o{ticket}")[0] == 200


@pytest.mark.slow
def test_days_count_from_the_newest_event(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr("normalhedge.service._recovery.HISTORY", 10)
    clock = Clock(monkeypatch)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        fill(client, clock, 6)
        newest = clock.now
        clock.now += 1000 * DAY  # nobody asked for anything: nothing is older than it was
        removed = client.send_json(f"{ONE}/compact", {"keep_days": 2})["removed"]
        assert removed > 0
        assert all(one["time"] >= newest - 2 * DAY - DAY / 24 for one in events(client))
        assert client.send_json(f"{ONE}/compact", {"keep_days": 2})["removed"] == 0


def test_a_clock_that_jumps_removes_nothing(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr("normalhedge.service._recovery.HISTORY", 10)
    clock = Clock(monkeypatch)
    clock.now -= clock.now % DAY
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        fill(client, clock, 4)
        log = events(client)
        clock.now += 3 * 365 * DAY
        fill(client, clock, 2, 96)
        for days in (30, 400, 3):
            answer = client.post(f"{ONE}/compact", json={"keep_days": days})
            assert answer.status_code == 409, answer.text
            sentence = answer.json()["error"]
            assert sentence.startswith("the clock jumped: no event was written from 2023-11-")
            assert " to 2026-11-" in sentence
            assert "Nothing was removed" in sentence
            assert events(client)[: len(log)] == log
        # Once the days to keep lie behind the jump, nobody can tell it from years of silence.
        assert client.send_json(f"{ONE}/compact", {"keep_days": 1})["removed"] > 0
    with served(db) as url, Asked(url) as client:
        assert client.get(ONE).json()["rounds"] == 144


def test_the_daily_compaction_refuses_a_jump(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        client.send_json("/v1/mixtures", {"name": "gone"})
        client.delete("/v1/mixtures/gone")
        fill(client, clock, 1)
        clock.now += 3 * 365 * DAY
        fill(client, clock, 1, 24)
        log = events(client)
    told: list[Any] = []
    monkeypatch.setattr("normalhedge.service._logs.error", lambda *a, **b: told.append((a, b)))
    with served(db, keep_days=30.0) as url, Asked(url) as client:
        for _ in range(100):
            if told:
                break
            time.sleep(0.02)
        assert told[0][0] == ("compacted",)
        assert "the clock jumped" in told[0][1]["sentence"]
        assert events(client) == log
