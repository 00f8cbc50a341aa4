"""Requests that change mixtures: a mixture answers good ones the same, bad ones change nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from normalhedge import Mixture
from normalhedge.service._recovery import state_text
from tests.service.examples import ONE, OPTIONS, ask, rounds
from tests.service.running import Asked


def raw(client: Asked, verb: str, content: bytes, **headers: str) -> Any:
    answer = client.post(
        f"{ONE}/{verb}", content=content, headers={"content-type": "application/json"} | headers
    )
    assert {"error", "status"} <= set(answer.json()) <= {"error", "status", "kind"}
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"nonsense", 400, "not JSON"),
        (b'{"forecasts": {"a": NaN}}', 400, "not JSON"),
        (b'{"forecasts": {"a": Infinity}}', 400, "not JSON"),
        (b'{"forecasts": {"a": 1e999}}', 400, "out of range"),
        (b'{"forecasts": {"a": 1}} x', 400, "not JSON"),
        (b'{"forecasts": {"\xff": 1}}', 400, "UTF-8"),
        (b'{"forecasts": {"\\ud800": 1}}', 400, "not JSON"),
        (b"[" * 10_000, 400, "nested too deeply"),
        (b'{"forecasts": {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}}", 400, "nested too deeply"),
        (b'{"forecasts": {"a": 1}, "id": ' + b"[" * 600 + b"]" * 600 + b"}", 400, "deeply"),
        (b'{"forecasts": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}", 422, ""),
        (b"[]", 422, "Expected `object`"),
        (b"{}", 422, "forecasts"),
        (b'{"forecasts": []}', 422, "Expected `object`"),
        (b'{"forecasts": {}, "x": 1}', 422, "unknown field `x`"),
        (b'{"forecasts": {"a": 1, "a": 2}}', 422, "'a' is there twice"),
        (b'{"forecasts": {"a": 1}, "forecasts": {"a": 1}}', 422, "there twice"),
        (b'{"forecasts": {"a:b": 1, "a:b": 2}}', 422, "there twice"),
        (b'{"forecasts": {"a": "1"}}', 422, "must be numbers"),
        (b'{"forecasts": {"a": true}}', 422, "must be numbers"),
        (b'{"forecasts": {"a": {"b": {"c": 1}}}}', 422, ""),
        (b'{"forecasts": {"a": 1}, "confidence": {"a": 2}}', 422, "confidence"),
        (b'{"forecasts": {"a": 1}, "confidence": {"zz": 0.5}}', 422, ""),
        (b'{"forecasts": {"a": ' + b"9" * 400 + b"}}", 422, ""),
        (b'{"forecasts": {"a": ' + b"9" * 5000 + b"}}", 400, ""),
        (b'{"forecasts": {"' + b"x" * 21 + b'": 1}}', 422, "at most 20 characters"),
        (b'{"forecasts": {"c": 1, "d": 1, "e": 1, "f": 1}}', 422, "5"),
        (b'{"forecasts": {"a": [1, 2, 3, 4, 5]}}', 422, ""),
        (b'{"forecasts": {"a": 1}, "id": "' + b"x" * 1001 + b'"}', 422, "1000 characters"),
        (b'{"forecasts": {"a": 1}, "pad": "' + b"x" * 20_000 + b'"}', 413, "20000 bytes"),
    ],
)
def test_bad_forecasts(small: Asked, content: bytes, status: int, said: str) -> None:
    before = small.get(f"{ONE}/state").text
    found = raw(small, "predict", content)
    assert found[0] == status, found
    assert said in found[1]
    assert small.get(f"{ONE}/state").text == before
    # The same as a line among others: an error of that line alone.
    try:
        line = json.loads(content)
    except (ValueError, RecursionError):
        return
    if isinstance(line, dict) and status == 422 and b"NaN" not in content:
        answer = small.post(f"{ONE}/rounds", json={"rounds": [line]})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"ticket": 0}', 422),
        (b'{"outcome": 1}', 422),
        (b'{"ticket": 0, "id": 1, "outcome": 1}', 422),
        (b'{"ticket": -1, "outcome": 1}', 422),
        (b'{"ticket": 99999999999999999999, "outcome": 1}', 422),
        (b'{"ticket": 1.5, "outcome": 1}', 422),
        (b'{"ticket": true, "outcome": 1}', 422),
        (b'{"ticket": "0", "outcome": 1}', 422),
        (b'{"ticket": 12345, "outcome": 1}', 404),
        (b'{"id": "unknown", "outcome": 1}', 404),
        (b'{"id": {"deep": [1, {"er": null}]}, "outcome": 1}', 404),
        (b'{"ticket": 0, "outcome": "x"}', 422),
        (b'{"ticket": 0, "outcome": [1, 2]}', 422),
        (b'{"ticket": 0, "outcome": null}', 422),
    ],
)
def test_bad_outcomes(small: Asked, content: bytes, status: int) -> None:
    ticket = ask(small, "predict", {"forecasts": {"a": 1.0}})[1]["ticket"]
    content = content.replace(b'"ticket": 0', b'"ticket": %d' % ticket)
    before = small.get(f"{ONE}/state").text
    assert raw(small, "outcome", content)[0] == status
    assert raw(small, "correct", content)[0] in {status, 404, 409}
    assert small.get(f"{ONE}/state").text == before


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "loss": "own"},
        {"name": "x", "loss": "__import__('os')"},
        {"name": "x", "hedger": "nothing"},
        {"name": "x", "hedger": "auto", "combine": "no"},
        {"name": "x", "even": 2},
        {"name": "x", "max_names": 6},
        {"name": "x", "max_pending": 4},
        {"name": "x", "history": 51},
        {"name": "x", "interval": 2},
        {"name": "x", "interval": [0.5, "a"]},
        {"name": "x", "season": 3},
        {"name": "x", "include": ["a"]},
        {"name": "x", "memory": -1},
        {"name": "x", "hedger": "normal-hedge:memory=1e400"},
        {"name": "x", "function": "f"},
        {"name": 7},
        {},
    ],
)
def test_bad_settings(small: Asked, body: dict[str, Any]) -> None:
    answer = small.post("/v1/mixtures", json=body)
    assert answer.status_code == 422, answer.text
    assert small.get("/v1/mixtures/x").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"retire": "a", "leave": "a"},
        {"retire": 1},
        {"rename": ["a"]},
        {"rename": ["a", "b"]},
        {"rename": ["a", "x" * 21]},
        {"rename": ["unknown", "c"]},
        {"inherit": ["c", "unknown"]},
        {"leave": "unknown"},
    ],
)
def test_bad_changes_of_experts(small: Asked, body: dict[str, Any]) -> None:
    assert ask(small, "experts", body)[0] in {404, 422}


def test_names_of_experts_are_limited_in_a_batch(small: Asked) -> None:
    lines = [{"inherit": ["x" * 21, "a"]}, {"rename": ["a", "x" * 21]}, {"rename": [1, 2]}]
    answers = ask(small, "rounds", {"rounds": lines})[1]["answers"]
    assert ["at most 20 characters" in answer["error"] for answer in answers] == [True, True, False]


def test_there_are_at_most_so_many_mixtures_and_rounds(small: Asked) -> None:
    small.send_json("/v1/mixtures", {"name": "second"})
    assert small.post("/v1/mixtures", json={"name": "third"}).status_code == 422
    assert small.delete("/v1/mixtures/second").status_code == 200
    assert ask(small, "rounds", {"rounds": [{}] * 11})[0] == 422
    answers = ask(small, "rounds", {"rounds": [{"forecasts": {"a": 1.0}}] * 10})[1]["answers"]
    assert len(answers) == 10
    assert small.get(ONE).json()["pending"] == 3


def test_states_that_are_no_states_or_too_large(small: Asked, tmp_path: Path) -> None:
    def put(content: bytes) -> int:
        headers = {"content-type": "application/json"}
        return small.put("/v1/mixtures/new/state", content=content, headers=headers).status_code

    assert put(b"{}") == 422
    assert put(b"") == 422
    assert put(b"x" * 60_000) == 413
    mixture = Mixture(max_pending=3, history=50)
    mixture.predict({f"e{k}": 1.0 for k in range(6)})
    mixture.save(tmp_path / "a.json")
    assert put((tmp_path / "a.json").read_bytes()) == 422
    Mixture(history=50).save(tmp_path / "b.json")
    assert put((tmp_path / "b.json").read_bytes()) == 422
    mixture = Mixture("squint", max_pending=3, history=50)
    mixture.predict({"a": 1.0})
    mixture.save(tmp_path / "c.json")
    content = (tmp_path / "c.json").read_bytes()
    assert put(content.replace(b'"rounds": 1', b'"rounds": 2')) == 422
    assert put(content) == 201
    assert put(content) == 409
    answer = small.post("/v1/mixtures/new/outcome", json={"ticket": 0, "outcome": 1.0})
    assert answer.json() == {"settled": 0}
    small.delete("/v1/mixtures/new")


def test_a_stream_of_lines(small: Asked) -> None:
    lines = [
        b'{"forecasts": {"a": 1.0, "b": 2.0}, "id": "x"}',
        b"",
        b"nonsense",
        b'{"id": "x", "outcome": 1.0}',
        b"[1]",
        b'{"forecasts": {"a": 1.0, "a": 2.0}}',
        b'{"pad": "' + b"x" * 600 + b'"}',
        b'{"retire": "b"}',
    ]
    answer = small.post(
        f"{ONE}/stream",
        content=iter([b"\n".join(lines)[:40], b"\n".join(lines)[40:]]),
        headers={"content-type": "application/x-ndjson"},
    )
    said = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["line"] for one in said] == [1, 3, 4, 5, 6, 7, 8]
    assert said[0]["id"] == "x"
    assert said[2] == {"line": 4, "settled": said[0]["ticket"]}
    assert said[6] == {"line": 8, "retired": "b"}
    assert ["error" in one for one in said] == [False, True, False, True, True, True, False]


def test_a_round_is_answered_as_a_mixture_answers(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    mixture = Mixture(**OPTIONS)
    for forecasts, outcome in rounds(30):
        own = mixture.predict(forecasts)
        answer = client.send_json(f"{ONE}/predict", {"forecasts": forecasts})
        assert answer == {"ticket": own.ticket, "prediction": own.value, "weights": own.weights}
        assert client.send_json(f"{ONE}/outcome", {"ticket": own.ticket, "outcome": outcome}) == {
            "settled": own.ticket
        }
        mixture.update(own.ticket, outcome)
    health = client.get("/v1/mixtures").json()["mixtures"][0]
    summary = mixture.summary()
    assert (health["rounds"], health["settled"], health["pending"]) == (30, 30, 0)
    assert health["loss"] == summary.blend
    assert health["plain_mean_loss"] == summary.uniform
    assert client.get(f"{ONE}/state").text == state_text(mixture)
    told = client.get(f"{ONE}/summary").json()
    assert told["text"] == str(summary)
