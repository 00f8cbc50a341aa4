"""The service behind nginx and Caddy, set up as the documents say; and HTTPS of its own."""

import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.examples import ONE, ask
from tests.service.proxies import caddy_version, program, proxied
from tests.service.running import Asked, process, served
from tests.service.talking import Talk

LINE = b'{"forecasts": {"a": 1.0, "b": 2.0}}'


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def behind(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a proxy in front of a server."""
    if program(request.param) is None:
        pytest.skip(f"{request.param} is not installed: make system PARTS=proxies")
    folder = tmp_path_factory.mktemp(request.param)
    with (
        served(folder / "a.db", trust_proxy=("127.0.0.1",), log_requests=True) as url,
        proxied(request.param, folder, url) as there,
        Asked(there) as client,
    ):
        client.send_json("/v1/mixtures", {"name": "load"})
        yield there


def test_large_requests_reach_the_server(behind: str) -> None:
    with Asked(behind) as client:
        lines = [{"forecasts": {"x" * 150: 1.0}} for _ in range(9_000)]
        body = json.dumps({"rounds": lines}).encode()
        assert 1_500_000 < len(body) < 2_000_000
        headers = {"content-type": "application/json"}
        answer = client.post(f"{ONE}/rounds", content=body, headers=headers)
        assert len(answer.json()["answers"]) == 9_000
        state = b'{"version": "' + b"x" * 3_000_000 + b'"}'
        answer = client.put("/v1/mixtures/copy/state", content=state, headers=headers)
        assert answer.status_code == 422
        assert "state" in answer.json()["error"]
        answer = client.post(f"{ONE}/rounds", content=state, headers=headers)
        assert answer.json()["error"] == "the request must have at most 2000000 bytes"


def test_lines_are_answered_one_by_one(behind: str, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["behind"] == "caddy" and caddy_version() < (2, 8):
        pytest.skip("Caddy before 2.8 reads all of a request of HTTP/1.1 before it answers")
    with Talk(behind, f"{ONE}/stream") as lines:
        lines.say(LINE)
        assert lines.head()[0] == b"HTTP/1.1 200 OK"
        first = json.loads(lines.hear())["ticket"]
        lines.say(b'{"ticket": %d, "outcome": 1.5}' % first)
        assert json.loads(lines.hear())["settled"] == first


def test_events_come_as_they_happen(behind: str) -> None:
    with Talk(behind, f"{ONE}/events", "GET") as told, Asked(behind) as client:
        told.head()
        assert b"hello" in told.hear()
        begun = time.monotonic()
        ask(client, "predict", {"forecasts": {"a": 1.0}})
        while b"predicted" not in told.hear():
            pass
        assert time.monotonic() - begun < 3.0


def test_a_page_of_the_proxy_may_send_requests_and_others_may_not(behind: str) -> None:
    with Asked(behind) as client:
        body = {"forecasts": {"a": 1.0}}
        sent = client.post(f"{ONE}/predict", json=body, headers={"origin": behind})
        assert sent.status_code == 200
        sent = client.post(f"{ONE}/predict", json=body, headers={"origin": "http://evil.example"})
        assert sent.status_code == 403
        assert sent.json()["error"] == "requests of pages of other sites are not answered"


def _requests(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return the logged requests; a line is written after its answer was sent."""
    end = time.monotonic() + 30.0
    while time.monotonic() < end:
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        if requests := [line for line in lines if line["what"] == "request"]:
            return requests
        time.sleep(0.02)
    return []


def test_the_log_has_the_address_of_the_client(
    behind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=behind, transport=transport) as client:
        client.get("/v1/mixtures", headers={"x-forwarded-for": "6.6.6.6", "x-request-id": "mine"})
    (line,) = _requests(capsys)
    assert (line["address"], line["request"]) == ("127.0.0.2", "mine")


def test_a_header_of_an_address_is_believed_of_a_proxy_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"x-forwarded-for": "6.6.6.6"}
    with served(tmp_path / "a.db", log_requests=True) as url, Asked(url) as client:
        client.get("/v1/mixtures", headers=said)
    assert _requests(capsys)[0]["address"] == "127.0.0.1"
    trusted = ("10.0.0.0/8",)
    with (
        served(tmp_path / "a.db", log_requests=True, trust_proxy=trusted) as url,
        Asked(url) as client,
    ):
        client.get("/v1/mixtures", headers=said)
    assert _requests(capsys)[0]["address"] == "127.0.0.1"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two certificates of localhost, ``a`` and ``b``, that sign themselves."""
    if program("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    for name in "ab":
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext",
             "keyUsage=digitalSignature,keyCertSign", "-keyout", f"{name}.key", "-out",
             f"{name}.pem"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
    return folder


def test_https_of_its_own_and_a_certificate_that_is_renewed(
    tmp_path: Path, certificates: Path
) -> None:
    cert, key = tmp_path / "cert", tmp_path / "key"
    cert.write_bytes((certificates / "a.pem").read_bytes())
    key.write_bytes((certificates / "a.key").read_bytes())

    def ask_with(name: str, url: str) -> int:
        trusted = ssl.create_default_context(cafile=str(certificates / f"{name}.pem"))
        return httpx.get(f"{url}/v1/mixtures", verify=trusted).status_code

    db = str(tmp_path / "a.db")
    with process("--db", db, "--tls-cert", str(cert), "--tls-key", str(key)) as (url, _):
        assert url.startswith("https://")
        assert ask_with("a", url) == 200
        key.write_bytes((certificates / "b.key").read_bytes())
        time.sleep(1.0)  # half replaced: the old one is used
        assert ask_with("a", url) == 200
        cert.write_bytes((certificates / "b.pem").read_bytes())
        time.sleep(1.5)
        assert ask_with("b", url) == 200
        with pytest.raises(httpx.ConnectError):
            ask_with("a", url)


def test_clients_may_have_to_have_certificates(tmp_path: Path, certificates: Path) -> None:
    cert, key = str(certificates / "a.pem"), str(certificates / "a.key")
    with served(tmp_path / "a.db", tls_cert=cert, tls_key=key, tls_client_ca=cert) as url:
        context = ssl.create_default_context(cafile=cert)
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{url}/healthz", verify=context)
        context.load_cert_chain(cert, key)
        assert httpx.get(f"{url}/healthz", verify=context).status_code == 200
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert b"200 OK" not in plain.recv(1000)
