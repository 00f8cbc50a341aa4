"""Numbers for Prometheus."""

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
