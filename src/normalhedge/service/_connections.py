"""Connections of HTTP that are closed when the head of a request does not arrive, or never ends.

The body of a request has limits of its own (`normalhedge.service._http.Call.body`), and uvicorn
closes connections that rest between two requests.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 65_536  # the largest number of bytes of the address and the headers of a request

HEALTH = {b"/healthz", b"/readyz"}  # the addresses that are answered when all connections are taken

ABORT = "normalhedge.abort"  # the extension of ASGI that cuts a connection off


class Connection(HttpToolsProtocol):
    """A connection."""

    seconds = 20.0
    _waiting: asyncio.TimerHandle | None = None
    _size = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        """Begin to wait, unless it waits already."""
        super().on_message_begin()
        self._wait()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        super().on_url(url)
        self._grow(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        super().on_header(name, value)
        self._grow(len(name) + len(value) + 4)

    def on_headers_complete(self) -> None:
        """Do not wait any more; the limit of connections does not hold for routes of health."""
        self._arrived()
        healthy = self.url.partition(b"?")[0] in HEALTH
        self.limit_concurrency = None if healthy else self.config.limit_concurrency
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Do not wait any more."""
        self._arrived()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(self.seconds, self._give_up)

    def _arrived(self) -> None:
        self._size = 0
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > HEAD:
            self._give_up()

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def patient(seconds: float) -> type[Connection]:
    """Return the kind of connections that wait so many seconds for the head of a request."""
    return type("PatientConnection", (Connection,), {"seconds": seconds})
