"""The present state of an object: one of its snapshots, and the events since, done again."""

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from normalhedge.live.journal import Operation
from normalhedge.mixtures.state import CANNOT_BE_REPEATED, HISTORY
from normalhedge.service._delays import FEW_OPERATIONS, Delays, read_delays
from normalhedge.service._kinds import kind_of_object, kind_of_state
from normalhedge.service._problems import DamagedLog
from normalhedge.service._storage import Event, Storage

T = TypeVar("T")

END = 1 << 62  # behind all events

MOST = 5000  # a recovery repeats at most this many operations, if there is a later snapshot


HEAVY = 0.001
"""After an event that takes longer, in seconds, other threads have Python's lock for as long."""


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


def recover(storage: Storage, mixture: int) -> Recovered:
    """Return the present state of a mixture or a router.

    It begins with the newest snapshot. One of a version before 0.3 does not hold the history, on
    which `Mixture.summary` and `Mixture.correct` depend: there it begins with a snapshot that is
    old enough for the later events to fill the history.
    """
    last, newest = first_snapshot(storage, mixture)
    live, operations = read_state(storage, mixture, newest), 0
    if kind_of_object(live).has_past(live):
        last = newest
    elif last != newest:
        live = read_state(storage, mixture, last)
    for event in storage.all_events(mixture, last):
        begun = time.thread_time()
        live = repeat(storage, live, event)
        last, took = event.sequence, time.thread_time() - begun
        if took > HEAVY:
            time.sleep(took)
        operations += event.operations if last > newest else 0
    delays = read_delays(storage, mixture, live.pending, FEW_OPERATIONS)
    return Recovered(live, last, newest, operations, delays)


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
    return advance(storage, mixture, read_state(storage, mixture, begin), begin, sequence)


def advance(storage: Storage, mixture: int, live: Any, after: int, sequence: int) -> Any:
    """Return a mixture after an event, from the mixture after an earlier one."""
    for event in storage.all_events(mixture, after):
        if event.sequence > sequence:
            break
        live = repeat(storage, live, event)
    return live


class Last(NamedTuple):
    """The state that was asked for last: the next question often repeats a few events only."""

    mixture: int
    sequence: int
    live: Any


_last: Last | None = None
_turn = threading.Lock()


def of_state(storage: Storage, mixture: int, sequence: int, call: Callable[[Any], T]) -> T:
    """Return the result of a function of the state of a mixture after an event."""
    global _last  # noqa: PLW0603 -- what a process remembers
    with _turn:
        last, _last = _last, None
        if last is not None and last.mixture == mixture and last.sequence <= sequence != END:
            live = advance(storage, mixture, last.live, last.sequence, sequence)
        else:
            live = state_at(storage, mixture, sequence)
        if sequence != END:
            _last = Last(mixture, sequence, live)
            live = live.copy()
    return call(live)


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
