"""Acknowledged requests are there after every end, to the bit."""

from pathlib import Path
from typing import Any

import pytest

from normalhedge import Mixture
from normalhedge.mixtures.streams._stream import Stream
from normalhedge.service import _memory as memory
from normalhedge.service._recovery import first_snapshot, recover, state_at, state_text
from normalhedge.service.server import storage_of
from tests.service.examples import (
    ONE,
    OPTIONS,
    ask,
    events,
    line_of,
    operations_at_random,
    replayed,
    rounds,
)
from tests.service.running import Asked, process, served


@pytest.mark.parametrize("every", [7, 60, 100_000])
def test_a_restart_leads_to_the_same_state_to_the_bit(
    db: str, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", every)
    own = Mixture(**OPTIONS)
    stream = Stream(own)
    requests = operations_at_random(every, 150)
    for part in (requests[:50], requests[50:90], requests[90:]):
        with served(db) as url, Asked(url) as client:
            client.post("/v1/mixtures", json={"name": "load"})
            for verb, body in part:
                answer: dict[str, Any] = {}
                try:
                    stream.reply(line_of(verb, body), answer)
                except (ValueError, KeyError):
                    answer = {}
                status, said = ask(client, verb, body)
                if status == 200:
                    assert said == answer
                else:  # a correction whose round was settled before the last start
                    assert verb == "correct", said
                    assert "cannot be corrected" in said["error"] or not answer
                    if answer:
                        own.correct(body["ticket"], own_outcome(events(client), body["ticket"]))
            assert client.get(f"{ONE}/state").text == state_text(own)
            log = events(client)
    assert state_text(replayed(log, **OPTIONS)) == state_text(own)


def own_outcome(log: list[dict[str, Any]], ticket: int) -> Any:
    """Return the outcome of a ticket that the service knows."""
    found = None
    for event in log:
        body = event["body"]
        if body.get("update", body.get("correct")) == ticket:
            found = body["outcome"]
    return found


def test_a_process_that_was_killed_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    db, own = tmp_path / "a.db", Mixture(**OPTIONS)
    stream = Stream(own)
    requests = operations_at_random(3, 60, changes=False)
    for part in (requests[:25], requests[25:]):
        with process("--db", str(db)) as (url, child), Asked(url) as client:
            client.post("/v1/mixtures", json={"name": "load"})
            for verb, body in part:
                status, said = ask(client, verb, body)
                answer: dict[str, Any] = {}
                stream.reply(line_of(verb, body), answer)
                assert (status, said) == (200, answer)
            child.kill()
    storage = storage_of(str(db))
    storage.open()
    try:
        assert state_text(recover(storage, 1).object) == state_text(own)
    finally:
        storage.close()


def test_corrections_reach_back_beyond_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(20):
            ask(client, "predict", {"forecasts": {"a": 1.0 * k, "b": 2.0}})
            ask(client, "outcome", {"ticket": k, "outcome": 1.0 * k})
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert ask(client, "correct", {"ticket": 5, "outcome": 0.0}) == (200, {"corrected": 5})
        assert client.get(f"{ONE}/summary").json()["compared"]["rows"] == 20
        state = client.get(f"{ONE}/state").text
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state


def test_a_correction_that_cannot_be_repeated_is_taken_from_its_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr("normalhedge.service._recovery.HISTORY", 1)
    db = str(tmp_path / "a.db")
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(20):
            ask(client, "predict", {"forecasts": {"a": 1.0 * k, "b": 2.0}})
            ask(client, "outcome", {"ticket": k, "outcome": 1.0 * k})
        assert ask(client, "correct", {"ticket": 3, "outcome": -5.0})[0] == 200
        ask(client, "predict", {"forecasts": {"a": 1.0, "b": 2.0}})
        state = client.get(f"{ONE}/state").text
    storage = storage_of(db)
    storage.open()
    try:
        begin, newest = first_snapshot(storage, 1)
        assert begin < newest  # the recovery meets the correction, of a round before its beginning
        assert state_text(recover(storage, 1).object) == state
        last = storage.last_sequence()
        assert state_text(state_at(storage, 1, last)) == state
    finally:
        storage.close()


def test_a_server_that_was_started_again_corrects_as_far_as_one_that_was_not(
    tmp_path: Path,
) -> None:
    db = tmp_path / "a.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "history": 20})
        for k in range(50):
            assert ask(client, "predict", {"forecasts": {"a": 1.0, "b": float(k % 5)}})[0] == 200
            assert ask(client, "outcome", {"ticket": k, "outcome": 2.0})[0] == 200
        status, told = ask(client, "correct", {"ticket": 39, "outcome": 3.0})
        assert (status, told["kind"]) == (409, "key")
        assert "the last 10 settled rounds" in told["error"]
    with served(db) as url, Asked(url) as client:
        assert ask(client, "correct", {"ticket": 39, "outcome": 3.0}) == (status, told)
        lines = {"rounds": [{"ticket": 39, "correct": 3.0}, {"ticket": 40, "correct": 3.0}]}
        answers = ask(client, "rounds", lines)[1]["answers"]
        assert answers == [{"error": told["error"]}, {"corrected": 40}]


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for forecasts, outcome in rounds(5):
            ticket = client.send_json(f"{ONE}/predict", {"forecasts": forecasts})["ticket"]
            client.send_json(f"{ONE}/outcome", {"ticket": ticket, "outcome": outcome})
        before = client.get(f"{ONE}/state").text
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == before
