"""Health: the routes that watch the server, and its numbers about itself."""

import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from normalhedge.service import Limits
from normalhedge.service._sqlite import SQLite
from tests.service.examples import ONE, ask
from tests.service.postgres import Cluster, cluster, programs
from tests.service.running import Asked, process, served

ROUND = {"forecasts": {"a": 1.0, "b": 2.0}}


def within(seconds: float, check: Callable[[], bool]) -> bool:
    """Tell whether something becomes true in some seconds."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def number(client: httpx.Client, name: str) -> float:
    """Return a number of ``/metrics``."""
    lines = client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "small", str(place)], check=False
    )
    if not done or done.returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_not_ready_before_any_request_fails(small_disk: Path) -> None:
    with process("--db", str(small_disk / "a.db")) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        assert client.get("/readyz").json()["ok"] is True
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        assert within(5.0, lambda: client.get("/readyz").status_code == 503)
        sentence = client.get("/readyz").json()["error"]
        assert sentence.startswith("the database cannot be written: ")
        assert sentence.endswith("is full") or "disk" in sentence
        assert client.get("/healthz").status_code == 200
        assert client.get(ONE).status_code == 200  # reading goes on
        assert number(client, "normalhedge_ready") == 0.0
        filler.unlink()
        assert within(5.0, lambda: client.get("/readyz").status_code == 200)
        assert number(client, "normalhedge_ready") == 1.0
        assert ask(client, "predict", ROUND)[0] == 200
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 0


@pytest.fixture
def own_postgres() -> Iterator[Cluster]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: make system PARTS=postgres")
    folder = Path("/tmp") / f"nh{os.getpid()}h"
    folder.mkdir(mode=0o755)
    try:
        with cluster(folder / "c") as made:
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _signal_all(made: Cluster, number: signal.Signals) -> None:
    """Send a signal to all processes of a cluster."""
    first = int((made.data / "postmaster.pid").read_text().splitlines()[0])
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, check=True, text=True
    )
    for pid in (first, *map(int, listed.stdout.split())):
        os.kill(pid, number)


@pytest.mark.slow  # now and then the write that waits is answered after 30 s only
def test_a_postgres_that_hangs_is_told_and_given_up(own_postgres: Cluster) -> None:
    db = own_postgres.new_database()
    with served(db, db_seconds=3.0) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        assert ask(client, "predict", ROUND, "before")[0] == 200
        _signal_all(own_postgres, signal.SIGSTOP)
        try:
            time.sleep(1.1)  # what was written before is no sign of life any more
            begun = time.monotonic()
            answer = client.get("/readyz")
            assert time.monotonic() - begun < 3.0
            assert answer.status_code == 503
            sentence = "the database has not written anything for 2 seconds"
            assert answer.json()["error"] == sentence
            status, told = ask(client, "predict", ROUND, "during")
            assert status == 503
            assert told["error"].startswith("the database cannot be used at the moment")
            assert time.monotonic() - begun < 12.0
            assert client.get("/healthz").status_code == 200
        finally:
            _signal_all(own_postgres, signal.SIGCONT)
        assert within(30.0, lambda: client.get("/readyz").status_code == 200)
        assert ask(client, "predict", ROUND, "during")[1]["ticket"] in {1, 2}
        assert number(client, "normalhedge_storage_failures_total") >= 1.0


def test_a_statement_that_waits_for_a_lock_is_given_up(own_postgres: Cluster) -> None:
    import psycopg  # noqa: PLC0415

    db = own_postgres.new_database()
    with served(db, db_seconds=2.0) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with psycopg.connect(db) as other:
            other.execute("LOCK TABLE normalhedge.events IN ACCESS EXCLUSIVE MODE")
            begun = time.monotonic()
            assert ask(client, "predict", ROUND, "k")[0] == 503
            assert time.monotonic() - begun < 10.0
            other.rollback()
        assert within(20.0, lambda: ask(client, "predict", ROUND, "k")[0] == 200)
        assert client.get(ONE).json()["rounds"] == 1


def test_whoever_asks_often_does_not_make_the_disk_work(
    client: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[float] = []
    touch = SQLite.touch

    def counted(self: SQLite) -> None:
        written.append(time.monotonic())
        touch(self)

    monkeypatch.setattr(SQLite, "touch", counted)
    begun = time.monotonic()
    while time.monotonic() - begun < 2.5:
        assert client.get("/readyz").status_code == 200
    assert 1 <= len(written) <= 4


def test_health_answers_when_all_connections_are_taken(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=Limits(connections=5)) as url:
        port = int(url.rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
        try:
            assert httpx.get(f"{url}/v1/mixtures").status_code == 503
            for path in ("/healthz", "/readyz", "/healthz?from=probe"):
                assert httpx.get(f"{url}{path}").status_code == 200
        finally:
            for one in idle:
                one.close()


def test_a_damaged_mixture_is_counted(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with served(db) as url, Asked(url) as client:
        for name in ("load", "wind"):
            client.send_json("/v1/mixtures", {"name": name})
            client.send_json(f"/v1/mixtures/{name}/predict", ROUND)
        assert number(client, "normalhedge_mixtures_damaged") == 0.0
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE snapshots SET state = x'00' WHERE mixture = 1")
    connection.close()
    with served(db) as url, Asked(url) as client:
        answer = client.get(ONE)
        assert answer.status_code == 503
        assert answer.json()["error"].startswith("the log of this mixture is damaged")
        assert client.get("/v1/mixtures/wind").status_code == 200
        assert number(client, "normalhedge_mixtures_damaged") == 1.0
        assert number(client, 'normalhedge_mixture_damaged{mixture="load"}') == 1.0
        assert client.get("/readyz").status_code == 200


def test_the_process_and_its_commits_are_measured(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    for _ in range(3):
        ask(client, "predict", ROUND)
    assert number(client, "normalhedge_commit_seconds_count") == 4.0
    assert 0.0 < number(client, "normalhedge_commit_seconds_sum") < 10.0
    assert number(client, 'normalhedge_commit_seconds_bucket{le="+Inf"}') == 4.0
    if Path("/proc/self/stat").exists():
        assert number(client, "process_resident_memory_bytes") > 1e7
        assert number(client, "process_open_fds") > 3
        assert number(client, "process_cpu_seconds_total") > 0.0
