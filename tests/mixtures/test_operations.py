"""Operations of a stream, done and repeated."""

import json
from typing import Any

from normalhedge import Mixture
from normalhedge.mixtures.state._operations import Operation
from normalhedge.mixtures.streams._stream import Stream
from tests.rules import either


@either
def test_operations_are_what_was_done(hedger: str | None) -> None:
    done: list[Operation] = []
    stream = Stream(Mixture(hedger), done.append)
    said: list[dict[str, Any]] = [
        {"forecasts": {"a": 1.0}, "id": None},
        {"id": None, "outcome": 2.0, "forecasts": {"a": "x"}},
        {"forecasts": {"a": 1.0}, "confidence": {"a": 0.5}},
        {"ticket": 7, "outcome": 1.0},
    ]
    list(stream.answers(map(json.dumps, said)))
    assert done == [
        {"predict": {"a": 1.0}, "id": None, "ticket": 0},
        {"update": 0, "outcome": 2.0, "id": None},
        {"predict": {"a": 1.0}, "confidence": {"a": 0.5}, "ticket": 1},
    ]
    assert stream.refused == 2
    assert stream.mixture.ids == {}


def test_an_outcome_by_ticket_leaves_the_ids_of_others_alone() -> None:
    stream = Stream(Mixture())
    said = ['{"forecasts": {"a": 1}, "id": null}', '{"a": 1}', '{"ticket": 1, "outcome": 1}']
    list(stream.answers(said))
    assert stream.mixture.ids == {"null": 0}
