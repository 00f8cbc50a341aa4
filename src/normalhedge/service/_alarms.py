"""Alarms: found by a watch, kept in the database, and told to an address or a command.

An alarm begins when a mixture has an alert (`normalhedge.Mixture.alerts`) or rounds that are
overdue, and ends when it has none any more. It is written before anybody is told, and the receipt
is written after somebody was: so each alarm is told once, and more than once only if the server is
killed between the two. One that comes back within `SAME` seconds with the same beginning is the
same alarm.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from normalhedge.boundary.terminal import counted
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.alerts import KINDS as ALERTS, Alert
from normalhedge.service import _logs as logs
from normalhedge.service._delays import read_delays
from normalhedge.service._live import Live
from normalhedge.service._problems import Problem, StorageFailure
from normalhedge.service._registry import Registry
from normalhedge.service._storage import ALARMS_KEPT, AlarmRow, Batch
from normalhedge.service._telling import NotTold, Target

KINDS = ("overdue", *ALERTS)
"""The kinds of alarms."""

EVERY = 1.0  # the seconds between two looks at the mixtures
SPARE, LONG = 200.0, 60.0
"""A mixture is not looked at again for SPARE times as long as the last look took, and not for
longer than LONG seconds."""

SHARE = 5.0  # the watch rests this many times as long as it worked

FIRST, LONGEST = 1.0, 300.0
"""The pause after the first attempt to tell an alarm, and the longest one, in seconds."""

SAME = 86_400.0


class Key(NamedTuple):
    """The alarm that a mixture can have once at a time."""

    mixture: int
    kind: str
    expert: str | None
    other: str | None


class Fact(NamedTuple):
    """A thing that somebody should look at."""

    since: Any
    sentence: str


class Alarms:
    """The alarms of all mixtures."""

    def __init__(self, registry: Registry, target: Target | None) -> None:
        self.registry = registry
        self.target = target
        self.on_changed: Callable[[AlarmRow], None] = lambda _: None
        self.rows: dict[int, AlarmRow] = {}
        self.open: dict[Key, int] = {}
        self.untold: set[int] = set()
        self.found: Counter[str] = Counter()
        self.failures = 0
        self._ended: dict[Key, int] = {}
        self._last = 0
        self._epoch = -1
        self._writing = asyncio.Lock()
        self._news = asyncio.Event()
        self._looked: dict[int, tuple[int, float]] = {}  # the event, and the time of the next look
        self._pauses: dict[int, tuple[float, float]] = {}  # when to try again, and the pause then
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to watch."""
        self._tasks = [asyncio.create_task(self._watch())]
        if self.target is not None:
            self._tasks.append(asyncio.create_task(self._tell()))

    async def stop(self) -> None:
        """End the watch; what nobody was told of is told after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            begun = time.perf_counter()
            try:
                if self.registry.ready:
                    await self._read()
                    await self.look()
            except StorageFailure as error:
                logs.error("alarms", sentence=str(error))
            except Exception as error:
                logs.failure("alarms", error)
            await asyncio.sleep(max(EVERY, SHARE * (time.perf_counter() - begun)))

    async def _read(self) -> None:
        """Read the alarms of the database, unless nobody else can have changed them."""
        storage, epoch = self.registry.storage, self.registry.storage.epoch
        if self._epoch == epoch and len(self.rows) < 2 * ALARMS_KEPT:
            return
        rows = await self.registry.in_thread(storage.alarms)
        rows += await self.registry.in_thread(partial(storage.alarms, current=True))
        async with self._writing:
            self.rows, self.open, self._ended, self.untold = {}, {}, {}, set()
            for row in sorted(set(rows)):
                nobody = row.told == 0.0 and row.ended is None
                self._take(row._replace(told=None) if nobody and self.target else row)
            self._epoch = epoch

    def _take(self, row: AlarmRow) -> None:
        """Note a row that is on the disk."""
        self.rows[row.id] = row
        self._last = max(self._last, row.id)
        key = _key(row)
        if row.ended is None:
            self.open[key] = row.id
        else:
            self._ended[key] = row.id
            if self.open.get(key) == row.id:
                del self.open[key]
        if row.told is None:
            self.untold.add(row.id)
            self._news.set()
        else:
            self.untold.discard(row.id)

    async def _write(self, rows: list[AlarmRow]) -> None:
        """Write rows to the disk."""
        storage, epoch = self.registry.storage, self._epoch

        def append() -> None:
            if epoch != storage.epoch:
                raise StorageFailure("the database may have had another owner meanwhile")
            storage.append(Batch([], alarms=rows))

        await self.registry.committer.in_turn(append)
        for row in rows:
            self._take(row)
            self.on_changed(row)

    async def look(self) -> None:
        """Look at all mixtures, and write which alarms begin and end."""
        by_id = self.registry.by_id
        self._looked = {number: look for number, look in self._looked.items() if number in by_id}
        for live in list(by_id.values()):
            await self._search(live)
            await self._look_at(live)
        async with self._writing:
            now, facts = time.time(), {}
            for number, live in list(self.registry.by_id.items()):
                facts[number] = _facts(live, now)
                if len(facts) % 20 == 0:
                    await asyncio.sleep(0)  # others are answered meanwhile
            over = [self.rows[k] for key, k in self.open.items() if _is_over(key, facts)]
            rows = [row._replace(ended=now) for row in over]
            for of_kinds in facts.values():
                for found in of_kinds.values():
                    rows += [self._begun(key, fact, now) for key, fact in found.items()
                             if key not in self.open]  # fmt: skip
            if rows:
                await self._write(rows)

    def _begun(self, key: Key, fact: Fact, now: float) -> AlarmRow:
        """Return the row of an alarm that begins, or begins again."""
        since = json.dumps(fact.since)
        last = self.rows.get(self._ended.get(key, 0))
        if last is not None and last.since == since and now - (last.ended or 0.0) < SAME:
            return last._replace(ended=None)
        self._last += 1
        self.found[key.kind] += 1
        told = None if self.target else 0.0
        return AlarmRow(self._last, *key, since, fact.sentence, now, None, told)

    async def _search(self, live: Live) -> None:
        """Read earlier delays, if rounds wait and the last ones do not tell how long is usual."""
        delays = live.delays
        if live.known and not live.searched and delays.made and delays.usual() is None:
            live.searched = True
            delays.learn_from(await self.registry.process(read_delays, live.row.id))

    async def _look_at(self, live: Live) -> None:
        """Look for alerts of a mixture that has changed."""
        sequence, rest = self._looked.get(live.row.id, (-1, 0.0))
        if live.object is None or live.sequence == sequence or time.monotonic() < rest:
            return
        if not live.kind.has_alerts:
            return

        took = LONG
        try:
            if live.small:
                mixture, sequence = await self.registry.copy(live)
                alerts, took = await self.registry.at_work(_alerts, mixture)
            else:
                sequence, (alerts, took) = await self.registry.of_state(live, _alerts)
        except Problem:
            return
        except Exception as error:
            logs.failure("alerts", error, mixture=live.row.name)
            alerts = ()
        rest = time.monotonic() + min(SPARE * took, LONG)
        self._looked[live.row.id] = sequence, rest
        live.alerts = [alert.to_plain() for alert in alerts]

    async def _tell(self) -> None:
        """Tell alarms, each until somebody took it."""
        assert self.target is not None
        while True:
            self._news.clear()
            for number in sorted(self.untold):
                at, pause = self._pauses.get(number, (0.0, FIRST))
                if time.monotonic() < at:
                    continue
                try:
                    await self.target(self.message(number))
                    async with self._writing:
                        await self._write([self.rows[number]._replace(told=time.time())])
                    self._pauses.pop(number, None)
                except (NotTold, StorageFailure) as error:
                    self.failures += 1
                    self._pauses[number] = time.monotonic() + pause, min(2 * pause, LONGEST)
                    logs.error("alarm", alarm=number, sentence=str(error))
                except Exception as error:
                    self.failures += 1
                    self._pauses[number] = time.monotonic() + LONGEST, LONGEST
                    logs.failure("alarm", error, alarm=number)
            self._pauses = {k: value for k, value in self._pauses.items() if k in self.untold}
            first = min((at for at, _ in self._pauses.values()), default=None)
            wait = None if first is None else max(0.05, first - time.monotonic())
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    def message(self, number: int) -> dict[str, Any]:
        """Return the message about an alarm."""
        row = self.rows[number]
        return alarm_form(row, self.registry.by_id.get(row.mixture))


def _alerts(mixture: Mixture) -> tuple[tuple[Alert, ...], float]:
    """Return the alerts of a mixture, and how long this thread took to find them."""
    begun = time.thread_time()
    return mixture.alerts(), time.thread_time() - begun


def _key(row: AlarmRow) -> Key:
    return Key(row.mixture, row.kind, row.expert, row.other)


def _facts(live: Live, now: float) -> dict[str, dict[Key, Fact]]:
    """Return the facts about a mixture by kind; kinds of which nothing is known are missing."""
    facts: dict[str, dict[Key, Fact]] = {}
    number = live.row.id
    if live.known and (live.delays.usual() is not None or not live.delays.made):
        overdue = live.overdue(now)
        facts["overdue"] = {}
        if overdue.since is not None:
            since = datetime.fromtimestamp(overdue.since, UTC)
            text = (
                f"{counted(overdue.rounds, 'round')} waited for longer than {_span(overdue.usual)}"
                f"; the first one has ticket {overdue.ticket}, of {since:%Y-%m-%d %H:%M:%S} UTC"
            )
            facts["overdue"][Key(number, "overdue", None, None)] = Fact(overdue.since, text)
    if live.alerts is not None:
        facts |= {kind: {} for kind in ALERTS}
        for alert in live.alerts:
            key = Key(number, alert["kind"], alert["expert"], alert["other"])
            facts[key.kind][key] = Fact(alert["since"], alert["text"])
    return facts


def _span(seconds: float | None) -> str:
    """Return a number of seconds in the largest unit that fits."""
    time = seconds or 0.0
    units = ((86_400.0, "days"), (3600.0, "h"), (60.0, "min"))
    size, unit = next(((size, unit) for size, unit in units if time >= 2.0 * size), (1.0, "s"))
    return f"{time / size:.3g} {unit}"


def _is_over(key: Key, facts: dict[int, dict[str, dict[Key, Fact]]]) -> bool:
    """Tell whether an alarm is over; where nothing is known it goes on."""
    of_kinds = facts.get(key.mixture)
    if of_kinds is None:  # the mixture was deleted
        return True
    return key.kind in of_kinds and key not in of_kinds[key.kind]


def alarm_form(row: AlarmRow, live: Live | None) -> dict[str, Any]:
    """Return an alarm as plain data."""
    return {
        "id": row.id,
        "mixture" if live is None else live.kind.word: None if live is None else live.row.name,
        "kind": row.kind,
        "expert": row.expert,
        "other": row.other,
        "since": json.loads(row.since),
        "text": row.sentence,
        "began": row.began,
        "ended": row.ended,
        "told": row.told or None,
    }
