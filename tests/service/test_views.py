"""Answers that only read: the past, the summary, metrics, the document and pages."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from normalhedge import Mixture
from tests.service.examples import (
    ONE,
    ask,
    operations_at_random,
    rounds,
)
from tests.service.running import Asked, served


def test_peek_changes_nothing(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "interval": [0.5, 0.9]})
    own = Mixture(interval=[0.5, 0.9])
    for k in range(10):
        forecasts = {"a": 1.0 * k, "b": 3.0}
        ask(client, "predict", {"forecasts": forecasts})
        own.update(own.predict(forecasts).ticket, 2.0)
        ask(client, "outcome", {"ticket": k, "outcome": 2.0})
    before = client.get(f"{ONE}/state").text
    made = own.peek({"a": 5.0, "b": 4.0}, {"a": 0.5})
    status, answer = ask(
        client, "peek", {"forecasts": {"a": 5.0, "b": 4.0}, "confidence": {"a": 0.5}}
    )
    assert status == 200
    assert answer["prediction"] == made.value
    assert answer["weights"] == made.weights
    assert made.intervals is not None
    assert answer["interval"] == {f"{k:g}": list(v) for k, v in made.intervals.items()}
    assert client.get(f"{ONE}/state").text == before
    health = client.get("/v1/mixtures").json()["mixtures"][0]
    assert [row["level"] for row in health["coverage"]] == [0.5, 0.9]


def test_the_summary_says_what_its_bound_is_of(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "normal-hedge:memory=100"})
    own = Mixture("normal-hedge:memory=100")
    for k in range(10):
        forecasts = {"a": 1.0, "b": -1.0}
        ask(client, "predict", {"forecasts": forecasts})
        ask(client, "outcome", {"ticket": k, "outcome": 0.1 * k})
        own.update(own.predict(forecasts).ticket, 0.1 * k)
    found, bound = client.get(f"{ONE}/summary").json(), own.bound()
    assert found["regret"] == own.loss_regrets.max()
    assert (found["bound"], found["bound_unit"]) == (bound.regret, bound.unit)
    assert found["bound_source"] == bound.source
    answer = client.post("/v1/mixtures", json={"name": "late", "hedger": "normal-hedge:delay=2.5"})
    assert answer.status_code == 422
    assert "delay must be a whole number" in answer.text


def test_health_is_open(client: Asked) -> None:
    assert client.get("/healthz").json()["ok"]
    assert client.get("/readyz").json()["ok"]


def test_the_exported_log_is_replayed_by_the_command_line(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load", "loss": "absolute", "interval": 0.9})
        done = [ask(client, verb, body)[0] for verb, body in operations_at_random(1, 80)]
        first = client.get(f"{ONE}/state", params={"sequence": 0}).text
        lines, last = client.get(f"{ONE}/log").text, client.get(f"{ONE}/state").json()
    state = tmp_path / "state.json"
    state.write_text(first)
    command = [sys.executable, "-m", "normalhedge", "blend", "-", "--state", str(state)]
    ended = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
    assert len(ended.stdout.splitlines()) == len(lines.splitlines()) == done.count(200) > 70
    after = json.loads(state.read_text())
    for name in last.keys() - {"checksum", "sequence", "journal"}:
        assert after[name] == last[name], name


def test_the_log_replays_to_the_same_state(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
    lines: list[dict[str, Any]] = []
    for forecasts, outcome in rounds(10):
        ticket = client.send_json(f"{ONE}/predict", {"forecasts": forecasts})["ticket"]
        lines += [{"ticket": ticket, "outcome": outcome}]
    client.send_json(f"{ONE}/rounds", {"rounds": lines[::-1]})
    first = client.get(f"{ONE}/state", params={"sequence": 0}).text
    exported = client.get(f"{ONE}/log").text
    assert len(exported.splitlines()) == 20
    assert json.loads(first)["rounds"] == 0
