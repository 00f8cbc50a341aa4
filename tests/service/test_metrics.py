"""Numbers for Prometheus."""

import time
from typing import Any

import numpy as np

from tests.service.examples import ask
from tests.service.running import Asked


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


def test_alerts_of_a_model_that_stops_and_of_a_copy(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
    rng, lines = np.random.default_rng(0), list[dict[str, Any]]()
    for t in range(90):
        said = {name: float(rng.normal()) for name in "abc"}
        said["twin"] = said["b"]
        if t >= 80:
            del said["a"]
        lines += [{"forecasts": said}, {"ticket": t, "outcome": 0.0}]
    client.send_json("/v1/mixtures/load/rounds", {"rounds": lines})
    wanted = 'normalhedge_mixture_alerts{kind="stopped",mixture="load"} 1.0'
    for _ in range(100):  # they are looked for once in a second
        metrics = client.get("/metrics").text.splitlines()
        if wanted in metrics:
            break
        time.sleep(0.1)
    assert wanted in metrics
    assert 'normalhedge_mixture_alerts{kind="copy",mixture="load"} 1.0' in metrics
    assert 'normalhedge_mixture_alerts{kind="degraded",mixture="load"} 0.0' in metrics
    alerts = client.get("/v1/mixtures/load").json()["alerts"]
    assert [(one["kind"], one["expert"]) for one in alerts] == [("stopped", "a"), ("copy", "twin")]
    summary = client.get("/v1/mixtures/load/summary").json()
    assert summary["alerts"] == alerts
    assert f"Alert: {alerts[0]['text']}." in summary["text"]
