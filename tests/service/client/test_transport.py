"""Requests of the client: repeated with the same key, and answered by errors of Python."""

import subprocess
import sys

import httpx
import pytest

from normalhedge import Client
from normalhedge.service.client import NotAcknowledged, ServedMixture, _transport as transport
from normalhedge.service.client._transport import Answer, Attempts, Request


def test_a_server_that_is_gone_is_told_with_the_key() -> None:
    client = Client("http://127.0.0.1:9", patience=0.3)
    with pytest.raises(NotAcknowledged, match=r"within 0\.3 s") as caught:
        ServedMixture(client, "load").update(0, 1.0)
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.key is not None
    assert len(caught.value.key) == 32
    with pytest.raises(NotAcknowledged) as caught:
        client.names()
    assert caught.value.key is None


def test_pauses_grow_and_are_as_long_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("normalhedge.service.client._transport.time.monotonic", lambda: clock[0])
    attempts = Attempts(60.0, "key")
    pauses = [attempts.pause("no", None) for _ in range(9)]
    assert all(0.5 <= p / min(0.05 * 2**k, 5.0) <= 1.0 for k, p in enumerate(pauses))
    assert attempts.pause("no", 20.0) == 20.0
    with pytest.raises(NotAcknowledged):
        attempts.pause("no", 61.0)
    clock[0] = 58.0
    with pytest.raises(NotAcknowledged):
        attempts.pause("no", None)


@pytest.mark.parametrize("header", [None, "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "2"])
def test_retry_after_is_read(header: str | None) -> None:
    assert transport.read_wait(header) == {"2": 2.0, "-1": 0.0}.get(str(header))


def test_requests_are_sent_again_with_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str | None, bytes]] = []
    answers = [503, 429, 502, 200]

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers.get("idempotency-key"), request.read()))
        status = answers[len(seen) - 1]
        headers = {"retry-after": "7"} if status == 429 else {}
        return httpx.Response(status, json={"settled": 0}, headers=headers)

    slept: list[float] = []
    monkeypatch.setattr("normalhedge.service.client._transport.time.sleep", slept.append)
    client = Client("http://localhost:1")
    client._verbs._transport.http = httpx.Client(
        base_url=client.url, transport=httpx.MockTransport(handle)
    )
    ServedMixture(client, "load").update(0, 1.0)
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert slept[1] == 7.0
    assert max(slept[0], slept[2]) < 1.0


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, b'{"error": "who?"}', PermissionError),
        (403, b'{"error": "no"}', PermissionError),
        (404, b'{"error": "where?"}', KeyError),
        (409, b'{"error": "used"}', KeyError),
        (413, b'{"error": "long"}', ValueError),
        (422, b'{"error": "bad", "kind": "type"}', TypeError),
        (422, b'{"error": "bad", "kind": "value"}', ValueError),
        (500, b"<html>", RuntimeError),
        (302, b"", RuntimeError),
    ],
)
def test_answers_are_errors_of_python(status: int, body: bytes, error: type[Exception]) -> None:
    ask = Request("POST", "/v1/mixtures/load/outcome", bytes)
    with pytest.raises(error):
        transport.read_answer(ask, Answer(status, body))


def test_addresses_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="http://"):
        Client("localhost:8008")


def test_httpx_is_imported_when_it_is_used() -> None:
    program = (
        "import sys; import normalhedge; normalhedge.Client; assert 'httpx' not in sys.modules\n"
        "sys.modules['httpx'] = None\n"
        "try: normalhedge.Client('http://localhost:1')\n"
        "except ImportError as error: assert 'normalhedge[client]' in str(error), error\n"
        "else: raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
