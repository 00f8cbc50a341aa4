"""Idempotency: a request with a key is done once, and its answer is stored with it."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any

import msgspec

from normalhedge.service._live import Answered, LiveMixture
from normalhedge.service._memory import Memory
from normalhedge.service._problems import Problem, StorageFailure, unavailable
from normalhedge.service._storage import Event

_sorted = msgspec.json.Encoder(order="sorted").encode


def digest_of(kind: str, request: Any) -> bytes:
    """Return the digest of a request: the same for the same content in another order or spacing."""
    try:
        return blake2b(_sorted([kind, request]), digest_size=16).digest()
    except RecursionError:
        raise Problem(400, "the request is nested too deeply") from None


def _check_digest(digest: bytes, stored: bytes | None) -> None:
    if digest != stored:
        raise Problem(
            409, "this Idempotency-Key was used for another request: choose a new key for each"
        )


async def once(
    memory: Memory,
    live: LiveMixture,
    key: str,
    digest: bytes,
    work: Callable[[], Awaitable[Answered]],
) -> Answered:
    """Do work unless it was done with the same key; then return its answer."""
    running = live.in_flight.get(key)
    if running is not None:
        _check_digest(digest, running[0])
        return (await asyncio.shield(running[1]))._replace(replayed=True)
    future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
    live.in_flight[key] = digest, future
    try:
        memory.check_ready()
        event = await _event_by_key(memory, live.row.id, key)
        if event is not None:
            _check_digest(digest, event.digest)
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
