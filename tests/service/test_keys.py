"""Idempotency: the same key again gets the stored answer, and nothing is done twice."""

import threading
from typing import Any

import pytest

from normalhedge import Mixture
from normalhedge.service._recovery import state_text
from tests.service.examples import ONE, OPTIONS, ask
from tests.service.running import Asked, served


def test_the_same_key_gets_the_same_answer_also_after_a_restart(db: str) -> None:
    body = {"forecasts": {"a": 1.0, "b": 2.0}}
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"}, "make")
        assert client.send_json("/v1/mixtures", {"name": "load"}, "make")["name"] == "load"
        first = ask(client, "predict", body, "k")
        again = client.post(f"{ONE}/predict", json=body, headers={"idempotency-key": "k"})
        assert (again.status_code, again.json()) == first
        assert again.headers["idempotency-replayed"] == "true"
        reordered = {"forecasts": {"b": 2.0, "a": 1.0}}
        assert ask(client, "predict", reordered, "k") == first
        status, answer = ask(client, "predict", {"forecasts": {"a": 1.5}}, "k")
        assert status == 409
        assert "Idempotency-Key" in answer["error"]
        assert ask(client, "outcome", {"ticket": 0, "outcome": 1.0}, "k")[0] == 409
        assert ask(client, "outcome", {"ticket": 0, "outcome": 1.0}, "o") == (200, {"settled": 0})
    with served(db) as url, Asked(url) as client:
        assert ask(client, "predict", body, "k") == first
        assert ask(client, "outcome", {"ticket": 0, "outcome": 1.0}, "o") == (200, {"settled": 0})
        assert ask(client, "outcome", {"ticket": 0, "outcome": 1.0})[0] == 409
        health = client.get(ONE).json()
        assert (health["rounds"], health["settled"]) == (1, 1)
        client.send_json("/v1/mixtures", {"name": "wind"})
        other = client.post(
            "/v1/mixtures/wind/predict",
            json={"forecasts": {"c": 1}},
            headers={"idempotency-key": "k"},
        )
        assert other.json()["ticket"] == 0  # keys belong to a mixture


def test_a_key_that_is_sent_by_many_at_once_is_done_once(db: str) -> None:
    found: list[Any] = []
    with served(db) as url:
        with Asked(url) as client:
            client.send_json("/v1/mixtures", {"name": "load"})

        def work() -> None:
            with Asked(url) as own:
                found.append(ask(own, "predict", {"forecasts": {"a": 1.0}}, "same"))

        threads = [threading.Thread(target=work) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with Asked(url) as client:
            assert client.get(ONE).json()["rounds"] == 1
    assert len(found) == 12
    assert all(one == found[0] for one in found)


def test_a_refusal_does_not_use_up_a_key(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    assert ask(client, "predict", {"forecasts": {"a": "x"}}, "k")[0] == 422
    assert ask(client, "predict", {"forecasts": {"a": 1.0}}, "k")[0] == 200


def test_keys_of_renaming_and_deleting(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    for _ in range(2):
        renamed = client.patch(ONE, json={"name": "wind"}, headers={"idempotency-key": "r"})
        assert renamed.json()["name"] == "wind"
    for _ in range(2):
        gone = client.delete("/v1/mixtures/wind", headers={"idempotency-key": "d"})
        assert gone.status_code == 200
    assert client.delete("/v1/mixtures/wind").status_code == 404
    bad = client.delete("/v1/mixtures/wind", headers={"idempotency-key": "x" * 201})
    assert bad.status_code == 422


@pytest.mark.parametrize("depth", [100, 300, 450, 480, 490, 495, 500, 520, 900, 990])
def test_deep_ids_with_keys(small: Asked, depth: int) -> None:
    content = b'{"forecasts": {"a": 1.0}, "id": ' + b"[" * depth + b"]" * depth + b"}"
    headers = {"content-type": "application/json", "idempotency-key": f"deep-{depth}"}
    answer = small.post(f"{ONE}/predict", content=content, headers=headers)
    assert answer.status_code == 200 if depth <= 300 else answer.status_code in {200, 400, 422}


def test_the_key_of_an_import_covers_the_state(db: str) -> None:
    def saved(outcome: float) -> str:
        mixture = Mixture(**OPTIONS)
        mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, outcome)
        return state_text(mixture)

    first, second = saved(1.0), saved(1.5)
    headers = {"idempotency-key": "k", "content-type": "application/json"}
    for _ in range(2):  # also after a restart
        with served(db) as url, Asked(url) as client:
            answers = [
                client.put("/v1/mixtures/copy/state", content=text, headers=headers)
                for text in (first, first, second)
            ]
            assert [answer.status_code for answer in answers] == [201, 201, 409]
            assert answers[1].headers["idempotency-replayed"] == "true"
            assert "this Idempotency-Key was used for another request" in answers[2].text
            assert client.get("/v1/mixtures/copy/state").text == first
