"""Answers that stay open end when the server stops, or when their token is taken away."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from normalhedge.service import access as access_module
from normalhedge.service._limits import Limits
from normalhedge.service.access import (
    Access,
    Token,
    new_token,
    read_tokens,
    remove_token,
    write_tokens,
)
from tests.service.examples import ONE
from tests.service.running import Asked, process, served
from tests.service.talking import Talk

LINE = b'{"forecasts": {"a": 1.0, "b": 2.0}}'
REMOVED = "this stream ends: its token was removed, has expired or does not allow it any more"


def test_sigterm_ends_open_streams_at_once(tmp_path: Path) -> None:
    """What came before is answered and on the disk; the last line says why the stream ends."""
    with process("--db", str(tmp_path / "a.db")) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with Talk(url, f"{ONE}/stream") as lines, Talk(url, f"{ONE}/events", "GET") as events:
            lines.say(LINE)
            assert lines.head()[0] == events.head()[0] == b"HTTP/1.1 200 OK"
            assert json.loads(lines.hear())["ticket"] == 0
            begun = time.monotonic()
            child.send_signal(signal.SIGTERM)
            assert json.loads(lines.hear()) == {"error": "this stream ends: the server stops"}
            assert lines.hear() == b""
            while events.hear():
                pass
            assert child.wait(20) == 0
            assert time.monotonic() - begun < 5.0  # stop_seconds is 10
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(ONE).json()["rounds"] == 1


def test_sigterm_does_not_wait_for_a_client_that_does_not_read(tmp_path: Path) -> None:
    with process("--db", str(tmp_path / "a.db")) as (url, child), Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        with Talk(url, f"{ONE}/stream") as lines:
            lines.say(LINE)
            lines.socket.settimeout(2.0)
            line = b'{"forecasts": {"%b": 1.0}}' % (b"x" * 150)
            with suppress(TimeoutError):
                while True:  # answers fill the buffers of both sides
                    lines.socket.sendall((b"%x\r\n%b\n\r\n" % (len(line) + 1, line)) * 100)
            child.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            assert child.wait(20) == 0
            assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize("name", ["load", "none"])
def test_a_request_that_outlasts_the_stop_is_told_to_come_back(tmp_path: Path, name: str) -> None:
    with served(tmp_path / "a.db", stop_seconds=1.0) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        connection = socket.create_connection(("127.0.0.1", client.base_url.port or 0))
        head = f"POST /v1/mixtures/{name}/predict HTTP/1.1\r\nhost: localhost\r\n"
        kind = "content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
        connection.sendall((head + kind).encode())
        time.sleep(0.3)
    with connection:
        said = connection.recv(65_536)
    assert said.startswith(b"HTTP/1.1 503")
    assert b"the server stops: this request was not acknowledged" in said


def _removed(file: Path) -> None:
    remove_token(file, "job")


def _renamed_over(file: Path) -> None:
    other = file.with_name("other")
    write_tokens(other, [token for token in read_tokens(file) if token.name != "job"])
    os.replace(other, file)


def _restricted(file: Path) -> None:
    write_tokens(file, [token._replace(mixtures=["other"]) for token in read_tokens(file)])


def _lowered(file: Path) -> None:
    write_tokens(file, [token._replace(scope="read") for token in read_tokens(file)])


def _expired(file: Path) -> None:
    now = time.time()
    write_tokens(file, [token._replace(expires=now - 1) for token in read_tokens(file)])


def _same_size_and_time(file: Path) -> None:
    """Write another token in place: neither the size nor the time of the file changes."""
    before = file.stat()
    (token,) = [token for token in read_tokens(file) if token.name == "job"]
    file.write_text(file.read_text().replace(token.sha256, "0" * 64))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size


@pytest.mark.parametrize(
    "change", [_removed, _renamed_over, _restricted, _lowered, _expired, _same_size_and_time]
)
def test_a_token_that_is_taken_away_ends_its_answers_within_a_second(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    file = tmp_path / "tokens"
    admin, job = new_token(file, "boss", "admin"), new_token(file, "job", "write")
    with served(tmp_path / "a.db", token_file=str(file)) as url:
        with Asked(url, admin) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
        events = f"{ONE}/events"
        with (
            Talk(url, f"{ONE}/stream", token=job) as lines,
            Talk(url, events, "GET", job) as told,
            Talk(url, "/v1/events", "GET", job) as every,
        ):
            lines.say(LINE)
            lines.head()
            assert b"ticket" in lines.hear()
            for talk in (told, every):
                talk.head()
                talk.hear()
            begun = time.monotonic()
            change(file)
            assert json.loads(lines.hear()) == {"error": REMOVED}
            assert lines.hear() == b""
            assert time.monotonic() - begun < 1.0
            if change is not _lowered:  # who may read may still listen
                for talk in (told, every):
                    while talk.hear():
                        pass
                assert time.monotonic() - begun < 1.0
        with Asked(url, job) as client:
            answer = client.post(f"{ONE}/predict", json={"forecasts": {"a": 1.0}})
            assert answer.status_code in {401, 403, 404}


def test_other_tokens_go_on(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    admin, _ = new_token(file, "boss", "admin"), new_token(file, "job", "write")
    with served(tmp_path / "a.db", token_file=str(file)) as url:
        with Asked(url, admin) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
        with Talk(url, f"{ONE}/stream", token=admin) as lines:
            lines.say(LINE)
            lines.head()
            lines.hear()
            remove_token(file, "job")
            time.sleep(1.0)
            lines.say(LINE)
            assert json.loads(lines.hear())["ticket"] == 1


def _logged(capsys: pytest.CaptureFixture[str], what: str) -> list[str]:
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [line["sentence"] for line in lines if line["what"] == what]


def test_a_file_of_tokens_that_is_damaged_keeps_the_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens"
    token = new_token(file, "boss", "admin")
    text = file.read_text()
    with served(tmp_path / "a.db", token_file=str(file)) as url, Asked(url, token) as client:
        for damage in (
            lambda: file.write_text("{"),
            file.unlink,
            lambda: file.write_bytes(b"\xff"),
        ):
            damage()
            time.sleep(1.0)
            assert client.get("/v1/mixtures").status_code == 200
        assert len(_logged(capsys, "tokens")) == 3
        file.write_text(text)
        second = new_token(file, "second", "read")
        time.sleep(1.0)
        with Asked(url, second) as other:
            assert other.get("/v1/mixtures").status_code == 200
        assert _logged(capsys, "tokens")[-1] == f"{file} has 2 tokens"


def test_a_file_of_tokens_that_is_being_written_keeps_the_tokens(tmp_path: Path) -> None:
    """An editor or a copy empties the file first: for a moment it has no token."""
    file = tmp_path / "tokens"
    token = new_token(file, "boss", "admin")
    text = file.read_text()
    access = Access(Limits(), file)
    holder = access.holder({b"authorization": f"Bearer {token}".encode()}, None)
    file.write_text("")
    writing = threading.Timer(access_module.SETTLED / 2, file.write_text, [text])
    writing.start()
    access.read_again()
    writing.join()
    assert access.allows(holder, "admin", "")
    file.write_text("")
    access.read_again()
    assert not access.allows(holder, "read", "")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[tuple[str, Path, Any]]:
    """A server whose file of tokens is mounted as a file, as containers do."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    new_token(outside, "boss", "admin")
    inside.touch()
    command = [sys.executable, "-m", "normalhedge", "serve", "--port", "0"]
    options = ["--db", str(tmp_path / "a.db"), "--token-file", str(inside)]
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    unshared = ["unshare", "--mount", "sh", "-c", script, "-", str(outside), str(inside)]
    with subprocess.Popen([*unshared, *command, *options], stderr=subprocess.PIPE) as child:
        try:
            assert child.stderr is not None
            line = child.stderr.readline()
            if not line.startswith(b"{"):
                pytest.skip("files cannot be mounted here")
            yield json.loads(line)["url"], outside, child.stderr
        finally:
            child.kill()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts of Linux")
def test_a_mounted_file_that_was_replaced_is_noticed(mounted: tuple[str, Path, Any]) -> None:
    _, outside, log = mounted
    write_tokens(outside, [Token("other", "0" * 64, "read", None, 0.0, None)])
    assert select.select([log], [], [], 10.0)[0], "the log says nothing"
    said = json.loads(log.readline())
    assert said["level"] == "error"
    assert said["sentence"].endswith("mount its folder, not the file")
