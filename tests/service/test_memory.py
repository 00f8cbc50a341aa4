"""Mixtures in memory, when the database fails and comes back."""

import time
from pathlib import Path
from typing import Any

from normalhedge.service._recovery import recover, state_text
from normalhedge.service._sqlite import SQLite
from normalhedge.service._storage import Batch
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, OPTIONS, ask, events, forecasts, replayed
from tests.service.postgres import Cluster
from tests.service.running import Asked, served


class Filling(SQLite):
    """A database on a disk that gets full, by the limit that SQLite itself has."""

    full = False

    def append(self, batch: Batch) -> None:
        connection = self._connection()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        limit = pages if self.full else 1 << 30
        connection.execute(f"PRAGMA max_page_count={limit}")
        super().append(batch)


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
        assert state_text(recover(opened, 1).object) == state
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
