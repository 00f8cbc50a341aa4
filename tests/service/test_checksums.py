"""A digit of the log that was changed on the disk is noticed, and old logs get checksums."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from normalhedge.boundary.extras import require
from normalhedge.service._problems import DamagedLog
from normalhedge.service._recovery import recover, state_text
from normalhedge.service._storage import Event, checksum, event_of
from normalhedge.service.backups import back_up
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, ask, events, forecasts
from tests.service.postgres import Cluster
from tests.service.running import Asked, served


def played(db: str) -> tuple[str, list[dict[str, Any]]]:
    """Play a few rounds; return the state and the events."""
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(12):
            assert ask(client, "predict", forecasts(k), f"p{k}")[0] == 200
            assert ask(client, "outcome", {"ticket": k, "outcome": 1.5}, f"o{k}")[0] == 200
        return client.get(f"{ONE}/state").text, events(client)


def change(db: str, statement: str) -> None:
    """Change a row of a database behind the back of the service."""
    if "://" not in db:
        with closing(sqlite3.connect(db)) as connection:
            connection.execute(statement.replace("normalhedge.", ""))
            connection.commit()
        return
    psycopg = require("psycopg")
    with psycopg.connect(db, autocommit=True) as there:
        there.execute(statement)


@pytest.mark.parametrize(
    "what",
    [
        "body = replace(body, '1.5', '1.6')", "answer = replace(answer, ':', ' :')",
        "time = time + 1", "ticket = ticket + 1", "kind = 'predict'", "key = 'other'",
        "digest = NULL", "operations = 2", "checksum = checksum + 1", "checksum = NULL",
        "mixture = 2",
    ],
)  # fmt: skip
def test_every_column_is_covered(what: str) -> None:
    event = Event(7, 1, 2.5, "outcome", "k", b"12", '{"outcome":1.5}', '{"settled":1}', 1, 3)
    with closing(sqlite3.connect(":memory:")) as connection:
        names = [*Event._fields, "checksum"]
        connection.execute(f"CREATE TABLE events ({', '.join(names)})")
        row = (*event, checksum(event))
        connection.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
        read = connection.execute("SELECT * FROM events").fetchone()
        assert event_of(read) == event
        connection.execute(f"UPDATE events SET {what}")
        with pytest.raises(DamagedLog, match="event 7 was changed on the disk"):
            event_of(connection.execute("SELECT * FROM events").fetchone())


def test_a_changed_digit_is_noticed(db: str) -> None:
    state, log = played(db)
    sequence = log[-1]["sequence"]
    change(db, "UPDATE normalhedge.events SET body = replace(body, '1.5', '1.6') "
               f"WHERE sequence = {sequence}")  # fmt: skip
    with served(db) as url, Asked(url) as client:
        status, answer = ask(client, "predict", forecasts(0))
        assert status == 503
        assert answer["error"].startswith("the log of this mixture is damaged")
        assert client.get(f"{ONE}/history").status_code == 503
        client.send_json("/v1/mixtures", {"name": "other"})  # the others go on
        assert client.get("/v1/mixtures/other/history").status_code == 200
    storage = storage_of(db)
    storage.open()
    try:
        with pytest.raises(DamagedLog, match=f"event {sequence} was changed on the disk"):
            recover(storage, 1)
    finally:
        storage.close()
    change(db, "UPDATE normalhedge.events SET body = replace(body, '1.6', '1.5') "
               f"WHERE sequence = {sequence}")  # fmt: skip
    with served(db) as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state


@pytest.mark.parametrize("place", range(6))
def test_a_bit_of_the_file_is_noticed(tmp_path: Path, place: int) -> None:
    """A bit of an outcome, in the file itself: SQLite does not see it."""
    db = tmp_path / "a.db"
    played(str(db))
    content = bytearray(db.read_bytes())
    at = content.rindex(b'"outcome":1.5')
    content[at + 10 + place % 3] ^= 1 << (3 if place < 3 else 7)  # the second are no UTF-8
    db.write_bytes(content)
    with served(db) as url, Asked(url) as client:
        status, answer = ask(client, "predict", forecasts(0))
        assert status == 503, answer
        assert answer["error"].startswith("the log of this mixture is damaged")
    with pytest.raises(ValueError, match=r"damaged|cannot be"):
        back_up(str(db), tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def downgrade(db: str) -> None:
    """Make a log as version 1 wrote it."""
    if "://" not in db:
        change(db, "ALTER TABLE events DROP COLUMN checksum")
        change(db, "DROP TABLE owner")
        change(db, "PRAGMA user_version=1")
        return
    change(db, "ALTER TABLE normalhedge.events DROP COLUMN checksum")
    change(db, "UPDATE normalhedge.version SET version = 1")


def test_an_old_log_gets_checksums(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state, log = played(db)
    downgrade(db)
    for kind in ("_sqlite", "_postgres"):
        monkeypatch.setattr(f"normalhedge.service.{kind}.PAGE", 2_000)
    storage = storage_of(db)
    monkeypatch.setattr(storage, "_update", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # it is stopped in the middle, and goes on later
        storage.open()
    storage.close()
    storage = storage_of(db)
    storage.open()
    try:
        rows = storage.query("SELECT count(*), count(checksum) FROM events")
        assert rows[0][0] == rows[0][1] == len(log) + 1
        assert state_text(recover(storage, 1).object) == state
    finally:
        storage.close()
    with served(db) as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == state
        assert events(client) == log
        assert ask(client, "predict", forecasts(0), "p0")[1] == log[0]["answer"]


def test_a_copy_of_an_old_log_can_be_made(tmp_path: Path) -> None:
    played(str(tmp_path / "a.db"))
    downgrade(str(tmp_path / "a.db"))
    assert back_up(str(tmp_path / "a.db"), tmp_path / "b.db").events == 25
    with served(tmp_path / "b.db") as url, Asked(url) as client:
        assert client.get(ONE).json()["rounds"] == 12


def test_a_log_of_the_future_is_refused(postgres: Cluster) -> None:
    db = postgres.new_database()
    played(db)
    change(db, "UPDATE normalhedge.version SET version = 99")
    with pytest.raises(ValueError, match="has version 99; this version of normalhedge reads up to"):
        storage_of(db).open()
