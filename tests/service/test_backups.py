"""Copies of a database: whole while a server writes, and put back with care."""

import sqlite3
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from normalhedge.cli._commands import group
from normalhedge.service import backups
from tests.service.examples import ONE, ask
from tests.service.running import Asked, process, served


def predict(client: Asked, k: int) -> int:
    status, answer = ask(client, "predict", {"forecasts": {"a": 1.0 * k, "b": 2.0}}, f"key-{k}")
    assert status == 200
    return int(answer["ticket"])


def test_a_copy_holds_all_that_was_acknowledged_before(tmp_path: Path) -> None:
    db, copy = tmp_path / "a.db", tmp_path / "copies" / "copy.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(20):
            predict(client, k)
        going = threading.Event()

        def write() -> None:
            with Asked(url) as other:
                k = 20
                while not going.is_set():
                    predict(other, k)
                    k += 1

        writer = threading.Thread(target=write)
        writer.start()
        copies = [backups.back_up(str(db), copy) for _ in range(5)]
        going.set()
        writer.join()
        assert all(one.mixtures == 1 and one.events >= 21 for one in copies)
        log = client.get(f"{ONE}/log?events=true").text.splitlines()
    assert sorted(path.name for path in copy.parent.iterdir()) == ["copy.db"]
    backups.restore(copy, str(tmp_path / "b.db"))
    with served(tmp_path / "b.db") as url, Asked(url) as client:
        there = client.get(f"{ONE}/log?events=true").text.splitlines()
        assert len(there) == copies[-1].events - 1  # one event is the creation
        assert there == log[: len(there)]
        assert predict(client, 3) == 3
        assert predict(client, 100_000) == len(there)


def test_a_running_server_keeps_its_database(tmp_path: Path) -> None:
    db, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with process("--db", str(db)) as (url, _), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        backups.back_up(str(db), copy)
        with pytest.raises(ValueError, match="is in use by process"):
            backups.restore(copy, str(db), replace=True)
        assert predict(client, 0) == 0


def test_an_old_database_is_moved_away(tmp_path: Path) -> None:
    db, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        backups.back_up(str(db), copy)
        predict(client, 0)
    run = CliRunner().invoke
    with pytest.raises(ValueError, match="--replace"):
        backups.restore(copy, str(db))
    done = run(group, ["restore", str(copy), "--db", str(db), "--replace"])
    assert done.exit_code == 0, done.output
    assert "1 mixture, 1 event" in done.output
    (old,) = tmp_path.glob("a.db.before-*")
    assert backups.check(old).events == 2
    assert backups.check(db).events == 1
    assert not (tmp_path / "a.db-wal").exists()
    done = run(group, ["backup", str(tmp_path / "again.db"), "--db", str(db)])
    assert done.exit_code == 0
    assert "1 mixture, 1 event" in done.output


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    other, target = tmp_path / "other.db", tmp_path / "copy.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    (tmp_path / "text.db").write_text("hello " * 1000)
    for wrong, sentence in (
        (str(other), "not the database of a server"),
        (str(tmp_path / "text.db"), "cannot be copied"),
        (str(tmp_path / "absent.db"), "there is no database"),
        ("postgresql://me:secret@host/db", "pg_dump"),
    ):
        with pytest.raises(ValueError, match=sentence) as caught:
            backups.back_up(wrong, target)
        assert "secret" not in str(caught.value)
    assert not target.exists()
    with served(tmp_path / "a.db"):
        pass
    with pytest.raises(ValueError, match="the database itself"):
        backups.back_up(str(tmp_path / "a.db"), tmp_path / "a.db")
    with pytest.raises(ValueError, match="pg_restore"):
        backups.restore(tmp_path / "a.db", "postgresql://host/db")


def test_a_damaged_copy_is_not_put_back(tmp_path: Path) -> None:
    db, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k in range(50):
            predict(client, k)
    backups.back_up(str(db), copy)
    content = bytearray(copy.read_bytes())
    content[-3 * 4096 :] = b"\xff" * (3 * 4096)
    copy.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged|cannot be read"):
        backups.restore(copy, str(db), replace=True)
    assert backups.check(db).events == 51
