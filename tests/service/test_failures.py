"""Databases that fail: the clients are told, nothing acknowledged is lost, and it goes on after."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from normalhedge.service import _registry as registry
from normalhedge.service._live import LoadedMixture
from normalhedge.service._recovery import recover, state_text
from normalhedge.service._sqlite import SQLite
from normalhedge.service._storage import Batch
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, OPTIONS, ask, replayed
from tests.service.postgres import Cluster
from tests.service.running import Asked, served
from tests.service.test_recovery import events


class Filling(SQLite):
    """A database on a disk that gets full, by the limit that SQLite itself has."""

    full = False

    def append(self, batch: Batch) -> None:
        connection = self._connection()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        limit = pages if self.full else 1 << 30
        connection.execute(f"PRAGMA max_page_count={limit}")
        super().append(batch)


def forecasts(k: int) -> dict[str, Any]:
    return {"forecasts": {f"expert {j}": float(j * k % 7) for j in range(20)}}


def wait(client: Asked, body: dict[str, Any], key: str | None = None) -> Any:
    """Return the answer once the database is back."""
    for _ in range(300):
        status, answer = ask(client, "predict", body, key)
        if status == 200:
            return answer
        assert status == 503, answer
        time.sleep(0.1)
    raise AssertionError("the database did not come back")


def test_a_full_disk_is_told_and_what_was_not_acknowledged_is_not_learned(tmp_path: Path) -> None:
    db, made = tmp_path / "a.db", []

    def storage(path: str) -> SQLite:
        made.append(Filling(Path(path)))
        return made[0]

    with served(db, storage) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        assert [ask(client, "predict", forecasts(k))[1]["ticket"] for k in range(5)] == [*range(5)]
        made[0].full = True
        refused = 0
        for k in range(60):  # the file has some room left
            status, answer = ask(client, "predict", forecasts(k), f"full-{k}")
            refused += status == 503
            assert status in {200, 503}
        assert refused > 10
        assert "not acknowledged" in answer["error"]
        made[0].full = False
        ticket = wait(client, forecasts(0), "again")["ticket"]
        assert ticket == 5 + 60 - refused
        assert ask(client, "predict", forecasts(0), "again")[1]["ticket"] == ticket
        state, log = client.get(f"{ONE}/state").text, events(client)
        assert state_text(replayed(log, **OPTIONS)) == state
        metrics = client.get("/metrics").text
        assert "normalhedge_storage_failures_total" in metrics
    opened = storage_of(str(db))
    opened.open()
    try:
        assert state_text(recover(opened, 1).mixture) == state
    finally:
        opened.close()


def test_a_database_that_goes_and_comes_back(postgres: Cluster) -> None:
    db = postgres.new_database()
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(5):
            assert ask(client, "predict", forecasts(k))[0] == 200
        postgres.stop()
        try:
            for k in range(3):
                assert ask(client, "predict", forecasts(k), f"gone-{k}")[0] == 503
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
        finally:
            postgres.start()
        assert wait(client, forecasts(0), "gone-0")["ticket"] == 5
        assert client.get("/readyz").status_code == 200
        assert ask(client, "outcome", {"ticket": 5, "outcome": 1.0})[0] == 200
        assert state_text(replayed(events(client), **OPTIONS)) == client.get(f"{ONE}/state").text


def test_one_process_owns_a_database(db: str) -> None:
    first = storage_of(db)
    first.open()
    second = storage_of(db)
    with pytest.raises(ValueError, match=r"is in use by .*process \d+"):
        second.open()
    first.close()
    second.open()
    second.close()


def test_files_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(ValueError, match="not the database of a server"):
        storage_of(str(other)).open()
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(ValueError, match="cannot be used"):
        storage_of(str(tmp_path / "text.db")).open()
    with pytest.raises(ValueError, match="no folder"):
        storage_of(str(tmp_path / "absent" / "a.db")).open()


def test_a_version_of_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened = storage_of(str(path))
    opened.open()
    opened.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(ValueError, match="version 99"):
        storage_of(str(path)).open()


def test_a_clock_that_goes_back_changes_nothing_but_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [2e9]

    def clock() -> float:
        now[0] -= 1000.0
        return now[0]

    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        monkeypatch.setattr("normalhedge.service._registry.time.time", clock)
        for k in range(5):
            assert ask(client, "predict", forecasts(k))[1]["ticket"] == k
            assert ask(client, "outcome", {"ticket": k, "outcome": 1.0})[0] == 200
        state = client.get(f"{ONE}/state").text
        assert len(client.get(f"{ONE}/history").json()["rounds"]) == 5
    monkeypatch.undo()
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state


def test_a_fault_of_our_own_after_a_change_does_not_part_memory_from_the_log(
    client: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    assert ask(client, "predict", forecasts(0))[1]["ticket"] == 0

    def fail(_: Any) -> Any:
        raise ZeroDivisionError("a secret of the inside")

    for place in ("mixtures.streams._stream.plain_prediction", "service._registry._encode"):
        with monkeypatch.context() as patch:
            patch.setattr(f"normalhedge.{place}", fail)
            status, answer = ask(client, "predict", forecasts(1))
            assert status == 500
            assert "secret" not in answer["error"]
            assert "secret" in capsys.readouterr().err
            status, answer = ask(client, "rounds", {"rounds": [forecasts(1)]})
            assert status == 500
    assert ask(client, "predict", forecasts(1))[1]["ticket"] == 1
    assert state_text(replayed(events(client), **OPTIONS)) == client.get(f"{ONE}/state").text


def test_a_stream_that_fails_midway_has_no_end(
    client: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    ask(client, "rounds", {"rounds": [forecasts(k) for k in range(5)]})
    ask(client, "predict", forecasts(0))
    monkeypatch.setattr("normalhedge.service._views.LOG_AT_ONCE", 1)
    asked = []

    def fail(*_: Any) -> Any:
        asked.append(1)
        if len(asked) > 5:
            raise ZeroDivisionError
        return {}

    monkeypatch.setattr("normalhedge.service._views.line_of", fail)
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(f"{ONE}/log")
    assert len(asked) == 6
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[-2]["error"].startswith("ZeroDivisionError")
    assert lines[-1]["what"].startswith("uvicorn")
    assert client.get("/healthz").status_code == 200


def test_a_failure_while_a_thread_works_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state goes away under a batch: 503, and nothing of it is learned."""
    monkeypatch.setattr(registry, "LONG", -1.0)  # everything works in a thread
    answer = registry.Registry._part

    def losing(self: registry.Registry, loaded: LoadedMixture, request: Any) -> dict[str, Any]:
        for live in self.by_id.values():
            live.unload()
        return answer(self, loaded, request)

    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with monkeypatch.context() as lost:
            lost.setattr(registry.Registry, "_part", losing)
            status, told = ask(client, "rounds", {"rounds": [forecasts(1), forecasts(2)]})
            assert (status, told["status"]) == (503, 503)
        assert ask(client, "predict", forecasts(1))[1]["ticket"] == 0
