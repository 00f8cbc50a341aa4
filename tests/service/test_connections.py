"""Connections whose requests never begin, or never end."""

from contextlib import suppress
from pathlib import Path

from normalhedge.service._limits import Limits
from tests.service.examples import talk
from tests.service.running import Asked, served


def test_a_connection_that_says_nothing_is_closed(tmp_path: Path) -> None:
    limits = Limits(header_seconds=0.3)
    with served(tmp_path / "a.db", limits=limits) as url, Asked(url) as client:
        assert talk(client) == b""
        assert talk(client, b"GET /healthz HTTP/1.1\r\nhost: local") == b""
        assert client.get("/healthz").status_code == 200


def test_a_head_without_end_is_given_up(small: Asked) -> None:
    line = b"x: " + b"y" * 1000 + b"\r\n"
    with suppress(ConnectionError):  # it may be closed before all was sent
        assert talk(small, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n" + line * 200) == b""
    assert small.get("/healthz").status_code == 200
