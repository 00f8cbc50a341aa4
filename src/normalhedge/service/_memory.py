"""The mixtures of a service in memory: loaded when used, and dropped when the log fails."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from normalhedge.mixtures.streams import Budget
from normalhedge.service import _logs as logs
from normalhedge.service._aside import Aside
from normalhedge.service._committer import Committer
from normalhedge.service._kind import Kind
from normalhedge.service._limits import Limits
from normalhedge.service._live import SMALL, Live
from normalhedge.service._problems import (
    DamagedLog,
    Problem,
    StorageFailure,
    no_object,
    unavailable,
)
from normalhedge.service._recovery import END, compressed_state, of_state, recover
from normalhedge.service._storage import Batch, Event, MixtureRow, SnapshotRow, Storage

T = TypeVar("T")

SNAPSHOT_EVERY = 1000  # a snapshot is made after this many operations on a mixture
WEIGH_EVERY = 128  # a mixture is weighed after so many operations, and when its state grows
GROWTH = 100_000  # bytes of growth after which others may have to be unloaded
WRITTEN = 0.005  # the seconds between two looks whether an event is on the disk
FEW = 50_000  # mixtures with fewer bytes are not unloaded to free memory

# The numbers of threads: for the database; for work that is known to be quick, so that it does not
# wait for the rest; and for the rest. Each thread that computes delays the event loop.
READERS, QUICK, SLOW = 4, 2, 1


class Memory:
    """The mixtures of a service by name, as far as they are in memory."""

    def __init__(self, storage: Storage, limits: Limits) -> None:
        self.storage = storage
        self.limits = limits
        self.budget = Budget(limits.cells, limits.memory, "this server")
        self.names: dict[str, Live] = {}
        self.by_id: dict[int, Live] = {}
        self.ready = True
        self.failures = 0
        self.damaged: set[int] = set()  # the numbers of the mixtures whose log is damaged
        self.next_id = 1
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self._quick = ThreadPoolExecutor(QUICK, "quick")
        self._slow = ThreadPoolExecutor(SLOW, "slow")
        self.process = Aside(storage)
        self._recovering: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self.snapshots: dict[int, asyncio.Task[None]] = {}
        self.on_written: Callable[[list[Event]], None] = lambda _: None
        self.on_renamed: Callable[[str, str], None] = lambda *_: None
        self.committer = Committer(storage, self._note_written, self.failed)

    async def start(self) -> None:
        """Read the list of mixtures."""
        await self._read_directory()
        self._warming = self._loop.create_task(self.warm())

    async def _read_directory(self) -> None:
        """Read the list of mixtures, and forget the states of mixtures in memory."""
        rows = await self.in_thread(self.storage.mixtures)
        last = await self.in_thread(self.storage.last_sequence)
        before = self.by_id
        self.by_id, self.names = {}, {}
        for row in rows:
            if row.deleted is None:
                # Requests that wait hold the old object: there must be one of each mixture only.
                live = before.pop(row.id, None) or Live(row)
                live.row = row
                live.unload()
                self.by_id[row.id] = self.names[row.name] = live
        for live in before.values():
            live.drop()
        self.next_id = max((row.id for row in rows), default=0) + 1
        self.committer.sequence = max(self.committer.sequence, last)

    async def stop(self) -> None:
        """Write all events, and snapshots that make the next start quick, and stop."""
        await self.committer.drain()
        for task in (self._recovering, self._warming, *self.snapshots.values()):
            if task is not None:
                task.cancel()
        try:
            rows = await self.at_work(self._last_snapshots)
            if rows and self.ready:
                await self.committer.in_turn(self.storage.append, Batch([], rows))
        except StorageFailure as error:
            logs.error("storage", sentence=str(error))
        self.committer.close()
        await asyncio.to_thread(self.process.stop)
        for pool in (self._readers, self._quick, self._slow):
            pool.shutdown(cancel_futures=True)

    def _last_snapshots(self) -> list[SnapshotRow]:
        """Return snapshots of the mixtures whose replay would take long."""
        return [
            live.snapshot_row(compressed_state(live.object), kept=False)
            for live in self.by_id.values()
            if live.object is not None
            and live.since > (0 if live.kind.is_whole else SNAPSHOT_EVERY // 2)
        ]

    async def warm(self) -> None:
        """Load all mixtures, one after the other, while requests are answered."""
        size = 0
        for live in list(self.by_id.values())[: self.limits.loaded]:
            if size > self.limits.loaded_memory // 2:
                break  # the others are loaded when they are used
            try:
                async with live.turn:
                    await self.load(live)
                    size += live.weight
            except Problem:
                if self.ready and not live.gone:
                    logs.error("load", mixture=live.row.name)
            await asyncio.sleep(0)

    async def try_to_write(self) -> None:
        """Write nothing of meaning; raise a `StorageFailure` if the database cannot be written."""
        try:
            await self.committer.in_turn(self.storage.touch)
        except StorageFailure as error:
            if error.lost:
                self.failed(error, set())
            raise

    async def in_thread(self, call: Callable[..., T], *arguments: Any) -> T:
        """Call a function that asks the database in a thread."""
        return await self._loop.run_in_executor(self._readers, call, *arguments)

    async def at_work(self, call: Callable[..., T], *arguments: Any, quick: bool = False) -> T:
        """Call a function that a request waits for, and that computes, in a thread."""
        pool = self._quick if quick else self._slow
        return await self._loop.run_in_executor(pool, call, *arguments)

    async def export(self, live: Live, call: Callable[..., T], *arguments: Any) -> T:
        """Do the same for a mixture: once at a time, and quickly if it is small."""
        async with live.exporting:
            return await self.at_work(call, *arguments, quick=live.small)

    async def of_state(self, live: Live, call: Callable[[Any], T]) -> tuple[int, T]:
        """Return the last event of a mixture, and a function of its state, found in the process.

        The process reads the state from the database, which must have the last event first.
        """
        sequence = live.sequence if live.object is not None else END
        while live.unwritten and self.committer.stored < sequence:
            await asyncio.sleep(WRITTEN)
        self.check_ready()
        return sequence, await self.aside(live, of_state, live.row.id, sequence, call)

    async def aside(self, live: Live, call: Callable[..., T], *arguments: Any) -> T:
        """Call a function of the database for a mixture in a process of its own: once at a time."""
        async with live.exporting:
            return await self.process(call, *arguments)

    def find(self, name: str, kind: Kind) -> Live:
        """Return a mixture or a router; raise a problem if there is none of this name."""
        live = self.names.get(name)
        if live is None or live.kind is not kind:
            raise no_object(name, kind.word)
        return live

    def follow(self, row: MixtureRow) -> None:
        """Take over a row that is on the disk: a mixture that is new, renamed or deleted."""
        live = self.by_id.get(row.id)
        if live is None:
            live = Live(row)
        else:
            del self.by_id[row.id], self.names[live.row.name]
            self.on_renamed(live.row.name, row.name)
        if row.deleted is None:
            live.row = row
            self.by_id[row.id] = self.names[row.name] = live
        else:
            self.damaged.discard(row.id)
            live.drop()

    async def load(self, live: Live) -> Any:
        """Return the mixture, and load it if it is not in memory. Its turn must be held."""
        if live.object is None:
            self.check_ready()
            while live.unwritten:  # the log does not have its last events yet
                await self.committer.drain()
            if live.gone:
                raise no_object(live.row.name, live.kind.word)
            epoch = self.storage.epoch
            try:
                state = await self.at_work(recover, self.storage, live.row.id)
            except StorageFailure as error:
                self.failed(error, set())
                raise unavailable() from error
            except DamagedLog as error:
                self.damaged.add(live.row.id)
                logs.error("damaged", mixture=live.row.name, sentence=str(error))
                raise Problem(
                    503, "the log of this mixture is damaged; the log of the server says where"
                ) from error
            if epoch != self.storage.epoch or not self.ready or live.gone:
                raise unavailable()
            self.damaged.discard(live.row.id)
            live.take(state, self.budget)
            self.weigh(live)
            self._unload_idle()
        return live.object

    def weigh(self, live: Live) -> None:
        """Look at the size of a mixture now and then, and unload others if it has grown."""
        state = live.kind.learned(live.object)
        if state != live.state_size or live.since % WEIGH_EVERY == 0:
            before, live.state_size, live.weight = live.weight, state, live.size
            if live.weight > before + GROWTH:
                self._unload_idle()

    def _unload_idle(self) -> None:
        """Keep no more mixtures in memory than the limits say: their number, and their bytes.

        Large ones go first, so that whoever uses many of these does not unload those of others.
        """
        loaded = [live for live in self.by_id.values() if live.object is not None]
        spare, size = len(loaded) - self.limits.loaded, sum(live.weight for live in loaded)
        if spare <= 0 and size <= self.limits.loaded_memory:
            return
        loaded.sort(key=lambda live: (live.weight <= SMALL, live.delays.last))
        for live in loaded:
            if spare <= 0 and size <= self.limits.loaded_memory:
                return
            if not live.unwritten and not live.turn.locked() and (spare > 0 or live.weight > FEW):
                spare, size = spare - 1, size - live.weight
                live.unload()

    def check_ready(self) -> None:
        """Raise a problem if the database cannot be used."""
        if not self.ready:
            raise unavailable()

    async def read(self, live: Live, call: Callable[[Any], T], *, quick: bool = True) -> T:
        """Return the result of a function of a mixture, while the mixture rests.

        A function that is quick where the mixture is small is called at once, others in a thread.
        """
        if quick and live.small and not live.turn.locked():
            self.check_ready()
            return call(live.loaded().object)
        async with live.turn:
            mixture = await self.load(live)
            return await self.at_work(call, mixture, quick=live.small)

    async def copy(self, live: Live) -> tuple[Any, int]:
        """Return a copy of a mixture and its last event, for work that takes long."""
        return await self.read(live, lambda mixture: (mixture.copy(), live.sequence))

    def _note_written(self, events: list[Event]) -> None:
        for event in events:
            live = self.by_id.get(event.mixture)
            if live is not None:
                live.unwritten -= 1
        self.on_written(events)

    def failed(self, failure: StorageFailure, lost: set[int]) -> None:
        """Forget states that are ahead of the log, and try to use the database again."""
        self.failures += 1
        logs.error("storage", sentence=str(failure), mixtures=len(lost))
        for live in list(self.by_id.values()) if failure.lost else map(self.by_id.get, lost):
            if live is not None:
                live.unload()
                live.unwritten = 0
        self.ready = False
        if self._recovering is None or self._recovering.done():
            self._recovering = self._loop.create_task(self._recover())

    def snapshot_aside(self, live: Live) -> None:
        """Make a snapshot of a mixture in a thread, unless one is being made."""
        if live.row.id not in self.snapshots:
            task = self._loop.create_task(self._snapshot(live))
            self.snapshots[live.row.id] = task
            task.add_done_callback(lambda _: self.snapshots.pop(live.row.id))

    async def _snapshot(self, live: Live) -> None:
        """Make a snapshot of a mixture, while the mixture goes on."""
        with suppress(Problem, StorageFailure, DamagedLog):
            before, since, previous = live.object, live.since, live.snapshot
            sequence, state = await self.of_state(live, compressed_state)
            if before is not None and live.object is before and self.ready:
                self.committer.keep(SnapshotRow(live.row.id, sequence, state, False, previous))  # noqa: FBT003
                live.snapshot, live.since = sequence, live.since - since

    async def _recover(self) -> None:
        """Wait until the database can be used."""
        pause = 0.05
        while True:
            try:
                owned = await self.committer.in_turn(self.storage.reopen)
                last = await self.in_thread(self.storage.last_sequence)
                if not owned:
                    await self._read_directory()
                break
            except StorageFailure as error:
                logs.error("storage", sentence=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, 2.0)
        self.committer.sequence = max(self.committer.sequence, last)
        self.ready = True
        logs.info("storage", sentence="the database can be used again")
