"""The command ``blend -``: a stream in a process of its own, with signals, locks and kills."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from normalhedge import Mixture, cli
from normalhedge.live.journal import journal_of, read_journal
from normalhedge.mixtures.files._saved import read_snapshot
from tests.cli.processes import ask, running


def test_a_stream_that_is_ended_keeps_its_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    command = [sys.executable, "-m", "normalhedge", "blend", "-", "--state", str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for k in range(3):
            run.stdin.write('{"a": 1, "b": 2}\n')
            run.stdin.flush()
            assert json.loads(run.stdout.readline())["ticket"] == k
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=60)
    assert list(Mixture.load(state).pending) == [0, 1, 2]


COMMAND = [sys.executable, "-m", "normalhedge", "blend", "-"]


def test_the_second_process_is_told_who_was_first(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with running("blend", "--state", str(path)) as first:
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
    with running("blend", "--state", str(path)) as second:
        assert ask(second, '{"a": 1}')["ticket"] == 2


@pytest.mark.parametrize(("sent", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_ends_a_stream_between_two_lines(tmp_path: Path, sent: str, code: int) -> None:
    if signal.getsignal(getattr(signal, sent)) is signal.SIG_IGN:
        pytest.skip(f"{sent} is ignored here, as under nohup")
    path = tmp_path / "state.json"
    with running("blend", "--state", str(path)) as process:
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
    assert list(read_snapshot(path).state.pending) == [0, 1, 2]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_signal_does_not_cut_answers_that_nobody_reads_yet(
    tmp_path: Path, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with running("blend", "--state", str(tmp_path / "state.json")) as process:
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
    pending = read_snapshot(tmp_path / "state.json").state.pending
    assert tickets == list(pending)
    assert len(tickets) == 1500


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_is_there_after_any_end(tmp_path: Path, sent: signal.Signals) -> None:
    path, rng = tmp_path / "state.json", random.Random(int(sent))
    tickets: set[int] = set()
    settled: set[int] = set()
    for run in range(5):
        with running("blend", "--state", str(path)) as process:
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
    with running("blend", "--state", str(path)) as process:
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
    assert list(read_snapshot(path).state.pending) == [0, 1]
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
    with running("blend", "--state", str(path), "--sync") as process:
        for k in range(3):
            ask(process, '{"a": 1, "b": 2}')
            answer = ask(process, json.dumps({"ticket": k, "outcome": 1.0}))
            assert answer == {"line": 2 * k + 2, "settled": k}
            assert len(read_journal(journal_of(path)).operations) == 2 * k + 2


def run(text: bytes, *options: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "normalhedge", "blend", "-", *options],
        input=text, capture_output=True, check=False, env={**os.environ, **more},
    )  # fmt: skip


def test_any_locale() -> None:
    text = '{"é": 1, "x\\u001b[31m": 2}\n'.encode() + b'{"\xff": 1}\n' + b'{"\\ud800": 1}\n' * 2
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for more in ({}, locale | {"PYTHONIOENCODING": "ascii:strict"}):
        found = run(text + b'{"ticket": 0, "outcome": 1}', **more)
        answers = [json.loads(line) for line in found.stdout.splitlines()]
        assert [answer["line"] for answer in answers] == [1, 2, 3, 4, 5]
        assert "é" in answers[0]["weights"]
        assert "not UTF-8" in answers[1]["error"]
        assert found.returncode == 2
        assert b"1 line refused" in found.stderr
        assert b"Traceback" not in found.stderr


def test_the_longest_line() -> None:
    found = run(b'{"a": 1}\n{"a": %s}\n{"a": 1}\n' % (b" " * 100 + b"1"), "--max-line", "50")
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [answer.get("ticket") for answer in answers] == [0, None, 1]
    assert 'this line is too long: it begins with \'{"a":' in answers[1]["error"]
    found = run(b'{"a": 1}\n' + b"[" * 20_000_000 + b"\n" + b'{"a": 1}')
    assert len(found.stdout) < 1000
    assert len(found.stderr) < 1000
    assert found.stdout.count(b"\n") == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-", "--state", "{folder}/none/s.json"], "there is no folder"),
        (["-", "--state", "{folder}"], "is a folder"),
        (["-", "--state", "{folder}/pipe"], "is no regular file"),
        (["-", "--sync"], "--sync needs --state"),
        (["-", "--max-line", "0"], "--max-line"),
        (["-", "--safe-csv"], "--safe-csv is for files"),
        (["data.csv", "--sync"], "--sync is for streams"),
        (["data.csv", "--max-line", "10"], "--max-line is for streams"),
        (["-", "--state", "{folder}/s.json", "--loss", "absolute"], "made with another loss"),
        (["-", "--state", "{folder}/s.json", "--loss", "l1"], "made with another"),
        (
            ["-", "--state", "{folder}/s.json", "--hedger", "auto:memory=30"],
            "another hedger: Automatic(memory=100.0, guard=True, inside=False), not Automatic(",
        ),
        (["-", "--state", "{folder}/s.json", "--combine", "mean"], "belongs to a single rule"),
        (["-", "--hedger", "auto", "--memory", "30"], "--memory belongs to a single --hedger"),
        (["-", "--hedger", "auto:memry=30"], "did you mean memory"),
        (["-", "--state", "{folder}/alone.json"], "there is {folder}/alone.json.journal, but not"),
        (["-", "--state", "{folder}/broken.json"], "is not a whole JSON file"),
        (["-", "--state", "{folder}/\x1b[31m/s.json"], "\\x1b[31m"),
    ],
)
def test_bad_words_for_a_stream(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    sentence: str,
) -> None:
    Mixture().save(tmp_path / "s.json")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "alone.json.journal").write_text("")
    (tmp_path / "broken.json").write_text("{")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}\n'))
    with pytest.raises(SystemExit) as caught:
        cli.main(["blend", *(word.format(folder=tmp_path) for word in words)])
    out, error = capsys.readouterr()
    assert caught.value.code == 2
    assert out == ""
    assert sentence.format(folder=tmp_path) in error
    assert error.count("\n") == 1
    assert "\x1b" not in error
    assert sorted(tmp_path.iterdir()) == before


def test_a_correction_survives_a_kill(tmp_path: Path) -> None:
    state, mixture = tmp_path / "s.json", Mixture()
    rounds = [{"a": 1.0 * t, "b": 2.0, "c": 0.5} for t in range(30)]
    with running("blend", "--state", str(state)) as process:
        for t, forecasts in enumerate(rounds):
            mixture.predict(forecasts)
            ask(process, json.dumps(forecasts))
            mixture.update(t, 1.0 * t)
            ask(process, json.dumps({"ticket": t, "outcome": 99 if t == 7 else 1.0 * t}))
        assert ask(process, '{"ticket": 7, "correct": 7}')["corrected"] == 7
        ask(process, json.dumps(rounds[0]))
        process.kill()
    mixture.predict(rounds[0])
    found = Mixture.load(state)
    assert found.peek(rounds[3]).weights == mixture.peek(rounds[3]).weights
    assert found.next_ticket == mixture.next_ticket


def test_a_tail_of_zeros_is_told_on_stderr(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with running("blend", "--state", str(state)) as process:
        ask(process, '{"a": 1, "b": 2}')
        process.kill()
        process.wait()
    with journal_of(state).open("ab") as file:
        file.write(bytes(64))
    with running("blend", "--state", str(state)) as process:
        out, error = process.communicate(b'{"ticket": 0, "outcome": 1}\n', timeout=60)
        assert process.returncode == 0
    assert json.loads(out)["settled"] == 0
    assert b"normalhedge: " in error
    assert b"ends in 64 zero bytes, as a power cut leaves them" in error
    assert b"warnings.warn" not in error


def test_a_stream_of_single_choices_is_told_at_the_end() -> None:
    rounds = [
        f'{{"{name}": 1}}\n{{"ticket": {k}, "outcome": 2}}\n' for k, name in enumerate("ab" * 8)
    ]
    with running("blend") as process:
        _, error = process.communicate("".join(rounds).encode(), timeout=60)
        assert process.returncode == 0
    assert b"choosing one action needs a method for that, such as EXP3" in error
