"""A mixture in the memory of the service."""

import asyncio
from collections import deque
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state import Operation, sum_rows
from normalhedge.mixtures.streams import Budget, Stream
from normalhedge.service._recovery import Recovered
from normalhedge.service._storage import MixtureRow, SnapshotRow

DELAYS = 100  # the number of delays of outcomes that are remembered

LATE = 2.0
"""An outcome is overdue when it takes this many times as long as the median of the last ones."""

WATCH, SPARE = 1.0, 50.0
"""Alerts are looked for at most once in WATCH seconds, and in SPARE times as long as that took."""

ENOUGH = 5  # the number of delays from which on outcomes can be overdue


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
        self.in_flight: dict[str, tuple[bytes | None, asyncio.Future[Answered]]] = {}
        self.cost = 5e-5
        self.unwritten = 0
        self.gone = False
        self.last_forecast: float | None = None
        self.last_outcome: float | None = None
        self.delays: deque[float] = deque(maxlen=DELAYS)
        self.unload()

    def unload(self) -> None:
        """Forget the state: it is in the database."""
        self.mixture: Mixture | None = None
        self.stream: Stream | None = None
        self.done: list[Operation] = []
        self.made: dict[int, float] = {}
        self.sequence = self.snapshot = self.since = 0
        self.weight, self.state_size = 0, 0.0  # the bytes when it was weighed
        self.summary: tuple[int, str] | None = None
        self._watched: tuple[int, float] = (-1, 0.0)  # the last look: the event, and its end
        self._rest = 0.0
        self._alerts: list[dict[str, Any]] = []

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

    def take(self, state: Recovered, budget: Budget) -> None:
        """Continue from a state, within a budget of memory."""
        self.mixture = state.mixture
        self.done = []
        self.stream = Stream(state.mixture, self.done.append, budget)
        self.sequence, self.snapshot, self.since = state.sequence, state.snapshot, state.operations
        self.made = state.made
        self.last_forecast = state.last_forecast or self.last_forecast
        self.last_outcome = state.last_outcome or self.last_outcome

    def loaded(self) -> LoadedMixture:
        """Return the part that a request needs."""
        assert self.mixture is not None
        assert self.stream is not None
        return LoadedMixture(self.mixture, self.stream, self.done)

    def note(self, operations: list[Operation], now: float) -> int | None:
        """Note when rounds were predicted and settled; return the first ticket given out."""
        first = None
        for operation in operations:
            if "predict" in operation:
                ticket = operation["ticket"]
                first = ticket if first is None else first
                self.made[ticket] = self.last_forecast = now
            elif "update" in operation:
                self.last_outcome = now
                begun = self.made.pop(operation["update"], None)
                if begun is not None:
                    self.delays.append(now - begun)
        if self.mixture is not None and len(self.made) > self.mixture.max_pending + 100:
            pending = self.mixture.pending
            self.made = {ticket: time for ticket, time in self.made.items() if ticket in pending}
        return first

    def overdue(self, now: float) -> int:
        """Return how many outcomes take much longer than the last ones did."""
        if len(self.delays) < ENOUGH:
            return 0
        oldest = now - LATE * max(median(self.delays), 1.0)
        return sum(time < oldest for time in self.made.values())

    def alerts(self, now: float) -> list[dict[str, Any]]:
        """Return the alerts of the loaded mixture, as they were some seconds ago at most."""
        sequence, before = self._watched
        stale = sequence != self.sequence and not 0.0 <= now - before < self._rest
        if self.mixture is not None and stale and not self.turn.locked():
            start = perf_counter()
            self._alerts = [alert.to_plain() for alert in self.mixture.alerts()]
            self._rest = max(WATCH, SPARE * (perf_counter() - start))
            self._watched = self.sequence, now
        return self._alerts

    def health(self, now: float) -> dict[str, Any]:
        """Return the numbers of a list of mixtures; None where the mixture is not loaded."""
        row, mixture = self.row, self.mixture
        numbers: dict[str, Any] = {
            "name": row.name,
            "created": row.created,
            "loaded": mixture is not None,
            "last_forecast": self.last_forecast,
            "last_outcome": self.last_outcome,
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
            "overdue": self.overdue(now),
            "loss": blend / settled if settled else None,
            "plain_mean_loss": uniform / settled if settled else None,
            "worse_than_plain_mean": bool(settled and blend > uniform),
            "coverage": coverage_rows(mixture.covered()),
            "loss_name": str(mixture.settings.loss),
            "alerts": self.alerts(now),
        }


def coverage_rows(covered: list[tuple[float, float, int]]) -> list[dict[str, Any]]:
    """Return the coverage of intervals as plain data."""
    return [
        {"level": level, "covered": share if count else None, "outcomes": count}
        for level, share, count in covered
    ]
