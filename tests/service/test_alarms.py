"""Alarms: each is told once, whatever breaks, and the log of alarms has all of them."""

import gzip
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge.service import access
from normalhedge.service.settings import Settings
from tests.service.examples import ONE, talk
from tests.service.running import Asked, process, served


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at mixtures once in a second, however long a look takes."""
    monkeypatch.setattr("normalhedge.service._alarms.SPARE", 1.0)


class Receiver:
    """A server that takes alarms; ``answers`` are its next answers, and then 200."""

    def __init__(self, answers: list[int], port: int = 0) -> None:
        self.taken: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = answers.pop(0) if answers else 200
                (outer.taken if status == 200 else outer.refused).append(json.loads(body))
                outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                outer.bodies.append(body)
                if status == 0:  # no answer
                    self.connection.close()
                    return
                self.send_response(status)
                if status == 302:
                    self.send_header("location", outer.url)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/alarms?team=load"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def receiving(*answers: int, port: int = 0) -> Iterator[Receiver]:
    receiver = Receiver(list(answers), port)
    try:
        yield receiver
    finally:
        receiver.close()


def wait_for(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def stop_a_model(client: Asked, first: int = 0, rounds: int = 90, awake: int = 80) -> None:
    """Play rounds in which the model ``a`` is silent in the end."""
    rng, lines = np.random.default_rng(first), list[dict[str, Any]]()
    for t in range(first, first + rounds):
        forecasts = {name: float(rng.normal()) for name in "abc"}
        if t - first >= awake:
            del forecasts["a"]
        lines += [{"forecasts": forecasts}, {"ticket": t, "outcome": 0.0}]
    client.send_json(f"{ONE}/rounds", {"rounds": lines})


def listed(client: Asked, path: str = "/v1/alarms") -> list[dict[str, Any]]:
    alarms: list[dict[str, Any]] = client.get(path).json()["alarms"]
    return alarms


def test_an_alarm_is_told_once_with_a_signature(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    with (
        receiving(500, 0, 302) as receiver,
        served(tmp_path / "a.db", alarm_url=receiver.url, alarm_secret_file=str(secret)) as url,
        Asked(url) as client,
    ):
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client)
        wait_for(lambda: receiver.taken)
        wait_for(lambda: listed(client)[0]["told"])
        time.sleep(2.5)  # two more looks
        (taken,) = receiver.taken
        assert len(receiver.refused) == 3
        assert receiver.refused[0] == taken
        assert (taken["mixture"], taken["kind"], taken["expert"]) == ("load", "stopped", "a")
        assert (taken["since"], taken["ended"]) == (80, None)
        assert "a stopped in round 80" in taken["text"]
        for headers, body in zip(receiver.headers, receiver.bodies, strict=True):
            assert headers["idempotency-key"] == f"alarm-{taken['id']}"
            digest = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
            assert headers["x-normalhedge-signature"] == f"sha256={digest}"
        metrics = client.get("/metrics").text.splitlines()
        for line in (
            'normalhedge_alarms_total{kind="stopped"} 1.0',
            "normalhedge_alarm_failures_total 3.0",
            "normalhedge_alarms_untold 0.0",
        ):
            assert line in metrics
        # It is awake again: the alarm ends, and the next one is another.
        stop_a_model(client, 90, 20, 20)
        wait_for(lambda: listed(client)[0]["ended"])
        stop_a_model(client, 110, 50, 20)  # for longer than it ever was silent
        wait_for(lambda: len(receiver.taken) == 2)
        assert [one["since"] for one in receiver.taken] == [80, 130]
        newest, first = listed(client, f"{ONE}/alarms")
        assert newest["id"] == first["id"] + 1
        assert first["ended"] is not None
        page = client.get("/v1/alarms", params={"before": newest["id"], "limit": 5}).json()
        assert page["alarms"] == [first]
        client.delete(ONE)
        wait_for(lambda: all(one["ended"] for one in listed(client)))


def test_alarms_survive_a_server_that_is_killed(tmp_path: Path) -> None:
    """Nobody answers when it is found; the server is killed; the next one tells it, once."""
    with receiving() as receiver:
        pass
    options = ("--db", str(tmp_path / "a.db"), "--alarm-url", receiver.url)
    with process(*options) as (url, _), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client)
        wait_for(lambda: listed(client))
        assert listed(client)[0]["told"] is None
        assert "normalhedge_alarms_untold 1.0" in client.get("/metrics").text
    with receiving(port=receiver.port) as again:
        for _ in range(2):
            with process(*options) as (url, child), Asked(url) as client:
                wait_for(lambda: listed(client)[0]["told"])
                time.sleep(1.5)
                child.send_signal(signal.SIGTERM)
                child.wait(10)
        assert len(again.taken) == 1
        assert again.taken[0]["kind"] == "stopped"


def test_a_command_is_run_until_it_succeeds(tmp_path: Path) -> None:
    script = tmp_path / "notify.py"
    script.write_text(
        "import json, pathlib, sys\n"
        f"log = pathlib.Path({str(tmp_path / 'log')!r})\n"
        "tries = log.read_text().splitlines() if log.exists() else []\n"
        "log.write_text(chr(10).join([*tries, json.dumps(json.load(sys.stdin))]))\n"
        "sys.exit(len(tries) < 1)\n"
    )
    command = f"{sys.executable} {script}"
    with served(tmp_path / "a.db", alarm_command=command) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client)
        wait_for(lambda: listed(client) and listed(client)[0]["told"])
        time.sleep(1.5)
        first, second = map(json.loads, (tmp_path / "log").read_text().splitlines())
        assert first == second
        assert first["text"] == listed(client)[0]["text"]


def test_a_command_that_hangs_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    options = ("--db", str(tmp_path / "a.db"), "--alarm-command", "sleep 1000")
    with process(*options) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client)
        wait_for(lambda: listed(client))
        time.sleep(0.5)
        begun = time.monotonic()
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
        assert time.monotonic() - begun < 5.0
        found = subprocess.run(["ps", "--ppid", str(child.pid)], check=False, capture_output=True)
        assert b"sleep" not in found.stdout


def test_open_alarms_are_told_when_there_is_somebody_to_tell(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client)
        assert wait_for(lambda: listed(client))[0]["told"] is None
    with (
        receiving() as receiver,
        served(tmp_path / "a.db", alarm_url=receiver.url) as url,
        Asked(url) as client,
    ):
        wait_for(lambda: listed(client)[0]["told"])
        assert len(receiver.taken) == 1


def test_overdue_rounds_are_an_alarm(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
        stop_a_model(client, rounds=10, awake=10)  # a history
        for ticket in range(10, 16):
            client.send_json(f"{ONE}/predict", {"forecasts": {"a": 1.0, "b": 2.0, "c": 3.0}})
            time.sleep(1.1)  # live rounds, a second each
            if ticket < 15:
                client.send_json(f"{ONE}/outcome", {"ticket": ticket, "outcome": 1.5})
        (alarm,) = wait_for(lambda: listed(client))
        assert (alarm["kind"], alarm["expert"]) == ("overdue", None)
        assert "1 round waited for longer than 2 s; the first one has ticket 15" in alarm["text"]
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        time.sleep(1.5)
        assert [(one["id"], one["ended"]) for one in listed(client)] == [(1, None)]
        client.send_json(f"{ONE}/outcome", {"ticket": 15, "outcome": 1.5})
        wait_for(lambda: listed(client)[0]["ended"])


def test_tokens_see_the_alarms_of_their_mixtures(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    admin = access.new_token(tokens, "admin", "admin", None, None)
    some = access.new_token(tokens, "some", "read", ["other"], None)
    with served(tmp_path / "a.db", token_file=str(tokens)) as url:
        with Asked(url, admin) as client:
            client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
            stop_a_model(client)
            wait_for(lambda: listed(client))
        with Asked(url, some) as client:
            assert listed(client) == []
            assert client.get(f"{ONE}/alarms").status_code == 404  # as if it were not there
        with Asked(url) as client:
            assert client.get("/v1/alarms").status_code == 401


def test_hostile_queries_are_refused(client: Asked) -> None:
    for query in ("before=0", "before=x", "before=nan", "limit=0", "limit=1001", "limit=inf"):
        answer = client.get(f"/v1/alarms?{query}")
        assert answer.status_code == 422, query
        assert query.partition("=")[0] in answer.json()["error"]
    assert client.get("/v1/alarms?before=1e15").json() == {"alarms": []}
    assert client.get("/v1/mixtures/none/alarms").status_code == 404
    said = talk(client, b"GET /v1/alarms?limit=\xff HTTP/1.1\r\nhost: localhost\r\n"
                        b"connection: close\r\n\r\n")  # fmt: skip
    assert said.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alarm_url": "ftp://example.org"}, "alarm_url must be"),
        ({"alarm_url": "https://"}, "alarm_url must be"),
        ({"alarm_url": "http://me:pass@example.org"}, "alarm_url must be"),
        ({"alarm_url": "http://example.org/a b"}, "alarm_url must be"),
        ({"alarm_url": "http://example.org/\n"}, "alarm_url must be"),
        ({"alarm_url": "http://example.org:99999"}, "alarm_url must be"),
        ({"alarm_url": "http://["}, "alarm_url must be"),
        ({"alarm_url": "http://a.org", "alarm_command": "true"}, "and not both"),
        ({"alarm_secret_file": "x"}, "which is not given"),
        ({"alarm_url": "http://a.org", "alarm_secret_file": "/none"}, "cannot be read"),
        ({"alarm_url": "http://a.org", "alarm_secret_file": "/dev/null"}, "is empty"),
        ({"alarm_command": ""}, "must begin with a program"),
        ({"alarm_command": "'"}, "cannot be read"),
        ({"alarm_command": "no-such-program --x"}, "must begin with a program"),
    ],
)
def test_settings_that_cannot_tell_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Settings(**settings).check()


def test_the_database_of_an_earlier_release_gets_the_table(tmp_path: Path) -> None:
    frozen = Path(__file__).parents[1] / "frozen" / "served_0_2.db.gz"
    (tmp_path / "a.db").write_bytes(gzip.decompress(frozen.read_bytes()))
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert listed(client) == []


def test_alarms_of_many_flaps_stay_few(tmp_path: Path) -> None:
    """A thing that comes and goes with the same beginning is one alarm."""
    with receiving() as receiver:
        for _ in range(3):
            with served(tmp_path / "a.db", alarm_url=receiver.url) as url, Asked(url) as client:
                if "load" not in client.get("/v1/mixtures").text:
                    client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
                    stop_a_model(client)
                wait_for(lambda: listed(client) and listed(client)[0]["told"])
        assert len(receiver.taken) == 1
    assert os.listdir(tmp_path) == ["a.db"]
