"""Requests drawn from the OpenAPI document, and such as it forbids: never a status of 500."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.errors import InvalidArgument, Unsatisfiable

from tests.service.examples import ONE
from tests.service.running import Asked, served

schemathesis = pytest.importorskip("schemathesis")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
not_a_server_error = pytest.importorskip("schemathesis.checks").not_a_server_error

FEW = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
MANY = settings(FEW, max_examples=300)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("fuzz") / "a.db") as found:
        yield found


CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def send(url: str, case: Any) -> None:
    """Send a request, mostly to a mixture that is there."""
    with Asked(url) as client:
        client.post("/v1/mixtures", json={"name": "load"})
    if case.method != "DELETE" and case.path_parameters and len(str(case.body)) % 4:
        case.path_parameters["name"] = "load"
    case.validate_response(case.call(base_url=url, timeout=60), checks=CHECKS)


def check_document(url: str, chosen: settings) -> int:
    """Send requests to all routes but streams, which have no end or are no JSON; count them."""
    sent = 0
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    known: list[Any] = [found.ok() for found in schema.get_all_operations()]
    tried = [one for one in known if not one.path.endswith(("events", "/stream"))]
    assert len(tried) > 20
    for operation in tried:
        for mode in schemathesis.GenerationMode:

            @given(case=operation.as_strategy(generation_mode=mode))
            @chosen
            def play(case: Any) -> None:
                nonlocal sent
                send(url, case)
                sent += 1

            with suppress(InvalidArgument, Unsatisfiable):  # nothing of this kind to draw
                play()
    return sent


def test_requests_of_the_document(url: str) -> None:
    assert check_document(url, settings(FEW, max_examples=2)) > 50


@pytest.mark.slow
def test_many_requests_of_the_document(url: str) -> None:
    assert check_document(url, MANY) > 1000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
NUMBERS = st.dictionaries(st.sampled_from("abc"), JSON | st.floats(-10, 10))
LINES = st.fixed_dictionaries(
    {},
    optional={
        "forecasts": NUMBERS, "outcome": JSON, "ticket": st.integers(-1, 20) | JSON, "id": JSON,
        "confidence": NUMBERS, "correct": JSON, "leave": JSON, "retire": st.sampled_from("abc"),
        "rename": st.lists(st.sampled_from("abcd"), max_size=3), "inherit": JSON,
    },
)  # fmt: skip


def check_lines(url: str, lines: list[Any]) -> None:
    """Send lines in a batch and as a stream: each has an answer, and the log can be replayed."""
    with Asked(url) as client:
        client.post("/v1/mixtures", json={"name": "load"})
        text = json.dumps({"rounds": lines})
        headers = {"content-type": "application/json"}
        answer = client.post(f"{ONE}/rounds", content=text, headers=headers)
        assert answer.status_code in {200, 400}, answer.text
        if answer.status_code == 200:
            assert len(answer.json()["answers"]) == len(lines)
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        headers = {"content-type": "application/x-ndjson"}
        said = client.post(f"{ONE}/stream", content=text, headers=headers).text
        assert len(said.splitlines()) == len(lines)
        assert client.get(f"{ONE}/summary").status_code == 200
        assert client.get(f"{ONE}/history").status_code == 200


@given(lines=st.lists(LINES, max_size=8))
@settings(FEW, max_examples=15)
def test_lines(url: str, lines: list[Any]) -> None:
    check_lines(url, lines)


@pytest.mark.slow
@given(lines=st.lists(LINES, max_size=12))
@settings(MANY, max_examples=1500)
def test_many_lines(url: str, lines: list[Any]) -> None:
    check_lines(url, lines)


def test_the_log_of_all_this_is_replayed(tmp_path: Path) -> None:
    """What fuzzing left behind is the same after a restart."""

    @given(lines=st.lists(LINES, max_size=8))
    @settings(FEW, max_examples=15, database=None)
    def play(lines: list[Any]) -> None:
        check_lines(address, lines)

    with served(tmp_path / "a.db") as address, Asked(address) as client:
        play()
        state = client.get(f"{ONE}/state").text
    with served(tmp_path / "a.db") as address, Asked(address) as client:
        assert client.get(f"{ONE}/state").text == state
