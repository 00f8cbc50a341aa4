"""Contexts behind HTTP: the numbers of a `Mixture`, after a restart too; bad input."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Client, Mixture
from tests.mixtures.test_contexts import hours
from tests.service.examples import ONE, ask
from tests.service.running import Asked, served


def test_the_service_has_the_numbers_of_a_mixture(tmp_path: Path) -> None:
    rounds, own = hours(days=8), Mixture()
    for part in (rounds[:24], rounds[24:]):  # the second process reads the log of the first
        with served(tmp_path / "log.db") as address, Client(address) as far:
            mixture = far.mixture("load")
            for forecasts, context, outcome in part:
                expected = own.predict(forecasts, context=context)
                found = mixture.peek(forecasts, context=context)
                assert found.value == expected.value
                found = mixture.predict(forecasts, context=context)
                assert (found.value, found.weights) == (expected.value, expected.weights)
                mixture.update(found.ticket, outcome)
                own.update(expected.ticket, outcome)
            notes = mixture.summary().details["notes"]
            assert own.summary().by_context in notes


def test_the_client_takes_contexts_of_items_and_of_numpy(server: str) -> None:
    own = Mixture()
    forecasts = {"a": [1.0, 2.0], "b": [2.0, 4.0]}
    contexts: list[dict[str, Any]] = [
        {"hour": np.int64(7), "place": ["x", "y"]},
        {"hour": 8.0, "place": np.array(["y", "x"])},
        {"hour": None, "place": ["x", None]},
    ]
    with Client(server) as far:
        mixture = far.mixture("items")
        for context in contexts:
            expected = own.predict(forecasts, context=context)
            found = mixture.predict(forecasts, context=context)
            np.testing.assert_array_equal(found.value, expected.value)
            mixture.update(found.ticket, [1.0, 2.0])
            own.update(expected.ticket, [1.0, 2.0])


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"a": 1.5}, "must be a category"),
        ({"a=b": 1}, "no '='"),
        ({"a": "x" * 101}, "at most 100 characters"),
        ({"a": [1, 2]}, "must be text, a whole number"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "at most 3 contexts"),
        ([1], "context"),
        ("hour", "context"),
    ],
)
def test_a_bad_context_is_a_sentence(client: Asked, context: Any, words: str) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    status, answer = ask(client, "predict", {"forecasts": {"a": 1.0}, "context": context})
    assert status == 422
    assert words in str(answer)
    assert client.get(f"{ONE}/state").json()["rounds"] == 0


def test_a_single_rule_refuses_contexts(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "normal-hedge"})
    for verb in ("predict", "peek"):
        status, answer = ask(client, verb, {"forecasts": {"a": 1.0}, "context": {"hour": 1}})
        assert status == 422
        assert "context needs the hedger" in str(answer)
