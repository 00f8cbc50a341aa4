"""The bytes of requests and answers that are in memory at a time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from normalhedge.service._problems import Problem

SHORT = 16_384  # requests and answers with fewer bytes are not counted: connections are


class Flight:
    """Room for the requests and answers that are in memory at a time.

    A request waits until there is room for its body, which is read then. An answer is there
    already: while too many wait for slow readers, nobody can ask for further ones.
    """

    def __init__(self, requests: int, answers: int, seconds: float) -> None:
        self._free = requests
        self._most = requests
        self._answers = 0
        self._most_answers = answers
        self._seconds = seconds
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def request(self, size: int) -> AsyncIterator[None]:
        """Hold room for the body of a request; wait for it."""
        size = min(size, self._most)
        if self._waiting or size > self._free:
            await self._wait(size)
        else:
            self._free -= size
        try:
            yield
        finally:
            self._free += size
            self._admit()

    async def _wait(self, size: int) -> None:
        """Wait until those before this request, and it, have room; refuse it if that takes long."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._free += size
            turn.cancel()
            self._admit()
            if isinstance(error, TimeoutError):
                raise busy("too many large requests are being answered") from None
            raise

    def _admit(self) -> None:
        """Give room to the requests that wait, in order."""
        while self._waiting:
            size, turn = self._waiting[0]
            if not turn.done():
                if size > self._free:
                    return
                self._free -= size
                turn.set_result(None)
            self._waiting.popleft()

    def check(self) -> None:
        """Refuse a request that asks for an answer while too many are being sent."""
        if self._answers > self._most_answers:
            raise busy("too many large answers are being sent")

    @contextmanager
    def answer(self, size: int) -> Iterator[None]:
        """Count an answer until it is sent."""
        self._answers += size
        try:
            yield
        finally:
            self._answers -= size


def busy(reason: str) -> Problem:
    """Return the answer to a request for which there is no memory at the moment."""
    return Problem(
        503,
        f"{reason}: this request was not done, so send it again later, with the same "
        "Idempotency-Key if it had one",
        {"retry-after": "1", "connection": "close"},
    )
