"""The present state of an object: one of its snapshots, and the events since, done again."""

import json
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from normalhedge.live.journal import Operation
from normalhedge.mixtures.state import CANNOT_BE_REPEATED, HISTORY
from normalhedge.service._delays import Delays, read_delays
from normalhedge.service._kinds import kind_of_object, kind_of_state
from normalhedge.service._problems import DamagedLog
from normalhedge.service._storage import Event, Storage

MOST = 5000  # a recovery repeats at most this many operations, if there is a later snapshot


class Recovered(NamedTuple):
    """A mixture or a router as it was after its last event."""

    object: Any
    sequence: int  # the sequence of its last event, or of the snapshot if there is none
    snapshot: int  # the sequence of its newest snapshot
    operations: int  # the number of operations after that snapshot
    delays: Delays


def operations_of(event: Event) -> list[Operation]:
    """Return the operations of an event."""
    body = json.loads(event.body)
    return body if isinstance(body, list) else [body]


def recover(storage: Storage, mixture: int, *, whole: bool = False) -> Recovered:
    """Return the present state of a mixture or a router.

    It begins with the newest snapshot that is old enough for the later events to fill the history
    of the mixture, on which `Mixture.summary` and `Mixture.correct` depend: snapshots of versions
    before 0.3 do not hold it. Snapshots that are ``whole`` do.
    """
    last, newest = first_snapshot(storage, mixture)
    last = newest if whole else last
    live, operations = read_state(storage, mixture, last), 0
    for event in storage.all_events(mixture, last):
        live = repeat(storage, live, event)
        last = event.sequence
        operations += event.operations if last > newest else 0
    return Recovered(live, last, newest, operations, read_delays(storage, mixture, live.pending))


def first_snapshot(storage: Storage, mixture: int) -> tuple[int, int]:
    """Return the snapshot with which a recovery begins, and the newest one, by their sequences."""
    snapshots = storage.snapshots(mixture)
    if not snapshots:
        raise DamagedLog(f"mixture {mixture} has no snapshot")
    begin = snapshots[0]
    for sequence in snapshots:
        operations = storage.operations_after(mixture, sequence)
        if operations > MOST:
            break
        begin = sequence
        if operations >= 2 * HISTORY:
            break
    return begin, snapshots[0]


def state_at(storage: Storage, mixture: int, sequence: int) -> Any:
    """Return a mixture as it was after an event."""
    begin = max((s for s in storage.snapshots(mixture) if s <= sequence), default=None)
    if begin is None:
        raise LookupError(f"the log does not reach back to event {sequence}")
    live = read_state(storage, mixture, begin)
    for event in storage.all_events(mixture, begin):
        if event.sequence > sequence:
            break
        live = repeat(storage, live, event)
    return live


def repeat(storage: Storage, mixture: Any, event: Event) -> Any:
    """Return a mixture after an event: itself, or the one of a snapshot.

    A correction needs earlier rounds, which a snapshot of a version before 0.3 does not hold; so
    there is a snapshot after each correction, which stands for the events that cannot be repeated.
    """
    operations = operations_of(event)
    try:
        for operation in operations:
            mixture.redo(operation)
    except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError) as error:
        if is_repeatable(operations):
            raise DamagedLog(
                f"event {event.sequence} does not fit the state before it: {error}"
            ) from error
        return read_state(storage, event.mixture, event.sequence)
    return mixture


def is_repeatable(operations: Iterable[Operation]) -> bool:
    """Tell whether operations can be repeated; else they need a snapshot after them.

    The correction of a gain can be: each snapshot of a router has the rounds that it needs.
    """
    return not any(
        CANNOT_BE_REPEATED in operation and "gain" not in operation for operation in operations
    )


def read_state(storage: Storage, mixture: int, sequence: int) -> Any:
    """Return the mixture of a snapshot."""
    state = storage.snapshot(mixture, sequence)
    if state is None:
        raise DamagedLog(f"mixture {mixture} has no snapshot of event {sequence}")
    try:
        text = zlib.decompress(state)
        return kind_of_state(text).read(text, f"snapshot {sequence}")
    except (ValueError, OSError, zlib.error) as error:
        raise DamagedLog(f"mixture {mixture}: {error}") from error


def state_text(thing: Any) -> str:
    """Return the state of a mixture or a router, as its ``save`` writes it."""
    return kind_of_object(thing).text(thing)


def compressed_state(thing: Any) -> bytes:
    """Return the state of a mixture or a router as a database holds it."""
    return zlib.compress(state_text(thing).encode("ascii"), 1)
