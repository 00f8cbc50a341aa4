"""What was answered survives: journals, locks, signals and kills."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._journal import journal_of, read_journal
from normalhedge._owner import Owner
from normalhedge.mixtures import state_file
from normalhedge.mixtures.mixture import ARRAYS
from normalhedge.mixtures.operations import Operation
from normalhedge.mixtures.saved import read_snapshot
from normalhedge.mixtures.state_file import StateFile
from normalhedge.mixtures.stream import Stream
from tests.rules import either


def lines(count: int, seed: int = 0) -> list[str]:
    """Return a stream in which names join, ids and tickets settle, and some lines are refused."""
    rng, out = random.Random(seed), []
    waiting: list[dict[str, Any]] = []
    for k in range(count):
        said: dict[str, Any] = {
            f"m{i}": rng.gauss(0, 1) for i in range(rng.randint(1, 3 + k // 40))
        }
        line: dict[str, Any] = {"forecasts": said}
        if k % 3 == 0:
            line["confidence"] = {"m0": 0.5} if k else None
        if k % 4 == 0:
            line["id"] = f"round {k}"
        waiting.append({"id": line["id"]} if "id" in line else {"ticket": k})
        out.append(json.dumps(line))
        if k % 7 == 0:
            out.append('{"forecasts": {"m0": "x"}}')
        while len(waiting) > 3:
            late = waiting.pop(rng.randrange(3)) | {"outcome": rng.gauss(0, 1)}
            out.append(json.dumps(late))
    return out


def same(one: Mixture, two: Mixture) -> None:
    """Assert that two mixtures are equal to the bit."""
    assert one.names == two.names
    assert one.next_ticket == two.next_ticket
    assert list(one.pending) == list(two.pending)
    assert {k: v for k, v in one.ids.items() if v in one.pending} == two.ids
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.games, name), getattr(two.games, name))


def kept(
    path: Path, said: list[str], batch: int = 5, hedger: str | None = None
) -> tuple[Mixture, StateFile]:
    """Answer lines and keep them, as the command does, up to a sudden end."""
    file = StateFile(path)
    mixture = file.load() or Mixture(hedger)
    done: list[Operation] = []
    stream = Stream(mixture, done.append)
    file.begin(mixture)
    for start in range(0, len(said), batch):
        done.clear()
        list(stream.answers(said[start : start + batch]))
        file.append(done)
        file.fold_if_long(mixture)
    return mixture, file


@either
@pytest.mark.parametrize("long", [1 << 23, 2000])
def test_a_sudden_end_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int, hedger: str | None
) -> None:
    monkeypatch.setattr(state_file, "FOLDED", long)
    monkeypatch.setattr(state_file, "RATIO", 0)
    path, said = tmp_path / "state.json", lines(120)
    whole, _ = kept(tmp_path / "whole.json", said, hedger=hedger)
    for part in (said[:70], said[70:71], [], said[71:]):
        mixture, file = kept(path, part, hedger=hedger)
        same(mixture, Mixture.load(path))
        file.abandon()
    same(whole, Mixture.load(path))
    assert read_snapshot(path).sequence > 0
    assert journal_of(path).exists()
    with pytest.raises(ValueError, match="holds rounds of a stream"):
        Mixture().save(path)
    mixture, file = kept(path, [])
    file.finish(mixture)
    assert not journal_of(path).exists()
    same(whole, read_snapshot(path).mixture)
    Mixture.load(path).save(path)


@either
def test_a_kill_between_state_and_journal_counts_nothing_twice(
    tmp_path: Path, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    mixture, file = kept(path, lines(20), hedger=hedger)
    text = journal_of(path).read_bytes()
    file.finish(mixture)
    journal_of(path).write_bytes(text)  # as if it had not been removed
    same(mixture, Mixture.load(path))
    kept(path, lines(20)[-1:])


@either
def test_a_line_that_was_not_written_to_its_end_is_cut_off(
    tmp_path: Path, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    kept(path, lines(6), batch=1, hedger=hedger)
    text = journal_of(path).read_bytes()
    found = read_journal(journal_of(path)).operations
    for end in range(len(text)):
        journal_of(path).write_bytes(text[:end])
        left = read_journal(journal_of(path)).operations
        whole = max(text[: end + 1].count(b"\n") - 1, 0)
        assert left == found[:whole]
        if end % 9 == 0:
            Mixture.load(path)
    mixture, _ = kept(path, ['{"m0": 1.0}'])
    same(mixture, Mixture.load(path))


def test_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    kept(path, lines(6))
    journal = journal_of(path)
    text = journal.read_bytes()
    for place in range(len(text)):
        journal.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        with pytest.raises(ValueError, match=r"journal is (damaged|not)"):
            read_journal(journal)
    first, *rest = text.splitlines(keepends=True)
    for changed in (rest[:2] + rest[3:], rest[1:], [*rest, rest[-1]], [rest[1], rest[0]]):
        journal.write_bytes(b"".join([first, *changed]))
        with pytest.raises(ValueError, match=r"is damaged|begins at 2, not at 1"):
            Mixture.load(path)
    journal.write_bytes(b"".join(rest))
    with pytest.raises(ValueError, match="is not the journal of a stream"):
        Mixture.load(path)


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for path in (one, two):
        kept(path, lines(3))
    journal_of(one).write_bytes(journal_of(two).read_bytes())
    with pytest.raises(ValueError, match="is the journal of another state"):
        StateFile(one).load()
    one.unlink()
    with pytest.raises(ValueError, match=r"there is .*journal, but not the state"):
        StateFile(one).load()
    two_text = two.read_text()
    journal_of(two).unlink()
    mixture, file = kept(two, lines(9)[5:])
    file.finish(mixture)
    kept(two, lines(3)[:1])
    two.write_text(two_text)  # an older one
    with pytest.raises(ValueError, match=r"begins at|does not fit"):
        StateFile(two).load()


def test_the_journal_is_as_private_as_its_state(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    Mixture().save(path)
    path.chmod(0o600)
    kept(path, lines(2))
    assert journal_of(path).stat().st_mode & 0o777 == 0o600


# One owner


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    path, link = tmp_path / "state.json", tmp_path / "link.json"
    link.symlink_to(path)
    with Owner(path):
        assert f"process {os.getpid()} on " in Path(f"{path}.lock").read_text()
        for name in (path, link):
            with (
                pytest.raises(ValueError, match=rf"in use by process {os.getpid()} on"),
                Owner(name),
            ):
                pass
    assert not Path(f"{path}.lock").exists()
    Path(f"{path}.lock").write_text("process 1 on nowhere")
    with Owner(path):
        pass


COMMAND = [sys.executable, "-m", "normalhedge", "blend", "-"]


@contextmanager
def running(*options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the command on a stream."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: "subprocess.Popen[bytes]", line: str) -> dict[str, Any]:
    """Return the answer to a line, which comes at once."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def test_the_second_process_is_told_who_was_first(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with running("--state", str(path)) as first:
        ask(first, '{"a": 1}')
        run = subprocess.run(
            [*COMMAND, "--state", str(path)], input=b'{"a": 1}\n', capture_output=True, check=False
        )
        assert run.returncode == 2
        assert run.stdout == b""
        assert f"is in use by process {first.pid} on ".encode() in run.stderr
        assert b"blend - --state" in run.stderr
        assert ask(first, '{"a": 1}')["ticket"] == 1
        first.kill()
        first.wait()
    with running("--state", str(path)) as second:
        assert ask(second, '{"a": 1}')["ticket"] == 2


# Ends of all kinds


@pytest.mark.parametrize(("sent", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_ends_a_stream_between_two_lines(tmp_path: Path, sent: str, code: int) -> None:
    if signal.getsignal(getattr(signal, sent)) is signal.SIG_IGN:
        pytest.skip(f"{sent} is ignored here, as under nohup")
    path = tmp_path / "state.json"
    with running("--state", str(path)) as process:
        for k in range(3):
            assert ask(process, '{"a": 1, "b": 2}')["ticket"] == k
        assert process.stdin is not None
        process.stdin.write(b'{"a": ')  # a line that is not taken
        process.stdin.flush()
        process.send_signal(getattr(signal, sent))
        out, error = process.communicate(timeout=60)
        assert process.returncode == code
        assert out == b""
        assert error.count(b"\n") == 1
        assert b"ended by signal" in error
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]
    assert list(read_snapshot(path).mixture.pending) == [0, 1, 2]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_signal_does_not_cut_answers_that_nobody_reads_yet(
    tmp_path: Path, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with running("--state", str(tmp_path / "state.json")) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"a": 1, "b": 2.5}\n' * 1500)  # its answers fill the pipe twice
        process.stdin.flush()
        end = time.monotonic() + 60.0
        while not journal_of(tmp_path / "state.json").exists() and time.monotonic() < end:
            time.sleep(0.01)  # it begins to read when that is there
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 143
    tickets = [json.loads(line)["ticket"] for line in out.splitlines()]
    pending = read_snapshot(tmp_path / "state.json").mixture.pending
    assert tickets == list(pending)
    assert len(tickets) == 1500


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_is_there_after_any_end(tmp_path: Path, sent: signal.Signals) -> None:
    path, rng = tmp_path / "state.json", random.Random(int(sent))
    tickets: set[int] = set()
    settled: set[int] = set()
    for run in range(5):
        with running("--state", str(path)) as process:
            start = ask(process, '{"a": 1.0}')["ticket"]
            assert start not in tickets
            tickets.add(start)
            text = b"".join(
                b'{"a": 1, "b": 2, "n%d": 3}\n{"ticket": %d, "outcome": 1.5}\n' % (k % 9, k)
                for k in range(start + 1, start + 4001)
            )
            assert process.stdin is not None
            assert process.stdout is not None
            if os.fork() == 0:  # somebody else feeds it
                try:
                    process.stdin.write(text)
                    process.stdin.flush()
                finally:
                    os._exit(0)
            process.stdin.close()
            process.stdin = None
            got = b""
            end = time.monotonic() + rng.uniform(0.0, 0.12)
            while time.monotonic() < end:
                got += os.read(process.stdout.fileno(), 1 << 16)
            process.send_signal(sent)
            got += process.communicate(timeout=60)[0]
            os.wait()
        for line in got.split(b"\n")[:-1]:
            answer = json.loads(line)
            if "ticket" in answer:
                assert answer["ticket"] not in tickets
                tickets.add(answer["ticket"])
            else:
                settled.add(answer["settled"])
        mixture = Mixture.load(path)
        assert mixture.next_ticket > max(tickets)
        assert not settled & mixture.pending.keys()
        # The outcome of one may have been kept when its answer was not yet written.
        assert len(tickets - settled - mixture.pending.keys()) <= run + 1


def test_nobody_reads_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with running("--state", str(path)) as process:
        ask(process, '{"a": 1}')
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(b'{"a": 2}\n')
        process.stdin.close()
        assert process.wait(timeout=60) == 1
        assert process.stderr is not None
        error = process.stderr.read()
        assert error == b"normalhedge: the answers cannot be written: Broken pipe\n"
    assert list(read_snapshot(path).mixture.pending) == [0, 1]
    assert not journal_of(path).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("where", ["/dev/full", None])
def test_stdout_is_full_or_closed(tmp_path: Path, where: str | None) -> None:
    words = " ".join([*COMMAND, "--state", str(tmp_path / "s.json")])
    run = subprocess.run(
        ["sh", "-c", f"{words} >{where or '&-'}"],
        input=b'{"a": 1}\n', capture_output=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.count(b"\n") == 1
    assert b"Traceback" not in run.stderr


def test_sync(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with running("--state", str(path), "--sync") as process:
        for k in range(3):
            ask(process, '{"a": 1, "b": 2}')
            answer = ask(process, json.dumps({"ticket": k, "outcome": 1.0}))
            assert answer == {"line": 2 * k + 2, "settled": k}
            assert len(read_journal(journal_of(path)).operations) == 2 * k + 2
