"""A mixture or a router in the memory of the service."""

import asyncio
from typing import Any, NamedTuple

from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import LineStream
from normalhedge.mixtures.streams import Budget
from normalhedge.service._delays import Delays, Overdue, note
from normalhedge.service._kind import Kind
from normalhedge.service._kinds import kind_of
from normalhedge.service._recovery import Recovered
from normalhedge.service._storage import MixtureRow, SnapshotRow

SMALL = 1_000_000  # work on an object with at most so many bytes is quick


class Answered(NamedTuple):
    """The answer to a request."""

    answer: str  # the answer, as JSON
    replayed: bool = False  # whether the request had been done before, with the same key


class Loaded(NamedTuple):
    """The part of a `Live` that a request needs, also when it is unloaded meanwhile."""

    kind: Kind
    object: Any
    stream: LineStream
    done: list[Operation]


class Live:
    """A mixture or a router of the service: its row, and its state as far as it is loaded.

    All of it belongs to the thread of the event loop. An object that works in another thread is
    protected by its turn.
    """

    def __init__(self, row: MixtureRow) -> None:
        self.row, self.kind = row, kind_of(row.options)
        self.turn = asyncio.Lock()
        # exporting, summing: one client cannot fill the queue of slow work
        self.exporting, self.summing = asyncio.Lock(), asyncio.Lock()
        self.in_flight: dict[str, tuple[bytes | None, asyncio.Future[Answered]]] = {}
        self.cost = 5e-5
        self.unwritten = 0
        self.gone = False
        self.delays = Delays()
        # known, searched: whether the last delays were read, and earlier ones, too
        self.known = self.searched = False
        self.alerts: list[dict[str, Any]] | None = None  # None as long as nobody looked for them
        self.unload()

    def unload(self) -> None:
        """Forget the state: it is in the database."""
        self.object: Any = None  # a `Mixture` or a `Router`
        self.stream: LineStream | None = None
        self.done: list[Operation] = []
        self.sequence = self.snapshot = self.since = 0
        self.weight, self.state_size = 0, 0.0  # the bytes when it was weighed
        self.summary: tuple[int, str] | None = None

    def drop(self) -> None:
        """Forget a mixture that was deleted: requests that wait for it are refused."""
        self.gone = True
        self.unload()

    def snapshot_row(self, state: bytes, *, kept: bool) -> SnapshotRow:
        """Return the snapshot of a state after the last event; the next one replaces it."""
        row = SnapshotRow(self.row.id, self.sequence, state, kept, self.snapshot)
        self.snapshot, self.since = self.sequence, 0
        return row

    @property
    def size(self) -> int:
        """The bytes of the loaded object: its state, its checkpoints and its rounds."""
        return 0 if self.object is None else self.kind.size(self.object)

    @property
    def small(self) -> bool:
        """Whether it is loaded, and so small that work on it is quick."""
        return self.object is not None and self.kind.is_small(self.object) and self.size <= SMALL

    def take(self, state: Recovered, budget: Budget) -> None:
        """Continue from a state, within a budget of memory."""
        self.object = state.object
        self.done = []
        self.stream = self.kind.stream(state.object, self.done.append, budget)
        self.sequence, self.snapshot, self.since = state.sequence, state.snapshot, state.operations
        self.delays, self.known, self.searched = state.delays, True, False
        for ticket in state.object.pending:  # rounds of a state that was imported
            self.delays.made.setdefault(ticket, self.row.created)

    def loaded(self) -> Loaded:
        """Return the part that a request needs."""
        assert self.object is not None
        assert self.stream is not None
        return Loaded(self.kind, self.object, self.stream, self.done)

    def note(self, operations: list[Operation], now: float) -> int | None:
        """Note when rounds were predicted and settled; return the first ticket given out."""
        first = note(self.delays, operations, now)
        if (
            self.object is not None
            and len(self.delays.made) > self.object.settings.max_pending + 100
        ):
            self.delays.keep(self.object.pending)
        return first

    def overdue(self, now: float) -> Overdue:
        """Return the rounds that wait for too long."""
        overdue = self.delays.overdue(now)
        if overdue.rounds and self.object is not None:
            self.delays.keep(self.object.pending)  # some may have expired
            overdue = self.delays.overdue(now)
        return overdue

    def health(self, now: float) -> dict[str, Any]:
        """Return the numbers of a list of objects; some are missing if it is not loaded."""
        row, thing = self.row, self.object
        begun, ended = self.kind.moments
        numbers: dict[str, Any] = {
            "name": row.name,
            "created": row.created,
            "loaded": thing is not None,
            begun: self.delays.last_forecast,
            ended: self.delays.last_outcome,
        }
        if thing is None:
            return numbers
        numbers |= self.kind.health(thing)
        if self.kind.has_alerts:
            numbers["alerts"] = self.alerts or []
        return numbers | {
            "pending": len(thing.pending),
            "expired": thing.expired,
            "overdue": self.overdue(now).rounds,
            "overdue_after": self.delays.usual(),
        }
