"""A mixture in the memory of the service."""

import asyncio
from typing import Any, NamedTuple

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state import Operation, sum_rows
from normalhedge.mixtures.streams import Budget, Stream
from normalhedge.service._delays import Delays, Overdue, note
from normalhedge.service._recovery import Recovered
from normalhedge.service._storage import MixtureRow, SnapshotRow

SMALL, CELLS = 1_000_000, 200
"""Work on a mixture with at most so many bytes, items times experts is quick."""


class Answered(NamedTuple):
    """The answer to a request."""

    answer: str  # the answer, as JSON
    replayed: bool = False  # whether the request had been done before, with the same key


class LoadedMixture(NamedTuple):
    """The part of a `LiveMixture` that a request needs, also when it is unloaded meanwhile."""

    mixture: Mixture
    stream: Stream
    done: list[Operation]


class LiveMixture:
    """A mixture of the service: its row, and its state as far as it is loaded.

    All of it belongs to the thread of the event loop. A mixture that works in another thread is
    protected by its turn.
    """

    def __init__(self, row: MixtureRow) -> None:
        self.row = row
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
        self.mixture: Mixture | None = None
        self.stream: Stream | None = None
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
        """The bytes of the loaded mixture: its state, its checkpoints and its rounds."""
        if self.mixture is None:
            return 0
        live = self.mixture.live
        return int(live.bytes_with(0, 0, 0, 0)) + live.bytes_of_rounds

    @property
    def small(self) -> bool:
        """Whether it is loaded, and so small that work on it is quick."""
        mixture = self.mixture
        return (
            mixture is not None
            and len(mixture.names) * len(mixture.items) <= CELLS
            and self.size <= SMALL
        )

    def take(self, state: Recovered, budget: Budget) -> None:
        """Continue from a state, within a budget of memory."""
        self.mixture = state.mixture
        self.done = []
        self.stream = Stream(state.mixture, self.done.append, budget)
        self.sequence, self.snapshot, self.since = state.sequence, state.snapshot, state.operations
        self.delays, self.known, self.searched = state.delays, True, False
        for ticket in state.mixture.pending:  # rounds of a state that was imported
            self.delays.made.setdefault(ticket, self.row.created)

    def loaded(self) -> LoadedMixture:
        """Return the part that a request needs."""
        assert self.mixture is not None
        assert self.stream is not None
        return LoadedMixture(self.mixture, self.stream, self.done)

    def note(self, operations: list[Operation], now: float) -> int | None:
        """Note when rounds were predicted and settled; return the first ticket given out."""
        first = note(self.delays, operations, now)
        if self.mixture is not None and len(self.delays.made) > self.mixture.max_pending + 100:
            self.delays.keep(self.mixture.pending)
        return first

    def overdue(self, now: float) -> Overdue:
        """Return the rounds that wait for too long."""
        overdue = self.delays.overdue(now)
        if overdue.rounds and self.mixture is not None:
            self.delays.keep(self.mixture.pending)  # some may have expired
            overdue = self.delays.overdue(now)
        return overdue

    def health(self, now: float) -> dict[str, Any]:
        """Return the numbers of a list of mixtures; None where the mixture is not loaded."""
        row, mixture = self.row, self.mixture
        numbers: dict[str, Any] = {
            "name": row.name,
            "created": row.created,
            "loaded": mixture is not None,
            "last_forecast": self.delays.last_forecast,
            "last_outcome": self.delays.last_outcome,
        }
        if mixture is None:
            return numbers
        totals = mixture.live.total_sums
        settled = float(totals[sum_rows.SETTLED])
        blend, uniform = float(totals[sum_rows.BLEND]), float(totals[sum_rows.UNIFORM])
        return numbers | {
            "experts": len(mixture.names),
            "items": len(mixture.items),
            "rounds": mixture.rounds,
            "settled": int(settled),
            "pending": len(mixture.pending),
            "expired": mixture.expired,
            "overdue": self.overdue(now).rounds,
            "overdue_after": self.delays.usual(),
            "loss": blend / settled if settled else None,
            "plain_mean_loss": uniform / settled if settled else None,
            "worse_than_plain_mean": bool(settled and blend > uniform),
            "coverage": coverage_rows(mixture.covered()),
            "loss_name": str(mixture.settings.loss),
            "alerts": self.alerts or [],
        }


def coverage_rows(covered: list[tuple[float, float, int]]) -> list[dict[str, Any]]:
    """Return the coverage of intervals as plain data."""
    return [
        {"level": level, "covered": share if count else None, "outcomes": count}
        for level, share, count in covered
    ]
