"""Events as they happen."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from normalhedge.service._limits import Limits
from tests.service.examples import ONE, ask
from tests.service.running import Asked, served


def messages(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    """Yield the messages of a stream of events."""
    kind = ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def test_what_happens_to_a_mixture_is_told(db: str) -> None:
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        check_what_is_told(client)


def check_what_is_told(client: Asked) -> None:
    with Asked(str(client.base_url)) as other, other.stream("GET", f"{ONE}/events") as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        told = messages(answer)
        assert next(told)[0] == "hello"
        ask(client, "predict", {"forecasts": {"a": 1.0, "b": 3.0}, "id": "x"})
        kind, first = next(told)
        assert kind == "events"
        assert first["events"][0]["predicted"][0]["prediction"] == 2.0
        assert first["health"]["pending"] == 1
        ask(client, "outcome", {"ticket": 0, "outcome": 1.0})
        settled = next(told)[1]["events"][0]["settled"][0]
        assert (settled["loss"], settled["plain_mean_loss"]) == (1.0, 1.0)
        assert settled["losses"] == {"a": 0.0, "b": 4.0}
        ask(client, "experts", {"retire": "a"})
        assert next(told)[1]["events"][0]["change"] == {"retire": "a"}


def test_the_health_of_all_is_told(client: Asked) -> None:
    with Asked(str(client.base_url)) as other, other.stream("GET", "/v1/events") as answer:
        told = messages(answer)
        assert next(told)[0] == "hello"
        client.send_json("/v1/mixtures", {"name": "load"})
        assert next(told)[1]["names"] == ["load"]
        ask(client, "predict", {"forecasts": {"a": 1.0}})
        kind, content = next(told)
        assert kind == "health"
        assert content["mixtures"][0]["rounds"] == 1


def test_many_events_are_told_in_part(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    with Asked(str(client.base_url)) as other, other.stream("GET", f"{ONE}/events") as answer:
        told = messages(answer)
        next(told)
        for _ in range(4):
            rounds = {"rounds": [{"forecasts": {"a": 1.0}}] * 200}
            ask(client, "rounds", rounds)
        seen = 0
        while seen < 4:
            content = next(told)[1]
            seen += len(content["events"]) + content["skipped"]
            assert all(len(event["predicted"]) <= 50 for event in content["events"])


def test_there_are_at_most_so_many_listeners_and_a_stop_lets_them_go(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=Limits(listeners=1)) as url:
        first = Asked(url)
        stream = first.stream("GET", "/v1/events")
        told = messages(stream.__enter__())
        assert next(told)[0] == "hello"
        with Asked(url) as client:
            assert client.get("/v1/events").status_code == 503
    assert list(told) == []
    first.close()
