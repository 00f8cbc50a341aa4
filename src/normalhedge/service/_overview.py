"""Answers to requests that read about the whole server, and what all such answers share."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Iterable
from typing import Any, TypeVar

from starlette.datastructures import QueryParams

from normalhedge.service._alarms import alarm_form
from normalhedge.service._calls import LINES, Call, Reply, StreamedReply
from normalhedge.service._forms import as_json
from normalhedge.service._metrics import Metrics
from normalhedge.service._problems import DamagedLog, Problem, StorageFailure, unavailable
from normalhedge.service._registry import Registry
from normalhedge.service.access import Holder

T = TypeVar("T")

AT_ONCE = 20  # the number of objects whose health is told before others are served


class Overview:
    """The handlers of requests that read about all mixtures and routers."""

    def __init__(self, registry: Registry, metrics: Metrics) -> None:
        self.registry = registry
        self.numbers = metrics
        self.document = b"{}"  # the OpenAPI document

    async def alarms(self, call: Call) -> Reply:
        """List the alarms of all mixtures and routers, the newest first."""
        numbers = None
        if call.holder.mixtures is not None:
            by_id = self.registry.by_id
            numbers = [k for k, live in by_id.items() if call.holder.sees(live.row.name)]
        return await alarm_page(self.registry, call, numbers)

    async def changes(self, call: Call) -> StreamedReply:
        """Export the changes of the lists: who created, renamed or deleted what."""
        after = int(number_of(call.query_params, "after", 0) or 0)
        return StreamedReply(self._changes(after, call.holder), media_type=LINES)

    async def _changes(self, after: int, holder: Holder) -> AsyncIterator[bytes]:
        storage = self.registry.storage
        while events := await from_log(self.registry.at_work(storage.events, 0, after)):
            after = events[-1].sequence
            for event in events:
                body = json.loads(event.body)
                told = {"sequence": event.sequence, "time": event.time, "kind": event.kind}
                yield as_json(told | {"change": body} | sender_of(event.sender, holder)) + b"\n"

    async def metrics(self, call: Call) -> Reply:
        """Return numbers for Prometheus."""
        names = list(filter(call.holder.sees, self.registry.names))
        text = await self.numbers.text([health async for health in healths(self.registry, names)])
        return Reply(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, call: Call) -> Reply:
        """Return this document."""
        del call
        return Reply(self.document)


async def healths(registry: Registry, names: Iterable[str]) -> AsyncIterator[dict[str, Any]]:
    """Yield the health of objects; others are served meanwhile."""
    for k, name in enumerate(names):
        if k % AT_ONCE == AT_ONCE - 1:
            await asyncio.sleep(0)
        live = registry.names.get(name)
        if live is not None:
            yield live.health(time.time())


async def alarm_page(registry: Registry, call: Call, numbers: list[int] | None) -> Reply:
    """Return the alarms of some objects, or of all, the newest first."""
    before = number_of(call.query_params, "before", 1)
    limit = int(number_of(call.query_params, "limit", 1, 1000) or 100)
    rows = await from_log(registry.in_thread(
        registry.storage.alarms, numbers, None if before is None else int(before), limit
    ))  # fmt: skip
    alarms = [alarm_form(row, registry.by_id.get(row.mixture)) for row in rows]
    return Reply(as_json({"alarms": alarms}))


async def from_log(work: Awaitable[T]) -> T:
    """Return the result of work that reads the log."""
    try:
        return await work
    except (StorageFailure, DamagedLog) as error:
        raise unavailable() from error
    except LookupError as error:
        raise Problem(404, str(error.args[0])) from error


def sender_of(text: str | None, holder: Holder) -> dict[str, Any]:
    """Return the sender of an event, for administrators only: it has the addresses of others."""
    return {"sender": json.loads(text)} if text and holder.scope == "admin" else {}


def number_of(
    query: QueryParams, name: str, low: float = -1e15, high: float = 1e15
) -> float | None:
    """Return a number of the query of an address; None if it is not there."""
    text = query.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise Problem(422, f"{name} must be a number from {low:g} to {high:g}")
    return value
