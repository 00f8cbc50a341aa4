"""Remove the old part of the log: the rest begins with a snapshot, and replays from there."""

import asyncio
import time

from normalhedge.service import _logs as logs
from normalhedge.service._forms import CompactedAnswer
from normalhedge.service._live import LiveMixture
from normalhedge.service._problems import DamagedLog, Problem, StorageFailure, unavailable
from normalhedge.service._recovery import compressed_state, first_snapshot, state_at
from normalhedge.service._registry import Registry
from normalhedge.service._storage import Batch, SnapshotRow, Storage

DAY = 86_400.0  # seconds of a day

JUMP = 0.5
"""A gap between two events that is longer than this share of the days to keep is a jump: events of
the other half, at least, are kept whatever the clock says."""

SHORTEST = 1.0  # a gap of less than JUMP of this many days is none

# LEAST, MOST: the numbers of events that are removed at once; PAUSE: the seconds that this may take
LEAST, MOST, PAUSE = 16, 4096, 0.01


async def compact(registry: Registry, live: LiveMixture, before: float) -> CompactedAnswer:
    """Remove the events of a mixture before a time, as far as a restart does not need them.

    Idempotency keys of removed events are forgotten, and history and exports begin later.
    """
    storage, number = registry.storage, live.row.id
    try:
        oldest, cut = await registry.in_thread(_cut, storage, number, before)
        if cut <= oldest:
            return CompactedAnswer(0, oldest)
        state = await registry.aside(lambda: compressed_state(state_at(storage, number, cut)))
        row = SnapshotRow(number, cut, state, kept=True, previous=0)
        await registry.committer.in_turn(storage.append, Batch([], [row]))
        return CompactedAnswer(await _remove(registry, number, cut), cut)
    except (StorageFailure, DamagedLog) as error:
        raise unavailable() from error


async def _remove(registry: Registry, number: int, cut: int) -> int:
    """Remove events in parts, between which others are written."""
    removed, limit = 0, LEAST
    while True:
        begun = time.perf_counter()
        part = await registry.committer.in_turn(registry.storage.compact, number, cut, limit)
        taken = time.perf_counter() - begun
        removed += part
        if part < limit:
            return removed
        limit = min(2 * limit, MOST) if taken < PAUSE else max(limit // 2, LEAST)
        await asyncio.sleep(taken)  # half of the time is for others


async def time_before(registry: Registry, days: float) -> float:
    """Return the time that is so many days before the newest event of the log.

    The clock may have been wrong when events were written. Where it jumped, so that the events on
    the two sides of this time are much further apart than they should be, nothing can be told.
    """
    newest, last, first = await registry.in_thread(_around, registry.storage, days)
    if last is not None and first - last > max(days, SHORTEST) * DAY * JUMP:
        raise Problem(
            409,
            f"the clock jumped: no event was written from {_shown(last)} to {_shown(first)}, and "
            f"the newest one is of {_shown(newest)}. Nothing was removed; with keep_days = 0 all "
            "events are removed that a restart does not need",
        )
    return newest - days * DAY


def _around(storage: Storage, days: float) -> tuple[float, float | None, float]:
    """Return the times of the newest event, and of the events before and after a cut."""
    newest = storage.newest_time()
    cut = newest - days * DAY
    last, first = storage.times_around(cut)
    return newest, last, newest if first is None else first


def _shown(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _cut(storage: Storage, number: int, before: float) -> tuple[int, int]:
    """Return the first state of the log, and the last event that may be removed."""
    oldest = storage.snapshots(number)[-1]
    last = storage.last_before(number, before)
    return oldest, min(last, first_snapshot(storage, number)[0])


async def compact_all(registry: Registry, days: float) -> int:
    """Remove events older than some days from the logs of all mixtures; return how many."""
    before, removed = await time_before(registry, days), 0
    for live in list(registry.by_id.values()):
        removed += (await compact(registry, live, before)).removed
    rows = await registry.in_thread(registry.storage.mixtures)
    for row in rows:
        if row.deleted is not None and row.deleted < before:
            removed += await _remove(registry, row.id, registry.committer.sequence)
    return removed


async def compact_daily(registry: Registry, days: float) -> None:
    """Remove events older than some days, once a day."""
    while days:
        try:
            removed = await compact_all(registry, days)
            logs.info("compacted", removed=removed)
        except (Problem, StorageFailure) as error:
            logs.error("compacted", sentence=str(error))
        await asyncio.sleep(DAY)
