"""The command: it starts, refuses, waits and stops."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.command import call
from tests.service.examples import ONE, ask
from tests.service.running import Asked, process, served


def serve(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "normalhedge", "serve", "--port", "0", *options]
    return subprocess.run(command, capture_output=True, check=False, text=True, timeout=60)


def test_a_second_process_is_refused_and_may_wait(tmp_path: Path) -> None:
    db = str(tmp_path / "a.db")
    with process("--db", db) as (url, first), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        refused = serve("--db", db)
        assert refused.returncode == 2
        assert f"{db} is in use by process {first.pid}" in refused.stderr
        command = [sys.executable, "-m", "normalhedge", "serve", "--port", "0", "--wait"]
        with subprocess.Popen([*command, "--db", db], stderr=subprocess.PIPE) as second:
            try:
                assert second.stderr is not None
                assert json.loads(second.stderr.readline())["what"] == "waiting"
                ask(client, "predict", {"forecasts": {"a": 1.0}})
                standing_by = json.loads(second.stderr.readline())
                assert standing_by["what"] == "standing by"
                with Asked(standing_by["url"]) as other:
                    assert other.get("/healthz").json()["ok"] is True
                    for path in ("/readyz", ONE):
                        answer = other.get(path)
                        assert answer.status_code == 503
                        sentence = f"this server stands by: {db} is in use by process {first.pid}"
                        assert answer.json()["error"].startswith(sentence)
                    first.kill()
                    assert json.loads(second.stderr.readline())["what"] == "started"
                    assert other.get(ONE).json()["rounds"] == 1
                    assert other.get("/readyz").json()["ok"] is True
            finally:
                second.kill()


def test_a_stand_by_waits_for_the_port_too(tmp_path: Path) -> None:
    db = str(tmp_path / "a.db")
    with process("--db", db) as (url, first):
        port = url.rpartition(":")[2]
        command = [sys.executable, "-m", "normalhedge", "serve", "--port", port, "--wait"]
        with subprocess.Popen([*command, "--db", db], stderr=subprocess.PIPE) as second:
            try:
                assert second.stderr is not None
                assert json.loads(second.stderr.readline())["what"] == "waiting"
                first.send_signal(signal.SIGTERM)
                assert json.loads(second.stderr.readline())["what"] == "started"
                with Asked(url) as client:
                    assert client.get("/readyz").status_code == 200
                second.send_signal(signal.SIGTERM)
                assert second.wait(20) == 0
            finally:
                second.kill()


def test_a_stand_by_stops(tmp_path: Path) -> None:
    db = str(tmp_path / "a.db")
    with process("--db", db) as (url, first):
        command = [sys.executable, "-m", "normalhedge", "serve", "--port", "0", "--wait"]
        with subprocess.Popen([*command, "--db", db], stderr=subprocess.PIPE) as second:
            try:
                assert second.stderr is not None
                lines = [json.loads(second.stderr.readline())["what"] for _ in range(2)]
                assert lines == ["waiting", "standing by"]
                second.send_signal(signal.SIGTERM)
                assert second.wait(20) == 0
            finally:
                second.kill()
        assert first.poll() is None
        assert httpx.get(f"{url}/readyz").status_code == 200


def test_sigterm_finishes_what_was_begun(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    answers: list[Any] = []

    def work(url: str) -> None:
        with Asked(url) as own:
            while True:
                try:
                    answers.append(ask(own, "predict", {"forecasts": {"a": 1.0, "b": 2.0}}))
                except httpx.HTTPError:
                    return

    with process("--db", str(db)) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with client.stream("GET", "/v1/events") as listening:
            assert listening.status_code == 200
            threads = [threading.Thread(target=work, args=(url,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            while len(answers) < 50:
                pass
            child.send_signal(signal.SIGTERM)
            assert child.wait(30) == 0
        for thread in threads:
            thread.join()
        assert child.stderr is not None
        assert json.loads(child.stderr.read().splitlines()[-1])["what"] == "stopped"
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]  # no lock, no log of SQLite
    tickets = sorted(answer["ticket"] for status, answer in answers if status == 200)
    with served(db) as url, Asked(url) as client:
        rounds = client.get(ONE).json()["rounds"]
        assert tickets == [*range(len(tickets))]
        assert rounds >= len(tickets)


def test_check_tells_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = str(tmp_path / "a.db")
    code, out, _ = call(capsys, "serve", "--check", "--db", db, "--port", "0")
    assert code == 0
    assert "0 mixtures" in out
    with served(db) as url:
        code, _, error = call(capsys, "serve", "--check", "--db", db, "--port", "0")
        assert code == 2
        assert "in use" in error
        port = url.rpartition(":")[2]
        other = str(tmp_path / "b.db")
        code, _, error = call(capsys, "serve", "--check", "--db", other, "--port", port)
        assert code == 2
        assert "cannot listen" in error
    for options, said in (
        (("--host", "0.0.0.0"), "--token-file"),
        (("--token-file", str(tmp_path / "none")), "no file of tokens"),
        (("--config", str(tmp_path / "none.toml")), "cannot be read"),
        (("--db", str(tmp_path / "none" / "a.db")), "no folder"),
    ):
        code, _, error = call(capsys, "serve", "--check", "--port", "0", "--db", db, *options)
        assert code == 2
        assert said in error


@pytest.mark.skipif(os.name == "nt", reason="a limit of Unix")
def test_a_database_that_cannot_be_read_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.db").mkdir()
    code, _, error = call(capsys, "serve", "--check", "--db", str(tmp_path / "a.db"))
    assert code == 2
    assert "a.db" in error
    code, _, error = call(capsys, "serve", "--check", "--db", "postgresql://nobody@127.0.0.1:1/x")
    assert code == 2
    assert "cannot be used" in error
