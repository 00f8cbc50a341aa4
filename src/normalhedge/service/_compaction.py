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


async def compact(registry: Registry, live: LiveMixture, before: float) -> CompactedAnswer:
    """Remove the events of a mixture before a time, as far as a restart does not need them.

    Idempotency keys of removed events are forgotten, and history and exports begin later.
    """
    storage, number = registry.storage, live.row.id
    try:
        oldest, cut = await registry.in_thread(_cut, storage, number, before)
        if cut <= oldest:
            return CompactedAnswer(0, oldest)
        state = await registry.in_thread(lambda: compressed_state(state_at(storage, number, cut)))
        row = SnapshotRow(number, cut, state, kept=True, previous=0)
        await registry.committer.in_turn(storage.append, Batch([], [row]))
        return CompactedAnswer(await _remove(registry, number, cut), cut)
    except (StorageFailure, DamagedLog) as error:
        raise unavailable() from error


async def _remove(registry: Registry, number: int, cut: int) -> int:
    """Remove events in parts, between which others are written."""
    removed = 0
    while part := await registry.committer.in_turn(registry.storage.compact, number, cut):
        removed += part
    return removed


def _cut(storage: Storage, number: int, before: float) -> tuple[int, int]:
    """Return the first state of the log, and the last event that may be removed."""
    oldest = storage.snapshots(number)[-1]
    last = storage.last_before(number, before)
    return oldest, min(last, first_snapshot(storage, number)[0])


async def compact_all(registry: Registry, days: float) -> int:
    """Remove events older than some days from the logs of all mixtures; return how many."""
    before, removed = time.time() - days * DAY, 0
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
