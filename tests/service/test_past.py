"""Settled rounds, from the log."""

import time
from typing import Any

import pytest

from tests.service.examples import ONE, ask
from tests.service.running import Asked


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
