"""Remove the old part of the log: the rest begins with a snapshot, and replays from there."""

import asyncio
import math
import time
from typing import NamedTuple

from normalhedge.service import _logs as logs
from normalhedge.service._forms import CompactedAnswer
from normalhedge.service._live import Live
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


class Cut(NamedTuple):
    """The events to remove: those before a time, by the clock of the newest event."""

    before: float
    newest: float


ALL = Cut(math.inf, math.inf)
"""All events that a restart does not need."""


async def compact(registry: Registry, live: Live, before: Cut) -> CompactedAnswer:
    """Remove the events of a mixture before a time, as far as a restart does not need them.

    Idempotency keys of removed events are forgotten, and history and exports begin later.
    """
    storage, number = registry.storage, live.row.id
    try:
        oldest, cut = await registry.in_thread(_cut, storage, number, before)
        if cut <= oldest:
            return CompactedAnswer(0, oldest)
        state = await registry.aside(live, _state_at, number, cut)
        row = SnapshotRow(number, cut, state, kept=True, previous=0)
        await registry.committer.in_turn(storage.append, Batch([], [row]))
        return CompactedAnswer(await _remove(registry, number, cut), cut)
    except (StorageFailure, DamagedLog) as error:
        raise unavailable() from error


def _state_at(storage: Storage, mixture: int, sequence: int) -> bytes:
    """Return the state after an event, as a database holds it."""
    return compressed_state(state_at(storage, mixture, sequence))


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


async def cut_of(registry: Registry, days: float) -> Cut:
    """Return which events are older than some days, counted from the newest event.

    The clock may have been wrong. Where it jumped, so that the two events around the cut are much
    further apart than they should be, nothing can be told.
    """
    if not days:
        return ALL
    newest = await registry.in_thread(registry.storage.newest_time)
    cut = Cut(newest - days * DAY, newest)
    gap = await registry.in_thread(registry.storage.gap_at, *cut)
    if gap is not None and gap[1] - gap[0] > max(days, SHORTEST) * DAY * JUMP:
        raise Problem(
            409,
            f"the clock jumped: no event was written from {_shown(gap[0])} to {_shown(gap[1])}, "
            f"and the newest one is of {_shown(newest)}. Nothing was removed; with keep_days = 0 "
            "all events are removed that a restart does not need",
        )
    return cut


def _shown(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _cut(storage: Storage, number: int, before: Cut) -> tuple[int, int]:
    """Return the first state of the log, and the last event that may be removed."""
    oldest = storage.snapshots(number)[-1]
    last = storage.last_before(number, *before)
    return oldest, min(last, first_snapshot(storage, number)[0])


async def compact_all(registry: Registry, days: float) -> int:
    """Remove events older than some days from the logs of all mixtures; return how many."""
    before, removed = await cut_of(registry, days), 0
    for live in list(registry.by_id.values()):
        removed += (await compact(registry, live, before)).removed
    rows = await registry.in_thread(registry.storage.mixtures)
    for row in rows:
        if row.deleted is not None and row.deleted < before.before:
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
