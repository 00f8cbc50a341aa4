"""Requests, their bodies, and answers: those of Starlette, with the limits of this service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from normalhedge.service._forms import ErrorAnswer, as_json
from normalhedge.service._limits import Limits, check_key
from normalhedge.service._open import SlowReaderError
from normalhedge.service._problems import Problem
from normalhedge.service.access import Holder

JSON = "application/json"
LINES = "application/x-ndjson"
EVENTS = "text/event-stream"

HEAD = "normalhedge.head"  # the key of a scope for its headers by name


class Reply(Response):
    """An answer; it is JSON unless ``media_type`` says otherwise."""

    media_type = JSON


class StreamedReply(StreamingResponse):
    """An answer in parts."""

    body_iterator: AsyncIterator[bytes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the parts, until the client has gone."""
        try:
            if scope["method"] == "HEAD":
                start = {"status": self.status_code, "headers": self.raw_headers}
                await send({"type": "http.response.start", **start})
                await send({"type": "http.response.body", "body": b""})
            elif scope["method"] == "POST":  # the handler reads the request meanwhile
                await self.stream_response(send)
            else:
                await super().__call__(scope, receive, send)
        except (ClientDisconnect, SlowReaderError):
            pass
        finally:
            close = getattr(self.body_iterator, "aclose", None)
            if close is not None:
                await close()


class Call(Request):
    """A request."""

    head: dict[bytes, bytes]  # the headers, which are looked up often
    holder: Holder
    limits: Limits

    @property
    def name(self) -> str:
        """The name of the mixture; empty if the address has none."""
        return cast(str, self.path_params.get("name", ""))

    @property
    def key(self) -> str | None:
        """The idempotency key; None if there is none."""
        key = self.head.get(b"idempotency-key")
        return None if key is None else check_key(key.decode("latin-1"))

    def require(self, *kinds: str) -> None:
        """Refuse a body whose content type is none of these.

        A page of another site can make a browser send other types without asking, but not these.
        """
        kind = self.head.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind.decode("latin-1") not in kinds:
            wanted = " or ".join(kinds)
            raise Problem(415, f"the Content-Type of this request must be {wanted}")

    async def content(self, limit: int | None = None) -> bytes:
        """Return the whole body; refuse one that is too large or too slow.

        A body that is a little too large is read and thrown away before it is refused: an answer
        is lost where the connection is closed while the client still sends.
        """
        limit = self.limits.body if limit is None else limit
        most = max(limit, self.limits.state)
        length = self.head.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            raise too_large(limit, close=True)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                async for part in self.stream():
                    size += len(part)
                    if size > most:
                        raise too_large(limit, close=True)
                    if size <= limit:
                        parts.append(part)
        except TimeoutError:
            if size > limit:
                raise too_large(limit, close=True) from None
            raise Problem(
                408, "the request took too long to arrive", {"connection": "close"}
            ) from None
        if size > limit:
            raise too_large(limit)
        return b"".join(parts)


def too_large(limit: int, *, close: bool = False) -> Problem:
    """Return the answer to a body above the limit; the rest of it may be still to come."""
    headers = {"connection": "close"} if close else {}
    return Problem(413, f"the request must have at most {limit} bytes", headers)


class Body:
    """The body of a request, which knows whether all of it has arrived."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._whole = False

    async def __call__(self) -> Message:
        """Receive the next part."""
        message = await self._receive()
        self._whole = not message.get("more_body", False)
        return message

    async def finish(self, seconds: float) -> None:
        """Throw the rest away: proxies such as Caddy lose an answer that comes before it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._whole:
                    await self()


def problem_reply(problem: Problem) -> Response:
    """Return the answer to a request that was refused."""
    answer = as_json(ErrorAnswer(problem.sentence, problem.status, problem.kind))
    return Reply(answer, problem.status, problem.headers)
