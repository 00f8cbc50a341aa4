"""Server-sent events: changes of mixtures, sent to listeners.

Events are gathered for a moment, encoded once for all listeners of a channel, and left out where
there are too many: the log has all of them.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from normalhedge.service._alarms import alarm_form
from normalhedge.service._forms import as_json
from normalhedge.service._http import EVENTS, Call, Stream
from normalhedge.service._live import LiveMixture
from normalhedge.service._past import complete, predicted, settled
from normalhedge.service._problems import Problem, StorageFailure
from normalhedge.service._registry import Registry
from normalhedge.service._storage import AlarmRow, Event

TICK = 0.25  # events are told at most this often, in seconds
MOST = 50  # the number of events of a mixture that are told at once; the earlier ones are left out
BEAT = 15.0  # a line is sent at least this often, so that nobody thinks the connection is dead
ALL = 0  # the channel of all mixtures
BACKLOG = 64  # the number of messages that a slow listener may be behind; then it is disconnected


class Broadcast:
    """The channels of events: one for each mixture, and one for all."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.listeners: dict[int, set[asyncio.Queue[bytes | None]]] = {}
        self._waiting: dict[int, deque[Event]] = {}
        self._counts: Counter[int] = Counter()
        self._changed: set[int] = set()
        self._moved = False
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Future[None]] = set()

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
                self._waiting.setdefault(event.mixture, deque(maxlen=MOST)).append(event)
                self._counts[event.mixture] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._tick)

    def tell_alarm(self, row: AlarmRow) -> None:
        """Tell an alarm that began, or ended, or was told, to listeners."""
        live = self.registry.by_id.get(row.mixture)
        content = {"alarm": alarm_form(row, None if live is None else live.row.name)}
        for channel in (ALL, row.mixture):
            self._hand(channel, message("alarm", content, None))

    def _tick(self) -> None:
        """Encode the gathered events, once for each channel, and hand them to the listeners."""
        self._timer = None
        waiting, self._waiting = self._waiting, {}
        counts, self._counts = self._counts, Counter()
        changed, self._changed = self._changed, set()
        if self.registry.storage.lookups_are_quick:
            for number, events in waiting.items():
                self._hand(number, self._encode(number, events, counts[number]))
        elif waiting:
            task = asyncio.ensure_future(self._tell_slowly(waiting, counts))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if ALL in self.listeners and (changed or self._moved):
            now, by_id = time.time(), self.registry.by_id
            health = [by_id[number].health(now) for number in changed if number in by_id]
            names = sorted(self.registry.names) if self._moved else None
            content = {"mixtures": health, "names": names, "time": now}
            self._hand(ALL, message("health", content, self.registry.committer.sequence))
            self._moved = False

    async def _tell_slowly(self, waiting: dict[int, deque[Event]], counts: Counter[int]) -> None:
        """Do the same in a thread, where the database takes its time."""
        for number, events in waiting.items():
            data = await self.registry.in_thread(self._encode, number, events, counts[number])
            self._hand(number, data)

    def _encode(self, number: int, events: deque[Event], count: int) -> bytes:
        """Return the message about events of a mixture."""
        live, now = self.registry.by_id.get(number), time.time()
        try:
            described = [self._describe(live, event) for event in events]
        except StorageFailure:
            described = []
        content = {
            "events": described,
            "skipped": count - len(described),
            "health": None if live is None else live.health(now),
            "time": now,
        }
        return message("events", content, events[-1].sequence)

    def _describe(self, live: LiveMixture | None, event: Event) -> dict[str, Any]:
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
        if settlements and live is not None and live.mixture is not None:
            loss = live.mixture.settings.loss
            for settlement in settlements:
                complete(self.registry.storage, event.mixture, loss, settlement, rounds)
            description["settled"] = settlements
        if not rounds and not settlements:
            description["change"] = msgspec.json.decode(event.body)
        return description

    def _hand(self, channel: int, data: bytes) -> None:
        for queue in list(self.listeners.get(channel, ())):
            if queue.qsize() >= BACKLOG:
                self._leave(channel, queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(data)

    def _leave(self, channel: int, queue: "asyncio.Queue[bytes | None]") -> None:
        queues = self.listeners.get(channel, set())
        queues.discard(queue)
        if not queues:
            self.listeners.pop(channel, None)

    async def events(self, call: Call) -> Stream:
        """Tell the health of mixtures, as it changes."""
        if call.holder.mixtures is not None:
            raise Problem(403, "this token is for some mixtures: listen to each of them")
        return self._listen(ALL)

    async def mixture_events(self, call: Call) -> Stream:
        """Tell the events of a mixture, as they happen."""
        live = self.registry.find(call.name)
        return self._listen(live.row.id)

    def _listen(self, channel: int) -> Stream:
        if self.count >= self.registry.limits.listeners:
            raise Problem(503, "too many listen already: try again later", {"retry-after": "5"})
        return Stream(self._messages(channel), media_type=EVENTS)

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
                    data = b": still here\n\n"
                if data is None:
                    return
                yield data
        finally:
            self._leave(channel, queue)


def message(kind: str, content: Any, sequence: int | None) -> bytes:
    """Return a message of the stream of events."""
    number = b"" if sequence is None else b"id: %d\n" % sequence
    return b"event: %b\n%bdata: %b\n\n" % (kind.encode(), number, as_json(content))
