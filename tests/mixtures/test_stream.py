"""Streams: every line is answered, whatever it is."""

import io
import json

import pytest

from normalhedge import Mixture
from normalhedge.mixtures.state._operations import LONGEST_ID, Operation
from normalhedge.mixtures.streams import Budget, Stream
from tests.rules import either


@either
def test_a_stream_answers_every_line(hedger: str | None) -> None:
    lines = (
        """
        {"gam": 1.0, "ar": 3.0}
        {"ticket": 0, "outcome": 1.0}
        {"forecasts": {"gam": 2.0, "ar": 4.0}, "id": "tuesday"}
        not JSON
        {"id": "tuesday", "outcome": "?"}
        {"id": "tuesday", "outcome": 2.0}
        {"id": "tuesday", "outcome": 2.0}
        {"ticket": 0, "outcome": 2.0}
        {"ticket": true, "outcome": 2.0}
        {"outcome": 2.0}
        {"forecasts": {"gam": 2.0}, "colour": "red"}
        {"confidence": {}}
        [1, 2]
        {"gam": null, "ar": null}
        {"ticket": 2, "outcome": 5, "forecasts": {"gam": 7.0, "ar": 8.0}}
        {"forecasts": {"gam": 1}, "confidence": [1]}
        {"ticket": 3, "outcome": 5, "forecasts": {"gam": "x"}}
    """
        + "[" * 100_000
        + "\n"
        + '{"gam": 1'
        + "0" * 400
        + "}\n"
    )
    stream = Stream(Mixture(hedger, "absolute"))
    answers = list(stream.answers(io.StringIO(lines)))
    assert [a["line"] for a in answers] == list(range(2, 21))
    wrong = [a["line"] for a in answers if "error" in a]
    assert wrong == [5, 6, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20]
    assert stream.refused == 13
    assert answers[16]["settled"] == 3  # the answer tells the operation that was done
    answers = answers[:15]
    assert answers[0] == {
        "line": 2, "ticket": 0, "prediction": 2.0, "weights": {"gam": 0.5, "ar": 0.5}
    }  # fmt: skip
    assert answers[2]["id"] == "tuesday"
    assert answers[5] == {"line": 7, "settled": 1}
    assert answers[-2]["prediction"] is None
    assert answers[-1]["settled"] == 2
    assert answers[-1]["prediction"] == pytest.approx(7.0, abs=0.5 if hedger is None else 0.0)
    json.dumps(answers)


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


@either
def test_a_stream_changes_experts_and_corrects_outcomes(hedger: str | None) -> None:
    done: list[Operation] = []
    stream, mixture = Stream(Mixture(hedger), done.append), Mixture(hedger)
    lines = [
        '{"forecasts": {"gam": 1.0, "ar": 3.0}, "id": "monday"}',
        '{"id": "monday", "outcome": 30}',
        '{"id": "monday", "correct": 3}',
        '{"rename": ["ar", "arima"]}',
        '{"inherit": ["gam2", "gam"]}',
        '{"retire": "gam"}',
        '{"gam": 5.0, "gam2": 1.0, "arima": 2.0}',
    ]
    answers = [{k: v for k, v in one.items() if k != "line"} for one in stream.answers(lines)]
    mixture.predict({"gam": 1.0, "ar": 3.0})
    mixture.update(0, 3.0)
    mixture.rename("ar", "arima")
    mixture.inherit("gam2", "gam")
    mixture.retire("gam")
    last = mixture.predict({"gam": 5.0, "gam2": 1.0, "arima": 2.0})
    assert answers[1:] == [
        {"settled": 0},
        {"corrected": 0},
        {"renamed": ["ar", "arima"]},
        {"inherited": ["gam2", "gam"]},
        {"retired": "gam"},
        {"ticket": 1, "prediction": last.value, "weights": last.weights},
    ]
    again = Mixture(hedger)
    for operation in done:
        again.redo(operation)
    assert (
        again.predict({"gam2": 1.0, "arima": 2.0}).value
        == mixture.peek({"gam2": 1.0, "arima": 2.0}).value
    )
    wrong = [
        ('{"rename": "ar"}', "rename needs two names"),
        ('{"rename": ["x", "y"]}', "no expert 'x'"),
        ('{"retire": ["gam2", "b"]}', "retire needs a name"),
        ('{"ticket": 0, "correct": 1, "outcome": 2}', "must not have other entries"),
        ('{"correct": 1}', "needs the ticket or the id"),
        ('{"ticket": 1, "correct": 1}', "waits for its outcome: use update"),
        ('{"leave": "gam", "ticket": 1}', "must not have other entries"),
    ]
    for line, sentence in wrong:
        answer = stream.answer(1, line)
        assert answer is not None
        assert sentence in answer["error"], line


def test_a_line_that_needs_too_much_memory_is_refused() -> None:
    stream, cells = Stream(Mixture("squint")), Budget().cells
    assert "error" not in (stream.answer(1, '{"a": [1, 2], "b": [3, 4]}') or {})
    many = json.dumps({"a": [0] * (cells + 1)}, separators=(",", ":"))
    refused = stream.answer(2, many) or {}
    assert f"a stream holds at most {cells:,}" in refused["error"]
    assert f"{2 * cells + 2:,} forecasts" in refused["error"]  # b is an expert, too
    named = json.dumps({"forecasts": {"a": {f"x{k}": 0 for k in range(cells)}}})
    assert "keep several mixtures" in (stream.answer(3, named) or {})["error"]
    assert stream.mixture.items == ["0", "1"]
    assert stream.mixture.rounds == 1
    assert "error" not in (stream.answer(4, '{"a": [1, 2], "c": [3, 4]}') or {})


def test_a_mixture_that_is_large_already_goes_on() -> None:
    stream = Stream(Mixture("squint"))
    stream.answer(1, '{"a": [1, 2], "b": [3, 4]}')
    stream.budget = Budget(cells=3)
    assert "error" not in (stream.answer(2, '{"b": [1, 2], "a": [3, 4]}') or {})
    assert "error" in (stream.answer(3, '{"b": [1, 2, 3]}') or {})


def test_a_line_without_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(Mixture("squint"))

    def no_memory(_: Operation) -> None:
        raise MemoryError

    monkeypatch.setattr(stream.mixture, "do", no_memory)
    answer = stream.answer(1, '{"a": 1}')
    assert answer == {"line": 1, "error": "there is not enough memory for this line"}
    assert stream.refused == 1
