"""What each address answers, over real connections."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.service._recovery import state_text
from tests.service.examples import ONE, OPTIONS
from tests.service.running import Asked, served


def rounds(count: int, experts: int = 3) -> list[tuple[dict[str, float], float]]:
    rng = np.random.default_rng(0)
    return [
        ({f"e{k}": float(rng.normal()) for k in range(experts)}, float(rng.normal()))
        for _ in range(count)
    ]


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


@pytest.mark.parametrize("name", ["", " ", "a/b", "ä", "x" * 101, "-a", ".."])
def test_names_that_cannot_be_part_of_an_address_are_refused(client: Asked, name: str) -> None:
    assert client.post("/v1/mixtures", json={"name": name}).status_code == 422


def test_mixtures_are_renamed_and_deleted(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    assert client.post("/v1/mixtures", json={"name": "load"}).status_code == 409
    assert client.patch(ONE, json={"name": "wind"}).json()["name"] == "wind"
    assert client.get(ONE).status_code == 404
    assert client.delete("/v1/mixtures/wind").status_code == 200
    assert client.get("/v1/mixtures").json()["mixtures"] == []
    client.send_json("/v1/mixtures", {"name": "wind"})


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for forecasts, outcome in rounds(5):
            ticket = client.send_json(f"{ONE}/predict", {"forecasts": forecasts})["ticket"]
            client.send_json(f"{ONE}/outcome", {"ticket": ticket, "outcome": outcome})
        before = client.get(f"{ONE}/state").text
    with served(tmp_path / "a.db") as url, Asked(url) as client:
        assert client.get(f"{ONE}/state").text == before
