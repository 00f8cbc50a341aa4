"""Connections of the client: certificates, options of httpx, refused arguments."""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from normalhedge import AsyncClient, Client
from normalhedge.service.client import NotAcknowledged
from tests.service.certificates import Authority
from tests.service.faulty import proxied


def test_an_authority_of_ones_own(server: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with proxied(server, 0, 0.0, authority.context()) as proxy:
        with Client(proxy.url, ca=authority.file) as client:
            assert client.mixture("load").predict({"a": 1.0}).ticket == 0
        begun = time.monotonic()
        with Client(proxy.url) as stranger, pytest.raises(NotAcknowledged, match="certificate"):
            stranger.names()
        assert time.monotonic() - begun < 10.0  # the next attempt would end in the same way

        async def main() -> list[str]:
            async with AsyncClient(proxy.url, ca=str(authority.file)) as client:
                return await client.names()

        assert asyncio.run(main()) == ["load"]


def test_a_server_that_asks_for_certificates(server: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    plain, locked = authority.sign("robot"), authority.sign("locked", "secret")
    with proxied(server, 0, 0.0, authority.context(clients=True)) as proxy:
        for certificate in (
            plain.both,
            (plain.certificate, plain.key),
            (locked.certificate, locked.key, "secret"),
        ):
            with Client(proxy.url, ca=authority.file, certificate=certificate) as client:
                assert client.names() == []
        with (
            Client(proxy.url, ca=authority.file, patience=0.2) as client,
            pytest.raises(NotAcknowledged),
        ):
            client.names()
    mistakes: tuple[Any, ...] = (
        tmp_path / "none",
        plain.certificate,
        (plain.certificate, locked.key),
        (locked.certificate, locked.key),  # it must not ask in the terminal
        (locked.certificate, locked.key, "wrong"),
        (),
        (plain.certificate, plain.key, "", ""),
        3,
    )
    for mistake in mistakes:
        with pytest.raises(ValueError, match="certificate must be a file in PEM") as refused:
            Client(proxy.url, certificate=mistake)
        assert "wrong" not in str(refused.value)


def test_options_go_to_httpx(server: str) -> None:
    seen: list[httpx.Request] = []
    options: dict[str, Any] = {
        "headers": {"x-team": "load", "authorization": "Bearer other"},
        "event_hooks": {"request": [seen.append]},
    }
    with Client(server, "a-token", options=options) as client:
        client.names()
    assert seen[0].headers["x-team"] == "load"
    assert seen[0].headers["authorization"] == "Bearer a-token"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"token": "a\nb"}, "token must be text"),
        ({"token": ""}, "token must be text"),
        ({"token": "naïve"}, "token must be text"),
        ({"timeout": -1.0}, "timeout must be"),
        ({"timeout": 1e300}, "timeout must be"),
        ({"timeout": "3"}, "timeout must be"),
        ({"patience": float("nan")}, "patience must be"),
        ({"patience": -1.0}, "patience must be"),
        ({"ca": "/nowhere.pem"}, "ca must be a file of certificates"),
        ({"ca": __file__}, "ca must be a file of certificates"),
        ({"ca": 3}, "ca must be a file of certificates"),
        ({"options": 3}, "options must be a mapping"),
        ({"options": {"timeout": 3}}, "must not have 'timeout'"),
        ({"options": {"color": 3}}, "color"),
        ({"options": {"headers": 3}}, "httpx refuses"),
        ({"url": "http://localhost:port"}, "httpx refuses"),
    ],
)
def test_arguments_are_refused_before_anything_is_sent(
    arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        Client(**{"url": "http://localhost:1", **arguments})


def test_one_way_to_check_certificates(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with pytest.raises(ValueError, match="and not both"):
        Client("https://localhost:1", ca=authority.file, options={"verify": False})


def test_requests_may_be_repeated_for_ever() -> None:
    assert Client("http://localhost:1", patience=float("inf")).patience == float("inf")
    with Client("http://localhost:1") as client, pytest.raises(ValueError, match="patience"):
        client.patience = -1.0
