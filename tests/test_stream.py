"""Streams of bytes: every line is answered, whatever it is."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from normalhedge import Mixture, cli
from normalhedge.mixtures.lines import QUOTED, InputLine, batches
from normalhedge.mixtures.operations import LONGEST_ID, Operation
from normalhedge.mixtures.stream import Stream
from tests.rules import either


def pieces(text: bytes, size: int) -> Callable[[], bytes]:
    source = io.BytesIO(text)
    return lambda: source.read(size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 10_000])
def test_lines_however_they_come(size: int) -> None:
    long = b"x" * 5000
    text = b"one\n\ntwo\r\n" + long + b"\nthree\n" + b"y" * 50 + b"\nlast"
    found = [line for batch in batches(pieces(text, size), 50) for line in batch]
    assert found == [
        InputLine(1, b"one"), InputLine(2, b""), InputLine(3, b"two\r"),
        InputLine(4, long[:QUOTED], whole=False), InputLine(5, b"three"),
        InputLine(6, b"y" * 50), InputLine(7, b"last"),
    ]  # fmt: skip
    found = [line for batch in batches(pieces(text + long, size), 50) for line in batch]
    assert found[-1].whole is False
    assert len(found[-1].text) <= QUOTED


def test_a_stop_takes_nothing_more() -> None:
    read = iter([b"one\ntw", None])
    assert [list(batch) for batch in batches(lambda: next(read))] == [[InputLine(1, b"one")]]


def test_a_line_that_never_ends_takes_no_memory() -> None:
    read = iter([*([b"x" * 1000] * 100_000), b"\n{}\n", b""])
    ((first, second),) = (list(batch) for batch in batches(lambda: next(read), 5000))
    assert (first.whole, second.text) == (False, b"{}")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b'{"a": "\xff"}', "this is not UTF-8, from byte 8 on"),
        (b"\xed\xa0\x80", "this is not UTF-8"),
        (b"\x00", "this is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"forecasts": {"a": 1}, "' + b"k" * 100_000 + b'": 1}', "is not one of"),
        (b'{"a": "' + b"v" * 100_000 + b'"}', "must be"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "this is not JSON"),
        (b'{"ticket": "' + b"t" * 100_000 + b'", "outcome": 1}', "must be a whole number"),
        (b'{"id": "' + b"i" * 100_000 + b'", "outcome": 1}', f"at most {LONGEST_ID}"),
        (b'{"id": "' + b"i" * 100_000 + b'", "forecasts": {"a": 1}}', f"at most {LONGEST_ID}"),
    ],
)
def test_bad_lines_are_answered_and_quoted_in_part(line: bytes, word: str) -> None:
    done: list[Operation] = []
    stream = Stream(Mixture(), done.append)
    bad, good = stream.answers([line, b'{"a": 1}'])
    assert word in bad["error"]
    assert len(bad["error"]) <= 200
    assert good["ticket"] == 0
    assert done == [{"predict": {"a": 1}, "ticket": 0}]


@either
def test_operations_are_what_was_done(hedger: str | None) -> None:
    done: list[Operation] = []
    stream = Stream(Mixture(hedger), done.append)
    said: list[dict[str, Any]] = [
        {"forecasts": {"a": 1.0}, "id": None},
        {"id": None, "outcome": 2.0, "forecasts": {"a": "x"}},
        {"forecasts": {"a": 1.0}, "confidence": {"a": 0.5}},
        {"ticket": 7, "outcome": 1.0},
    ]
    list(stream.answers(map(json.dumps, said)))
    assert done == [
        {"predict": {"a": 1.0}, "id": None, "ticket": 0},
        {"update": 0, "outcome": 2.0, "id": None},
        {"predict": {"a": 1.0}, "confidence": {"a": 0.5}, "ticket": 1},
    ]
    assert stream.refused == 2
    assert stream.mixture.ids == {}


def test_an_outcome_by_ticket_leaves_the_ids_of_others_alone() -> None:
    stream = Stream(Mixture())
    said = ['{"forecasts": {"a": 1}, "id": null}', '{"a": 1}', '{"ticket": 1, "outcome": 1}']
    list(stream.answers(said))
    assert stream.mixture.ids == {"null": 0}


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
            "another hedger: Automatic(memory=100.0, guard=True), not Automatic(memory=30.0,",
        ),
        (["-", "--state", "{folder}/s.json", "--combine", "mean"], "belongs to a single rule"),
        (["-", "--hedger", "auto", "--memory", "30"], "--memory is that of a single --hedger"),
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


@either
def test_an_expert_leaves_by_a_line(hedger: str | None) -> None:
    done: list[Operation] = []
    stream = Stream(Mixture(hedger), done.append)
    lines = ['{"a": 1, "b": 2}', '{"leave": "b"}', '{"leave": "c"}', '{"leave": 3}',
             '{"leave": "a", "outcome": 1}', '{"ticket": 0, "outcome": 1}']  # fmt: skip
    answers = list(stream.answers(lines))
    assert answers[1] == {"line": 2, "left": "b"}
    assert "there is no expert 'c'" in answers[2]["error"]
    assert "leave needs a name" in answers[3]["error"]
    assert "must not have other entries" in answers[4]["error"]
    assert answers[5] == {"line": 6, "settled": 0}
    assert stream.mixture.names == ["a"]
    again = Mixture(hedger)
    for operation in done:
        again.do(operation)
    assert again.names == ["a"]
    assert again.weights == stream.mixture.weights
