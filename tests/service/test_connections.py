"""Requests that a client cannot send by mistake: heads, headers and connections, byte by byte."""

import json
import socket
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from normalhedge.service._limits import Limits
from normalhedge.service.access import new_token
from tests.service.examples import ONE, talk
from tests.service.running import Asked, served

UNREADABLE = "this is no request of HTTP/1.1 that this server can read"
BODY = b'{"forecasts": {"a": 1.0}}'


def test_a_connection_that_says_nothing_is_closed(tmp_path: Path) -> None:
    limits = Limits(header_seconds=0.3)
    with served(tmp_path / "a.db", limits=limits) as url, Asked(url) as client:
        assert talk(client) == b""
        said = talk(client, b"GET /healthz HTTP/1.1\r\nhost: local")
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b"the head of the request did not arrive within 0.3 seconds" in said
        assert client.get("/healthz").status_code == 200


def test_a_head_without_end_is_given_up(small: Asked) -> None:
    line = b"x: " + b"y" * 1000 + b"\r\n"
    head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"
    said = talk(small, head + line * 70)
    assert said.startswith(b"HTTP/1.1 431 ")
    assert b"the address and the headers must have at most 65536 bytes" in said
    with suppress(ConnectionError):  # it may be closed before all was sent
        assert b" 200 " not in talk(small, head + line * 2000)
    said = talk(small, b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 431 ")
    assert small.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "message",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # somebody speaks TLS
        b"HELLO\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\nhost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: local\x00host\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n"
        b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n"
        b"content-length: 4\r\n\r\nabcd",
    ],
)
def test_what_is_no_request_gets_a_sentence(small: Asked, message: bytes) -> None:
    said = talk(small, message)
    assert said.startswith(b"HTTP/1.1 400 ")
    head, _, body = said.partition(b"\r\n\r\n")
    assert json.loads(body) == {"error": UNREADABLE, "status": 400}
    assert b"content-type: application/json" in head
    assert b"connection: close" in head


def test_a_chunk_that_is_none_gets_no_answer_of_success(small: Asked) -> None:
    head = b"POST %b/predict HTTP/1.1\r\nhost: localhost\r\n" % ONE.encode()
    head += b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    before = small.get(ONE).json()["rounds"]
    assert b" 200 " not in talk(small, head + b"zz\r\n" + BODY)
    assert small.get(ONE).json()["rounds"] == before


def ask(client: httpx.Client, *headers: tuple[bytes, bytes], body: bytes = BODY) -> httpx.Response:
    """Send forecasts with headers as they are, also twice."""
    request = client.build_request("POST", f"{ONE}/predict", content=body)
    request.headers = httpx.Headers([*request.headers.raw, *headers])
    return client.send(request)


JSON = (b"content-type", b"application/json")
KEY = "an Idempotency-Key must have 1 to 200 characters of ASCII without spaces"
TYPE = "the Content-Type of this request must be application/json"
OTHERS = "requests of pages of other sites are not answered"


@pytest.mark.parametrize(
    ("headers", "status", "sentence"),
    [
        ([], 415, TYPE),
        ([(b"content-type", b"text/plain")], 415, TYPE),
        ([(b"content-type", b"\xff\xfe")], 415, TYPE),
        ([(b"content-type", b"")], 415, TYPE),
        ([JSON, (b"idempotency-key", b"")], 422, KEY),
        ([JSON, (b"idempotency-key", b"two words")], 422, KEY),
        ([JSON, (b"idempotency-key", b"x" * 201)], 422, KEY),
        ([JSON, (b"idempotency-key", "schl\u00fcssel".encode())], 422, KEY),
        ([JSON, (b"origin", b"http://evil.example")], 403, OTHERS),
        ([JSON, (b"origin", b"null")], 403, OTHERS),
        ([JSON, (b"origin", b"\xff")], 403, OTHERS),
        ([JSON, (b"sec-fetch-site", b"cross-site")], 403, OTHERS),
        ([JSON, (b"sec-fetch-site", b"same-site")], 403, OTHERS),
    ],
)
def test_headers_that_are_refused(
    small: Asked, headers: list[tuple[bytes, bytes]], status: int, sentence: str
) -> None:
    before = small.get(f"{ONE}/state").text
    answer = ask(small, *headers)
    assert (answer.status_code, answer.json()["error"]) == (status, sentence)
    assert small.get(f"{ONE}/state").text == before


HOST = "this server does not answer to that name: see --allow-host"


@pytest.mark.parametrize(
    "host", [b"evil.example", b"", b"localhost.evil.example", b"\xff", b"[::2]"]
)
def test_names_of_the_server_that_are_refused(small: Asked, host: bytes) -> None:
    said = talk(small, b"GET /v1/mixtures HTTP/1.1\r\nhost: %b\r\nconnection: close\r\n\r\n" % host)
    assert said.startswith(b"HTTP/1.1 403 ")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"] == HOST


WANTED = "this server wants a token: send the header 'Authorization: Bearer TOKEN'"


def test_tokens_that_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    boss, job = new_token(file, "boss", "admin"), new_token(file, "job", "write", ["wind"])
    with served(tmp_path / "a.db", token_file=str(file)) as url, Asked(url) as client:
        for said in (
            b"", b"Bearer", b"Bearer nh_", b"Basic Ym9zczpib3Nz", b"bearer\xff",
            b"Bearer " + b"x" * 20_000, boss.encode(), b"Bearer " + boss[:-1].encode(),
            b"Bearer " + boss.upper().encode(), b"Bearer " + b"\xff" * 43,
        ):  # fmt: skip
            answer = ask(client, JSON, (b"authorization", said))
            assert (answer.status_code, answer.json()["error"]) == (401, WANTED)
            assert answer.headers["www-authenticate"] == "Bearer"
        client.headers["authorization"] = f"bearer   {boss}"  # the scheme in any case
        client.send_json("/v1/mixtures", {"name": "load"})
        client.send_json("/v1/mixtures", {"name": "wind"})
        client.headers["authorization"] = f"Bearer {job}"
        for method, path, status, sentence in (
            ("GET", "/v1/mixtures/load", 404, "there is no mixture 'load'"),
            ("DELETE", "/v1/mixtures/wind", 403, "this needs a token with scope admin, not write"),
            ("GET", "/v1/events", 403, "this token is for some names: listen to each of them"),
        ):
            answer = client.request(method, path)
            assert (answer.status_code, answer.json()["error"]) == (status, sentence)


def test_too_many_connections_get_a_sentence(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=Limits(connections=4)) as url:
        port = int(url.rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
        try:
            answer = httpx.get(f"{url}/v1/mixtures")
            sentence = "too many connections are open: try again later"
            assert (answer.status_code, answer.json()["error"]) == (503, sentence)
            assert answer.headers["retry-after"] == "5"
        finally:
            for one in idle:
                one.close()


def test_an_expectation_is_met(small: Asked) -> None:
    """The client may wait for 100 Continue before it sends the body."""
    head = b"POST %b/peek HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n" % ONE.encode()
    head += b"content-type: application/json\r\nexpect: 100-continue\r\n"
    said = talk(small, head + b"content-length: %d\r\n\r\n" % len(BODY), BODY, pause=0.3)
    assert said.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")
