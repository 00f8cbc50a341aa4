"""Idempotency: a request with a key is done once, and its answer is stored with it."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import msgspec

from normalhedge.service._live import Answered, Live
from normalhedge.service._memory import Memory
from normalhedge.service._problems import Problem, StorageFailure, unavailable
from normalhedge.service._storage import Event

_sorted = msgspec.json.Encoder(order="sorted").encode


class Change(NamedTuple):
    """A request that changes something."""

    kind: str  # the kind of its event
    content: Any
    key: str | None  # its idempotency key; None if it has none
    digest: bytes | None  # the digest of kind and content, if it has a key

    @classmethod
    def of(cls, kind: str, content: Any, key: str | None) -> Self:
        """Return a change with its digest: the same for the same content in another order."""
        digest = None
        if key is not None:
            try:
                digest = blake2b(_sorted([kind, content]), digest_size=16).digest()
            except RecursionError:
                raise Problem(400, "the request is nested too deeply") from None
        return cls(kind, content, key, digest)

    def check_same(self, digest: bytes | None) -> None:
        """Refuse a key that was used for another request."""
        if digest != self.digest:
            raise Problem(
                409, "this Idempotency-Key was used for another request: choose a new key for each"
            )


async def once(
    memory: Memory, live: Live, change: Change, work: Callable[[], Awaitable[Answered]]
) -> Answered:
    """Do work unless it was done with the same key; then return its answer."""
    key = change.key
    if key is None:
        return await work()
    running = live.in_flight.get(key)
    if running is not None:
        change.check_same(running[0])
        return (await asyncio.shield(running[1]))._replace(replayed=True)
    future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
    live.in_flight[key] = change.digest, future
    try:
        memory.check_ready()
        event = await _event_by_key(memory, live.row.id, key)
        if event is not None:
            change.check_same(event.digest)
            answered = Answered(event.answer, replayed=True)
        else:
            answered = await work()
    except BaseException as error:
        future.set_exception(error if isinstance(error, Exception) else unavailable())
        future.exception()  # it was looked at: others may not be waiting
        raise
    else:
        future.set_result(answered)
        return answered
    finally:
        del live.in_flight[key]


async def _event_by_key(memory: Memory, mixture: int, key: str) -> Event | None:
    try:
        if memory.storage.lookups_are_quick:
            return memory.storage.event_by_key(mixture, key)
        return await memory.in_thread(memory.storage.event_by_key, mixture, key)
    except StorageFailure as error:
        memory.failed(error, set())
        raise unavailable() from error
