"""Group commit: waiting events are written in one transaction, and answered when on the disk.

Everything here happens in the thread of the event loop, except the transaction itself. One batch is
on its way at a time; requests that arrive meanwhile wait together for the next one.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from normalhedge.service._latencies import Latencies
from normalhedge.service._problems import StorageFailure, unavailable
from normalhedge.service._storage import Batch, Event, MixtureRow, SnapshotRow, Storage

T = TypeVar("T")


class Committer:
    """The only writer of a database."""

    def __init__(
        self,
        storage: Storage,
        on_written: Callable[[list[Event]], None],
        on_failure: Callable[[StorageFailure, set[int]], None],
    ) -> None:
        self.storage = storage
        self.sequence = 0
        self.batches = 0
        self.events = 0
        self.latencies = Latencies()
        self.written = 0.0  # when the last batch was on the disk, by the monotonic clock
        self.stored = 0  # the last event on the disk, of this process
        self._on_written = on_written
        self._on_failure = on_failure
        self._thread = ThreadPoolExecutor(1, "committer")
        self._loop = asyncio.get_running_loop()
        self._clear()
        self._busy = False
        self._epoch = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def _clear(self) -> None:
        self._events: list[Event] = []
        self._snapshots: list[SnapshotRow] = []
        self._mixtures: list[MixtureRow] = []
        self._futures: list[asyncio.Future[None]] = []

    def next_sequence(self) -> int:
        """Return the sequence of the next event, which must be handed over at once."""
        self.sequence += 1
        return self.sequence

    def write(
        self,
        event: Event,
        snapshot: SnapshotRow | None = None,
        row: MixtureRow | None = None,
    ) -> "asyncio.Future[None]":
        """Hand over an event; the result is there when it is on the disk."""
        self._wake()
        self._events.append(event)
        if snapshot is not None:
            self._snapshots.append(snapshot)
        if row is not None:
            self._mixtures.append(row)
        future: asyncio.Future[None] = self._loop.create_future()
        self._futures.append(future)
        return future

    def keep(self, snapshot: SnapshotRow) -> None:
        """Hand over a snapshot: it is written after the events that it holds, or with them."""
        self._wake()
        self._snapshots.append(snapshot)

    def _wake(self) -> None:
        """Begin a batch soon, unless one is on its way."""
        if not self._events and not self._snapshots:
            self._epoch = self.storage.epoch
            if not self._busy:
                self._loop.call_soon(self._begin)
                self._idle.clear()

    def _begin(self) -> None:
        """Send the waiting events to the thread."""
        if self._busy:
            return
        if not self._events and not self._snapshots:
            self._idle.set()
            return
        batch = Batch(self._events, self._snapshots, self._mixtures)
        futures = self._futures
        self._clear()
        self._busy = True
        self._thread.submit(self._append, batch, futures, self._epoch)

    def _append(self, batch: Batch, futures: "list[asyncio.Future[None]]", epoch: int) -> None:
        """Write a batch, in the thread."""
        failure: StorageFailure | None = None
        begun = time.perf_counter()
        try:
            if epoch != self.storage.epoch:
                raise StorageFailure("the database may have had another owner meanwhile", lost=True)
            self.storage.append(batch)
        except StorageFailure as error:
            failure = error
        except Exception as error:
            failure = StorageFailure(f"{type(error).__name__}: {error}", lost=True)
        seconds = time.perf_counter() - begun
        self._loop.call_soon_threadsafe(self._end, batch, futures, failure, seconds)

    def _end(
        self,
        batch: Batch,
        futures: "list[asyncio.Future[None]]",
        failure: StorageFailure | None,
        seconds: float,
    ) -> None:
        """Answer the requests of a batch, and begin the next one."""
        self._busy = False
        self.latencies.add(seconds)
        if failure is None:
            self.batches += 1
            self.written = time.monotonic()
            self.events += len(batch.events)
            self.stored = batch.events[-1].sequence if batch.events else self.stored
            for future in futures:
                if not future.done():
                    future.set_result(None)
            self._begin()
            self._on_written(list(batch.events))
            return
        # The waiting events came after the lost ones, so they are lost, too.
        lost = {event.mixture for event in (*batch.events, *self._events)}
        futures = [*futures, *self._futures]
        self._clear()
        self._idle.set()
        self._on_failure(failure, lost)
        for future in futures:
            if not future.done():
                future.set_exception(unavailable())

    async def in_turn(self, call: Callable[..., T], *arguments: Any) -> T:
        """Call a function that writes, between two batches."""
        return await self._loop.run_in_executor(self._thread, call, *arguments)

    async def drain(self) -> None:
        """Wait until all events are written or lost."""
        await self._idle.wait()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()
