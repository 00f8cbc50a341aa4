"""A mixture while a table is blended: its memory, and the facts that only tables need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import (
    LAST,
    DeferredOutcome,
    LastTable,
    MixtureState,
    PendingRound,
    RoundRecord,
    TableFacts,
)


@dataclass
class TableSession:
    """A private copy of a mixture, and the facts of its tables."""

    # the memory of the mixture: a copy, which takes the place of the mixture in the end
    books: MixtureState
    # deferred, last_times, time_kind, last_table: as in `TableFacts`
    deferred: dict[int, DeferredOutcome]
    last_times: dict[int, Any]
    time_kind: str
    last_table: LastTable | None

    @classmethod
    def of(cls, books: MixtureState) -> "TableSession":
        """Begin a session with a copy of the memory of a mixture."""
        facts = TableFacts.of(books.live)
        return cls(
            books,
            _copied(facts.deferred),
            dict(facts.last_times),
            facts.time_kind,
            facts.last_table,
        )

    def store(self) -> None:
        """Attach the facts to the memory of the mixture."""
        self.books.live.attached = TableFacts(
            _copied(self.deferred), dict(self.last_times), self.time_kind, self.last_table
        )

    def begin_table(self, time_kind: str) -> None:
        """Set the kind of a table's times; refuse a kind other than that of earlier tables."""
        if self.time_kind not in {"", time_kind} and self.last_times:
            raise ValueError("the times of this table cannot be compared with the earlier ones")
        self.time_kind = time_kind
        self.books.live.forget_checkpoints()

    def go_back(self, books: MixtureState) -> None:
        """Go on with another memory, which is given up: the one before the last table."""
        self.books.live.take_over(self.books.live.version, books.live)
        again = TableSession.of(self.books)
        self.deferred, self.last_times = again.deferred, again.last_times
        self.time_kind, self.last_table = again.time_kind, again.last_table

    def note(self, ticket: int, outcomes: Floats) -> None:
        """Add the losses of a pending round to the sums, before it is settled."""
        self.books.live.note(self.books.live.version, ticket, outcomes)

    def add_sums(self, expert_sums: Floats, totals: Floats, rounds: int) -> None:
        """Add the sums of a table to those of the mixture, and count its rounds."""
        self.books.live.add_sums(expert_sums, totals, rounds)

    def start_from_pool(self, items: Sequence[str]) -> None:
        """Let the games of new items start from the mean of the games of the others.

        With steps ahead, a game starts from the games of the same step, if there are any.
        """
        live, names = self.books.live, self.books.items
        if self.books.settings.shared or live.states is not None or not items:
            return
        new = {live.find_item(name) for name in items}
        played = live.marks[:, LAST].max(axis=1, initial=-1) >= 0
        known = [k for k in range(len(names)) if played[k] and k not in new]
        for name in items:
            _, step, count = name.rpartition("step ")
            like = [k for k in known if step and names[k].endswith(step + count)] or known
            if like:
                live.start_game(live.find_item(name), np.array(like, dtype=np.int64))

    def take_deferred(self) -> dict[int, tuple[PendingRound, DeferredOutcome]]:
        """Remove the pending rounds of earlier tables, and return them by ticket."""
        live = self.books.live
        rounds = {t: (self.books.pending[t], outcome) for t, outcome in self.deferred.items()}
        live.replace_pending(live.version, list(rounds), [], live.next_ticket, live.expired)
        self.deferred = {}
        return rounds

    def store_deferred(
        self, rounds: Iterable[tuple[int | None, PendingRound, DeferredOutcome]], expired: int
    ) -> None:
        """Store rounds of a table whose outcomes may not be used yet."""
        live, records, deferred = self.books.live, [], {}
        next_ticket = live.next_ticket
        for given, waiting, outcome in rounds:
            ticket = next_ticket if given is None else given
            next_ticket = max(next_ticket, ticket + 1)
            records.append(record(ticket, waiting))
            deferred[ticket] = outcome
        live.replace_pending(live.version, [], records, next_ticket, live.expired + expired)
        self.deferred = dict(sorted((self.deferred | deferred).items()))

    def replace_rounds(self, rounds: Iterable[tuple[int, PendingRound]]) -> None:
        """Replace pending rounds by others with the same tickets."""
        live = self.books.live
        records = [record(ticket, waiting) for ticket, waiting in rounds]
        live.replace_pending(live.version, [], records, live.next_ticket, live.expired)


def _copied(deferred: Mapping[int, DeferredOutcome]) -> dict[int, DeferredOutcome]:
    """Return deferred outcomes that may be filled in without a change to the others."""
    return {
        ticket: outcome._replace(outcomes=outcome.outcomes.copy())
        for ticket, outcome in deferred.items()
    }


def record(ticket: int, waiting: PendingRound) -> RoundRecord:
    """Return a pending round in the form that the core reads."""
    keys = tuple(waiting.keys) if isinstance(waiting.keys, list) else waiting.keys
    return RoundRecord(
        ticket,
        waiting.number,
        np.ascontiguousarray(waiting.forecasts),
        waiting.confidence,
        np.ascontiguousarray(waiting.values),
        waiting.items,
        keys,
        waiting.id,
        None if waiting.tokens is None else np.ascontiguousarray(waiting.tokens),
    )
