"""The service as an application of ASGI, behind another server and other people's middleware."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount

from normalhedge.service import Settings, app
from tests.service.examples import ONE
from tests.service.running import Asked, served
from tests.service.talking import Talk

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@contextmanager
def behind_uvicorn(application: Any, lifespan: Any = "on") -> Iterator[str]:
    """Serve an application by uvicorn as people run it; yield the address."""
    config = uvicorn.Config(application, port=0, lifespan=lifespan, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def test_it_owns_its_database_while_it_runs(tmp_path: Path) -> None:
    settings = Settings(db=str(tmp_path / "a.db"))
    for rounds in range(2):
        with behind_uvicorn(app(settings)) as url, Asked(url) as client:
            assert client.get("/readyz").json()["ok"] is True
            if not rounds:
                client.send_json("/v1/mixtures", {"name": "load"})
            assert client.get(ONE).json()["rounds"] == rounds
            client.send_json(f"{ONE}/predict", {"forecasts": {"a": 1.0}})
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]  # given up: no lock


def test_one_application_may_be_started_again(db: str) -> None:
    """As the tests of other people do."""
    application = app(Settings(db=db))
    for rounds in range(3):
        with behind_uvicorn(application) as url, Asked(url) as client:
            if not rounds:
                client.send_json("/v1/mixtures", {"name": "load"})
            assert client.get("/readyz").json()["ok"] is True
            assert client.get(ONE).json()["rounds"] == rounds
            client.send_json(f"{ONE}/predict", {"forecasts": {"a": 1.0}})
            with Talk(url, f"{ONE}/events", "GET") as told:  # open answers can be opened again
                told.head()
                assert b"hello" in told.hear()


def test_without_its_lifespan_it_says_so(tmp_path: Path) -> None:
    with (
        behind_uvicorn(app(Settings(db=str(tmp_path / "a.db"))), "off") as url,
        Asked(url) as client,
    ):
        assert client.get("/healthz").status_code == 200
        for path in ("/readyz", "/v1/mixtures"):
            answer = client.get(path)
            sentence = "this server has not started: its ASGI server must run the lifespan"
            assert (answer.status_code, answer.json()["error"]) == (503, sentence)
    assert list(tmp_path.iterdir()) == []


def test_unsafe_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give --token-file"):
        app(Settings(db=str(tmp_path / "a.db"), host="0.0.0.0"))
    with pytest.raises(ValueError, match="no file of tokens"):
        app(Settings(db=str(tmp_path / "a.db"), token_file=str(tmp_path / "none")))


def test_middleware_of_starlette_fits_around_it(tmp_path: Path) -> None:
    application = GZipMiddleware(app(Settings(db=str(tmp_path / "a.db"))), minimum_size=10)
    with behind_uvicorn(application) as url, Asked(url) as client:
        answer = client.get("/openapi.json")
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.json()["openapi"] == "3.1.0"
        assert client.get("/nowhere").json()["error"].startswith("there is nothing")


def test_it_may_be_a_part_of_another_application(tmp_path: Path) -> None:
    inner = app(Settings(db=str(tmp_path / "a.db")))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with inner.router.lifespan_context(inner):
            yield

    outer = Starlette(routes=[Mount("/blends", inner)], lifespan=lifespan)
    with behind_uvicorn(outer) as url, Asked(f"{url}/blends") as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        assert client.get("/v1/mixtures").json()["mixtures"][0]["name"] == "load"
        assert client.put("/v1/mixtures").headers["allow"] == "GET, HEAD, POST"


def test_opentelemetry_follows_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("opentelemetry.instrumentation.asgi")
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: PLC0415
        InMemorySpanExporter,
    )

    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    settings = Settings(db=str(tmp_path / "a.db"), log_requests=True)
    application = OpenTelemetryMiddleware(app(settings), tracer_provider=provider)
    with behind_uvicorn(application) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        answer = client.post(
            f"{ONE}/predict", json={"forecasts": {"a": 1.0}}, headers={"traceparent": PARENT}
        )
        assert answer.headers["traceparent"] == PARENT
    found = [span for span in spans.get_finished_spans() if span.context.trace_id == int(TRACE, 16)]
    assert any(span.attributes["http.status_code"] == 200 for span in found if span.attributes
               and "http.status_code" in span.attributes)  # fmt: skip
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [line for line in lines if line.get("route") == "predict"]
    assert line["trace"] == TRACE


@pytest.mark.parametrize(
    ("given", "request_id", "echoed"),
    [
        ({"x-request-id": "a-1"}, "a-1", None),
        ({"traceparent": PARENT}, TRACE, PARENT),
        ({"x-request-id": "a-1", "traceparent": PARENT}, "a-1", PARENT),
        ({"x-request-id": "x" * 201}, None, None),
        ({"x-request-id": "two words"}, None, None),
        ({"x-request-id": ""}, None, None),
        ({"traceparent": f"00-{'0' * 32}-00f067aa0ba902b7-01"}, None, None),
        ({"traceparent": f"00-{TRACE}-{'0' * 16}-01"}, None, None),
        ({"traceparent": PARENT.upper()}, None, None),
        ({"traceparent": PARENT + "-" + "x" * 200}, None, None),
    ],
)
def test_ids_of_requests_are_taken_and_echoed(
    small: Asked, given: dict[str, str], request_id: str | None, echoed: str | None
) -> None:
    """One that is not well formed is left out, and the request is answered."""
    for path, status in (("/v1/mixtures", 200), ("/healthz", 200), ("/nowhere", 404), ("/", 200)):
        answer = small.get(path, headers=given)
        assert answer.status_code == status
        if request_id is not None:
            assert answer.headers["x-request-id"] == request_id
        else:
            assert len(answer.headers["x-request-id"]) < 40
            assert answer.headers["x-request-id"] != given.get("x-request-id")
        assert answer.headers.get("traceparent") == echoed


def test_lines_of_the_log_say_who_sent_the_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from normalhedge.service.access import new_token  # noqa: PLC0415

    file = tmp_path / "tokens"
    token = new_token(file, "boss", "admin")
    monkeypatch.setattr("normalhedge.service._mixture_kind._weights", lambda _: 1 / 0)
    with served(tmp_path / "a.db", token_file=str(file), log_requests=True) as url:
        with Asked(url, token) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
            assert client.get(ONE, headers={"x-request-id": "broken"}).status_code == 500
        with Asked(url, "nobody") as client:
            assert client.get(ONE, headers={"x-request-id": "curious"}).status_code == 401
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    named = {(line["what"], line.get("status")): line for line in lines if "request" in line}
    failed = next(line for line in lines if line.get("error", "").startswith("ZeroDivision"))
    assert (failed["token"], failed["address"], failed["request"]) == (
        "boss",
        "127.0.0.1",
        "broken",
    )
    assert named["request", 201]["token"] == "boss"
    assert "token" not in named["request", 401]
    assert named["request", 401]["request"] == "curious"
