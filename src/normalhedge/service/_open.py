"""Answers that stay open: each ends when the server stops, or when its token is taken away."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from starlette.types import Message, Receive, Send

from normalhedge.service.access import Access, Holder

T = TypeVar("T")

ABORT = "normalhedge.abort"  # the extension of ASGI that cuts a connection off


class Opened:
    """An answer that stays open.

    It is ended between two messages, never while a mixture works: whoever waits for the client,
    to read more of the request or to send more of the answer, is told that the client has gone.
    """

    def __init__(self, holder: Holder, scope: str, mixture: str) -> None:
        self.holder = holder
        self.scope = scope
        self.mixture = mixture
        self.reason = ""  # why it ends; empty while it may go on
        self._waiting: set[asyncio.Timeout] = set()
        self._cut = False  # whether it ended before all was sent

    def end(self, reason: str) -> None:
        """Let it end."""
        if not self.reason:
            self.reason = reason
            for waiting in self._waiting:
                waiting.reschedule(0.0)

    async def _unless_ended(self, work: Awaitable[T]) -> T:
        """Return a result; raise a TimeoutError if this ends before it is there."""
        async with asyncio.timeout(0.0 if self.reason else None) as waiting:
            self._waiting.add(waiting)
            try:
                return await work
            finally:
                self._waiting.discard(waiting)

    def receiving(self, receive: Receive) -> Receive:
        """Return a way to receive that is told that the client has gone when this ends."""

        async def work() -> Message:
            try:
                if not self.reason:
                    return await self._unless_ended(receive())
            except TimeoutError:
                pass
            return {"type": "http.disconnect"}

        return work

    def sending(self, send: Send, abort: Callable[[], None] = lambda: None) -> Send:
        """Return a way to send that cuts a slow reader off when this ends."""

        async def work(message: Message) -> None:
            self._cut = message["type"] == "http.response.start" or message.get("more_body", False)
            try:
                await self._unless_ended(send(message))
            except TimeoutError:
                abort()
                raise SlowReaderError from None

        return work

    async def finish(self, send: Send, form: Callable[[str], bytes]) -> None:
        """Send the reason and the end of an answer that was cut."""
        if self.reason and self._cut:
            await send({"type": "http.response.body", "body": form(self.reason)})


class SlowReaderError(Exception):
    """The client did not read, and was cut off as the answer had to end."""


class OpenAnswers:
    """The answers that stay open."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._opened: set[Opened] = set()
        self._stopping = ""

    @contextmanager
    def opened(self, holder: Holder, scope: str, mixture: str) -> Iterator[Opened]:
        """Yield an answer while it is open."""
        one = Opened(holder, scope, mixture)
        self._opened.add(one)
        if self._stopping:
            one.end(self._stopping)
        try:
            yield one
        finally:
            self._opened.discard(one)

    def follow(self, old: str, name: str) -> None:
        """Let the answers about an object that was renamed have the rights of its new name."""
        for one in self._opened:
            if one.mixture == old:
                one.mixture = name
        self.end_refused()

    def begin(self) -> None:
        """Let answers be opened: the server starts, perhaps again."""
        self._stopping = ""

    def end_refused(self) -> None:
        """End the answers that their tokens do not allow any more."""
        for one in list(self._opened):
            if not self.access.allows(one.holder, one.scope, one.mixture):
                one.end("its token was removed, has expired or does not allow it any more")

    def end_all(self) -> None:
        """End all answers, and all that are opened from now on: the server stops."""
        self._stopping = "the server stops"
        for one in list(self._opened):
            one.end(self._stopping)
