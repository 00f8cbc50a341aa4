"""Answers that only read: the past, the summary, metrics, the document and pages."""

import json
import time
from typing import Any

import pytest

from normalhedge import Mixture
from tests.service.examples import ONE, ask
from tests.service.running import Asked


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


def test_the_past_has_losses_and_weights_by_time(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "loss": "absolute"})
    first = ask(client, "predict", {"forecasts": {"a": 1.0, "b": 3.0, "c": None}, "id": "x"})[1]
    ask(client, "rounds", {"rounds": [{"forecasts": {"a": 2.0, "b": 2.0}}, {"a": 0.0}]})
    ask(client, "outcome", {"id": "x", "outcome": 1.0})
    middle = time.time()
    ask(
        client,
        "outcomes",
        {"outcomes": [{"ticket": 2, "outcome": 5.0}, {"ticket": 9, "outcome": 1}]},
    )
    rounds = client.get(f"{ONE}/history").json()["rounds"]
    assert [one["ticket"] for one in rounds] == [0, 2]
    one = rounds[0]
    assert one["id"] == "x"
    assert one["weights"] == first["weights"]
    assert one["losses"] == {"a": 0.0, "b": 2.0, "c": None}
    assert (one["loss"], one["plain_mean_loss"]) == (abs(first["prediction"] - 1.0), 1.0)
    later = client.get(f"{ONE}/history", params={"since": middle}).json()["rounds"]
    assert [one["ticket"] for one in later] == [2]
    assert later[0]["losses"] == {"a": 5.0}
    assert client.get(f"{ONE}/history", params={"until": 1.0}).json()["rounds"] == []
    last = client.get(f"{ONE}/history", params={"limit": 1}).json()["rounds"]
    assert [one["ticket"] for one in last] == [2]
    ask(client, "correct", {"ticket": 0, "outcome": 3.0})
    corrected = client.get(f"{ONE}/history").json()["rounds"]
    assert [(one["ticket"], one["outcome"]) for one in corrected] == [(0, 3.0), (2, 5.0)]
    waiting = client.get(f"{ONE}/pending").json()["pending"]
    assert [one["ticket"] for one in waiting] == [1]
    assert waiting[0]["time"] <= middle


@pytest.mark.parametrize(
    ("loss", "forecasts", "outcome", "losses"),
    [
        ("square", {"a": [1.0, 2.0], "b": [3.0, 2.0]}, [1.0, 2.0], {"a": 0.0, "b": 2.0}),
        ("square", {"a": {"n": 1.0, "s": 2.0}, "b": {"n": 3.0}}, {"n": 1.0}, {"a": 0.0, "b": 4.0}),
        ("log", {"a": [0.9, 0.1], "b": [0.2, 0.8]}, 0, {"a": 0.105361, "b": 1.609438}),
        ("pinball:level=0.9", {"a": 1.0, "b": 3.0}, 2.0, {"a": 0.9, "b": 0.1}),
        ("huber:delta=0.5", {"a": 1.0, "b": 3.0}, 1.25, {"a": 0.03125, "b": 0.75}),
        ("expectile:level=0.8", {"a": 1.0, "b": 3.0}, 2.0, {"a": 0.8, "b": 0.2}),
        ("mape", {"a": 1.0, "b": 3.0}, 2.0, {"a": 0.5, "b": 0.5}),
        ("smape", {"a": 1.0, "b": -3.0}, 2.0, {"a": 2 / 3, "b": 2.0}),
        ("brier", {"a": [0.9, 0.1], "b": [0.2, 0.8]}, 0, {"a": 0.02, "b": 1.28}),
        ("crps:levels=0.1/0.5/0.9", {"a": [1, 2, 3], "b": [1, 1, 1]}, 2, {"a": 2 / 15, "b": 1.0}),
    ],
)
def test_losses_of_all_forms(
    client: Asked, loss: str, forecasts: Any, outcome: Any, losses: dict[str, float]
) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "loss": loss})
    assert ask(client, "predict", {"forecasts": forecasts})[0] == 200
    assert ask(client, "outcome", {"ticket": 0, "outcome": outcome})[0] == 200
    (one,) = client.get(f"{ONE}/history").json()["rounds"]
    assert one["losses"] == pytest.approx(losses, rel=1e-5)
    health = client.get(ONE).json()
    assert one["loss"] == pytest.approx(health["loss"])


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


def test_overdue_outcomes_and_a_mixture_worse_than_the_plain_mean(
    client: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "follow-the-leader"})
    now = [1000.0]
    monkeypatch.setattr("normalhedge.service._registry.time.time", lambda: now[0])
    for k in range(10):
        ask(client, "predict", {"forecasts": {"a": 1.0, "b": -1.0}})
        now[0] += 10.0
        ask(client, "outcome", {"ticket": k, "outcome": 0.9 if k % 2 else -1.0})
    ask(client, "predict", {"forecasts": {"a": 1.0, "b": -1.0}})

    def health() -> Any:
        return client.get("/v1/mixtures").json()["mixtures"][0]

    assert health()["overdue"] == 0
    assert health()["worse_than_plain_mean"]
    now[0] += 15.0
    assert health()["overdue"] == 0
    now[0] += 10.0
    assert health()["overdue"] == 1


def test_metrics(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "interval": 0.9})
    for k in range(3):
        ask(client, "predict", {"forecasts": {"a": 1.0, "b": -1.0}}, f"k{k}")
        ask(client, "outcome", {"ticket": k, "outcome": 0.5}, f"o{k}")
    ask(client, "outcome", {"ticket": 2, "outcome": 0.5}, "o2")
    ask(client, "outcome", {"ticket": 2, "outcome": 0.5})
    text = client.get("/metrics").text
    for line in (
        'normalhedge_requests_total{route="predict",status="200"} 3.0',
        'normalhedge_requests_total{route="outcome",status="409"} 1.0',
        'normalhedge_request_seconds_count{route="predict"} 3.0',
        "normalhedge_ready 1.0",
        "normalhedge_mixtures 1.0",
        "normalhedge_events_total 7.0",
        "normalhedge_replays_total 1.0",
        'normalhedge_mixture_rounds{mixture="load"} 3.0',
        'normalhedge_mixture_pending{mixture="load"} 0.0',
        'normalhedge_mixture_requests_total{mixture="load"} 7.0',
        'normalhedge_mixture_coverage{level="0.9",mixture="load"} 1.0',
    ):
        assert line in text.splitlines(), line
    assert 'normalhedge_mixture_loss_ratio{mixture="load"}' in text


def test_the_document_and_its_page_work_offline(client: Asked) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(names) == len(set(names)) > 20
    text = json.dumps(document)
    for part in text.split('"$ref": "#/components/schemas/')[1:]:
        assert part.partition('"')[0] in document["components"]["schemas"]
    page = client.get("/docs").text
    for name in ("docs.js", "docs.css"):
        assert f"/pages/{name}" in page
        assert client.get(f"/pages/{name}").status_code == 200
    assert "//" not in page.replace("<!doctype", "")  # nothing from elsewhere


def test_health_is_open(client: Asked) -> None:
    assert client.get("/healthz").json()["ok"]
    assert client.get("/readyz").json()["ok"]
