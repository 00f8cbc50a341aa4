"""Server-sent events: changes of mixtures, sent to listeners.

Events are gathered for a moment, encoded once for all listeners of a channel, and left out where
there are too many: the log has all of them.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec

from normalhedge.service._alarms import alarm_form
from normalhedge.service._calls import EVENTS, Call, StreamedReply
from normalhedge.service._forms import as_json
from normalhedge.service._kind import Kind
from normalhedge.service._kinds import KINDS
from normalhedge.service._live import Live
from normalhedge.service._past import Forecasts, predicted, settled
from normalhedge.service._problems import DamagedLog, Problem, StorageFailure
from normalhedge.service._registry import Registry
from normalhedge.service._storage import AlarmRow, Event

TICK = 0.25  # events are told at most this often, in seconds
MOST = 50  # the number of events of a mixture that are told at once; the earlier ones are left out
BEAT = 15.0  # a line is sent at least this often, so that nobody thinks the connection is dead
ALL = 0  # the channel of all mixtures
LARGE = 200_000  # larger events are counted, and not told; the log has them
AT_ONCE = 200  # the number of mixtures whose health is told at once; the others follow
# BACKLOG, BACKLOG_SIZE: the number of messages that a slow listener may be behind, and the bytes
# that may wait for all listeners; then slow ones are disconnected
BACKLOG = 64
BACKLOG_SIZE = 32_000_000


class Broadcast:
    """The channels of events: one for each mixture, and one for all."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.listeners: dict[int, set[asyncio.Queue[bytes | None]]] = {}
        self._waiting: dict[int, deque[Event]] = {}
        self._counts: Counter[int] = Counter()
        self._telling: asyncio.Future[None] | None = None
        self._changed: set[int] = set()
        self._moved = False
        self._timer: asyncio.TimerHandle | None = None
        self._queued = 0  # the bytes of all messages that wait for slow listeners

    @property
    def count(self) -> int:
        """The number of listeners."""
        return sum(map(len, self.listeners.values()))

    def tell(self, events: list[Event]) -> None:
        """Take events that are on the disk; they are told at the next tick."""
        if not self.listeners:
            return
        for event in events:
            if event.mixture == 0:
                self._moved = True
                continue
            self._changed.add(event.mixture)
            if event.mixture in self.listeners:
                self._counts[event.mixture] += 1
                if len(event.body) + len(event.answer) <= LARGE:
                    self._waiting.setdefault(event.mixture, deque(maxlen=MOST)).append(event)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    def tell_alarm(self, row: AlarmRow) -> None:
        """Tell an alarm that began, or ended, or was told, to listeners."""
        content = {"alarm": alarm_form(row, self.registry.by_id.get(row.mixture))}
        for channel in (ALL, row.mixture):
            self._hand(channel, message("alarm", content, None))

    def _tick(self) -> None:
        """Encode the gathered events in a thread, once for each channel."""
        self._timer = None
        if self._telling is not None and not self._telling.done():
            self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)
            return
        if self._counts:
            waiting, self._waiting = self._waiting, {}
            counts, self._counts = self._counts, Counter()
            self._telling = asyncio.ensure_future(self._tell(waiting, counts))
        if ALL in self.listeners and (self._changed or self._moved):
            self._tell_all()
        else:
            self._changed.clear()

    def _tell_all(self) -> None:
        """Tell the health of the mixtures that changed; where there are many, of some at a time."""
        now, by_id = time.time(), self.registry.by_id
        told = [self._changed.pop() for _ in range(min(len(self._changed), AT_ONCE))]
        changed = [by_id[number] for number in told if number in by_id]
        names = sorted(self.registry.names) if self._moved else None
        content: dict[str, Any] = {"names": names, "time": now}
        for kind in KINDS:
            content[kind.words] = [live.health(now) for live in changed if live.kind is kind]
        self._hand(ALL, message("health", content, self.registry.committer.sequence))
        self._moved = False
        if self._changed and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    async def _tell(self, waiting: dict[int, deque[Event]], counts: Counter[int]) -> None:
        """Hand the events of each mixture to its listeners."""

        async def tell(live: Live, count: int) -> None:
            events = waiting.get(live.row.id, deque())
            described = await self.registry.export(live, self._encode, live, events)
            now = time.time()
            content = {
                "events": described,
                "skipped": count - len(described),
                "health": None if live.gone else live.health(now),
                "time": now,
            }
            last = events[-1].sequence if events else None
            self._hand(live.row.id, message("events", content, last))

        by_id = self.registry.by_id
        await asyncio.gather(*(tell(by_id[k], n) for k, n in counts.items() if k in by_id))

    def _encode(self, live: Live, events: deque[Event]) -> list[msgspec.Raw]:
        """Return the descriptions of the last events of a mixture."""
        size = 0
        described: list[msgspec.Raw] = []
        with suppress(StorageFailure, DamagedLog):
            for event in reversed(events):
                described.append(msgspec.Raw(as_json(self._describe(live, event))))
                size += len(described[-1])
                if size > LARGE:
                    break
        return described[::-1]

    def _describe(self, live: Live, event: Event) -> dict[str, Any]:
        """Return the data about an event for listeners."""
        rounds, settlements = predicted(event), settled(event)[-MOST:]
        description: dict[str, Any] = {
            "sequence": event.sequence,
            "time": event.time,
            "kind": event.kind,
        }
        if rounds:
            newest = [{"ticket": ticket, **made} for ticket, made in rounds.items()]
            description["predicted"] = newest[-MOST:]
        thing = live.object
        if settlements and thing is not None:
            forecasts = Forecasts(self.registry.storage, event.mixture)
            described: list[msgspec.Raw] = []
            size = 0
            for settlement in reversed(settlements):
                forecasts.complete(settlement, live.kind.loss(thing))
                described.append(msgspec.Raw(as_json(settlement)))
                size += len(described[-1])
                if size > LARGE:
                    break
            description["settled"] = described[::-1]
        if not rounds and not settlements:
            description["change"] = msgspec.Raw(event.body.encode())
        return description

    def _hand(self, channel: int, data: bytes) -> None:
        for queue in list(self.listeners.get(channel, ())):
            waits = queue.qsize()
            if waits >= BACKLOG or (waits and self._queued > BACKLOG_SIZE):
                self._leave(channel, queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(data)
                self._queued += len(data)

    def _leave(self, channel: int, queue: "asyncio.Queue[bytes | None]") -> None:
        queues = self.listeners.get(channel, set())
        queues.discard(queue)
        if not queues:
            self.listeners.pop(channel, None)

    async def events(self, call: Call) -> StreamedReply:
        """Tell the health of mixtures and routers, as it changes."""
        if call.holder.mixtures is not None:
            raise Problem(403, "this token is for some names: listen to each of them")
        return self._listen(ALL)

    def events_of(self, kind: Kind) -> Callable[[Call], Awaitable[StreamedReply]]:
        """Return the handler that tells the events of one mixture or router."""

        async def handler(call: Call) -> StreamedReply:
            return self._listen(self.registry.find(call.name, kind).row.id)

        return handler

    def _listen(self, channel: int) -> StreamedReply:
        if self.count >= self.registry.limits.listeners:
            raise Problem(503, "too many listen already: try again later", {"retry-after": "5"})
        return StreamedReply(self._messages(channel), media_type=EVENTS)

    async def _messages(self, channel: int) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.listeners.setdefault(channel, set()).add(queue)
        try:
            yield b"retry: 1000\n\n" + message("hello", {"time": time.time()}, None)
            while True:
                try:
                    async with asyncio.timeout(BEAT):
                        data = await queue.get()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if data is None:
                    return
                self._queued -= len(data)
                yield data
        finally:
            self._leave(channel, queue)
            while not queue.empty():
                self._queued -= len(queue.get_nowait() or b"")


def message(kind: str, content: Any, sequence: int | None) -> bytes:
    """Return a message of the stream of events."""
    number = b"" if sequence is None else b"id: %d\n" % sequence
    return b"event: %b\n%bdata: %b\n\n" % (kind.encode(), number, as_json(content))
