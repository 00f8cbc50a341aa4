"""Requests and answers at the edge: paths, methods, headers, bodies and streams."""

import json
import select
import socket
from typing import Any

import httpx
import pytest

from tests.service.examples import ONE, talk
from tests.service.running import Asked


def test_headers_of_answers(client: Asked) -> None:
    for path in ("/v1/mixtures", "/nowhere", "/healthz", "/docs"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers


def test_a_stream_that_fails_midway_has_no_end(
    client: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    asked = []

    async def fail(*_: Any) -> Any:
        asked.append(1)
        if len(asked) > 5:
            raise ZeroDivisionError
        return b"{}\n", len(asked)

    monkeypatch.setattr("normalhedge.service._memory.Memory.aside", fail)
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(f"{ONE}/log")
    assert len(asked) == 6
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[-1]["error"].startswith("ZeroDivisionError")
    assert client.get("/healthz").status_code == 200


def test_paths_and_methods_that_are_not_there(small: Asked) -> None:
    assert small.get("/nothing").status_code == 404
    assert small.get("/v1/mixtures/load/nothing").status_code == 404
    assert small.get("/v1/mixtures/a/b/c").status_code == 404
    assert small.get("/v1/mixtures/").status_code == 404
    assert small.get("/v1/mixtures/..%2f..%2fetc").status_code == 404
    assert small.get("/dashboard/../server.py").status_code == 404
    wrong = small.get(f"{ONE}/predict")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert small.head("/v1/mixtures").status_code == 200
    wrong = small.put(ONE)
    assert wrong.headers["allow"] == "DELETE, GET, HEAD, PATCH"
    assert wrong.json()["error"] == "this address answers to DELETE, GET, HEAD, PATCH only"
    assert small.post("/dashboard/main.js").json()["error"].endswith("answers to GET, HEAD only")
    assert small.get(f"{ONE}/history", params={"limit": "x"}).status_code == 422
    assert small.get(f"{ONE}/history", params={"since": "nan"}).status_code == 422
    assert small.get(f"{ONE}/history?%ff=1&&&=").status_code in {200, 400}


def test_the_head_of_a_stream_ends(small: Asked) -> None:
    for path in (f"{ONE}/events", f"{ONE}/log", "/v1/events"):
        answer = small.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_files_are_asked_for_again_but_not_sent_again(small: Asked) -> None:
    first = small.get("/dashboard/main.js")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    again = small.get("/dashboard/main.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for _ in range(3):  # an answer does not grow with the number of requests
        pages = [small.get(path).headers for path in ("/", "/docs", "/dashboard/index.html")]
    for headers in pages:
        assert headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self'" in headers["content-security-policy"]
        assert len(headers.get_list("x-content-type-options")) == 1


HEAD = (
    b"POST /v1/mixtures/load/predict HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\n"
)


@pytest.mark.parametrize("named", [b"", b"content-type: application/json\r\n"])
def test_a_refusal_comes_after_the_request(small: Asked, named: bytes) -> None:
    """Proxies lose an answer that comes before the whole request was sent."""
    with socket.create_connection(("127.0.0.1", small.base_url.port or 0)) as connection:
        head = b"POST /v1/mixtures/none/predict HTTP/1.1\r\nhost: localhost\r\n" + named
        connection.sendall(head + b"content-length: 10\r\n\r\n[1,")
        assert not select.select([connection], [], [], 0.1)[0]
        connection.sendall(b"2,3,4]\n")
        status = int(connection.recv(65_536)[9:12])
        assert status == (404 if named else 415)


def test_a_body_that_does_not_arrive_is_given_up(small: Asked) -> None:
    said = talk(small, HEAD + b"content-length: 100\r\n\r\n{")
    assert said.startswith(b"HTTP/1.1 408")
    assert b"took too long" in said
    before = small.get(f"{ONE}/state").text
    with socket.create_connection(("127.0.0.1", small.base_url.port or 0)) as cut:
        cut.sendall(HEAD + b'content-length: 30\r\n\r\n{"forecasts": {"a": ')
    assert small.get(f"{ONE}/state").text == before


def test_a_body_without_end_is_given_up(small: Asked) -> None:
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    said = talk(small, HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunk * 10)
    assert said.startswith(b"HTTP/1.1 413")
