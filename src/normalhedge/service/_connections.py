"""Connections of HTTP, with a sentence for requests that never reach the application.

A connection is closed when the head of a request does not arrive, never ends, or is none. The body
of a request has limits of its own (`normalhedge.service._calls.Call.content`), and uvicorn closes
connections that rest between two requests.
"""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from normalhedge.service._calls import problem_reply
from normalhedge.service._open import ABORT
from normalhedge.service._problems import Problem

HEAD = 65_536  # the largest number of bytes of the address and the headers of a request

HEALTH = {b"/healthz", b"/readyz"}  # the addresses that are answered when all connections are taken


class Connection(HttpToolsProtocol):
    """A connection."""

    seconds = 20.0
    most = 2000
    _waiting: asyncio.TimerHandle | None = None
    _begun = False
    _size = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; wait for the rest of a head that is not there yet."""
        super().data_received(data)
        if self._begun:
            self._wait()

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._begun = True

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
        taken = len(self.connections) >= self.most or len(self.tasks) >= self.most
        refused = taken and self.url.partition(b"?")[0] not in HEALTH
        self.app = _crowded if refused else self.config.loaded_app
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Do not wait any more."""
        self._arrived()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request."""
        del msg
        self._refuse(Problem(400, "this is no request of HTTP/1.1 that this server can read"))

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(self.seconds, self._give_up)

    def _arrived(self) -> None:
        self._begun, self._size = False, 0
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > HEAD:
            self._refuse(
                Problem(431, f"the address and the headers must have at most {HEAD} bytes")
            )

    def _give_up(self) -> None:
        """Close a connection whose request did not arrive; without a word if nothing did."""
        if self._begun:
            sentence = f"the head of the request did not arrive within {self.seconds:g} seconds"
            self._refuse(Problem(408, sentence))
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answer, unless another request is being answered, and close the connection."""
        if self.transport.is_closing():
            return
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            reply = problem_reply(problem)
            head = [b"HTTP/1.1 %d Refused" % problem.status, b"connection: close"]
            head += [b"%b: %b" % header for header in reply.raw_headers]
            self.transport.write(b"\r\n".join([*head, b"", reply.body]))
        self.transport.close()


async def _crowded(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a request, as too many connections are open."""
    headers = {"retry-after": "5", "connection": "close"}
    problem = Problem(503, "too many connections are open: try again later", headers)
    await problem_reply(problem)(scope, receive, send)


def patient(seconds: float, most: int) -> type[Connection]:
    """Return the kind of connections that wait so long for a head, and of which there are so many.

    ``seconds`` is how long they wait; ``most`` is how many are answered at the same time.
    """
    return type("PatientConnection", (Connection,), {"seconds": seconds, "most": most})
