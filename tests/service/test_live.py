"""The health of a mixture in memory."""

from typing import Any

import pytest

from tests.service.examples import ask
from tests.service.running import Asked


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
