"""Who did it: the sender of each request, in the event log."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from normalhedge.service.access import new_token
from tests.service.examples import ONE
from tests.service.running import Asked, served
from tests.service.talking import Talk

ROUND = {"forecasts": {"a": 1.0, "b": 2.0}}


def lines(client: Asked, path: str, **query: str) -> list[dict[str, Any]]:
    answer = client.get(path, params=query)
    assert answer.is_success, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_who_deleted_a_mixture_is_known(db: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    boss, rogue = new_token(file, "boss", "admin"), new_token(file, "rogue", "admin")
    with served(db, token_file=str(file)) as url:
        with Asked(url, boss) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
        with Asked(url, rogue) as client:
            client.delete(ONE, headers={"x-request-id": "night-shift"})
    with served(db, token_file=str(file)) as url, Asked(url, boss) as client:
        created, deleted = lines(client, "/v1/log")
        assert created["sender"]["token"] == "boss"
        assert deleted["change"] == {"delete": "load"}
        who = {"token": "rogue", "address": "127.0.0.1", "request": "night-shift"}
        assert deleted["sender"] == who
        assert lines(client, "/v1/log", after=str(created["sequence"])) == [deleted]


def test_each_event_has_its_sender_which_administrators_see(db: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    boss, job = new_token(file, "boss", "admin"), new_token(file, "job", "write")
    with served(db, token_file=str(file)) as url:
        with Asked(url, boss) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
        with Asked(url, job) as client:
            headers = {"x-request-id": "one", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
            client.post(f"{ONE}/predict", json=ROUND, headers=headers)
            with Talk(url, f"{ONE}/stream", token=job) as talk:
                talk.say(json.dumps(ROUND).encode())
                talk.head()
                talk.hear()
            assert all("sender" not in line for line in lines(client, f"{ONE}/log", events="true"))
            assert client.get("/v1/log").status_code == 403
            sentence = "this needs a token with scope admin, not write"
            assert client.get("/v1/log").json()["error"] == sentence
        with Asked(url, boss) as client:
            first, second = lines(client, f"{ONE}/log", events="true")
            who = {"token": "job", "address": "127.0.0.1", "request": "one", "trace": "a" * 32}
            assert first["sender"] == who
            assert second["sender"]["token"] == "job"
            assert second["sender"]["request"]


def test_without_tokens_there_is_the_address(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    (created,) = lines(client, "/v1/log")
    assert sorted(created["sender"]) == ["address", "request"]


def test_a_log_of_an_earlier_release_gets_the_column(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        client.send_json(f"{ONE}/predict", ROUND)
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("ALTER TABLE events DROP COLUMN sender")
    for _ in range(2):
        with served(db) as url, Asked(url) as client:
            client.send_json(f"{ONE}/predict", ROUND)
            before, *after = lines(client, f"{ONE}/log", events="true")
            assert "sender" not in before
            assert all(line["sender"]["address"] == "127.0.0.1" for line in after)
