"""A mixture while a table is blended: its memory, and the facts that only tables need."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.mixtures.state import DeferredOutcome, LastTable, MixtureState, TableFacts
from normalhedge.tables.frames import Panel, series_of


@dataclass
class TableSession:
    """A private copy of a mixture, and the facts of its tables."""

    # the memory of the mixture: a copy, which takes the place of the mixture in the end
    state: MixtureState
    # deferred, last_times, time_kind, last_table: as in `TableFacts`
    deferred: dict[int, DeferredOutcome]
    last_times: dict[int, Any]
    time_kind: str
    last_table: LastTable | None

    @classmethod
    def of(cls, state: MixtureState) -> "TableSession":
        """Begin a session with a copy of the memory of a mixture."""
        return cls(state, *_copy(TableFacts.of(state.live)))

    def store(self) -> None:
        """Attach the facts to the memory of the mixture."""
        facts = TableFacts(self.deferred, self.last_times, self.time_kind, self.last_table)
        self.state.live.attached = _copy(facts)

    def begin_table(self, time_kind: str) -> None:
        """Set the kind of a table's times; refuse another kind than earlier tables have."""
        if self.time_kind not in {"", time_kind} and self.last_times:
            raise ValueError("the times of this table cannot be compared with the earlier ones")
        self.time_kind = time_kind
        self.state.live.forget_checkpoints()

    def go_back(self) -> None:
        """Go on with the mixture as it was before the last table."""
        assert self.last_table is not None
        before = self.last_table.before
        state = MixtureState.new(self.state.settings) if before is None else before.copy()
        self.state.live.take_over(self.state.live.version, state.live)
        vars(self).update(vars(TableSession.of(self.state)))

    def first_new_times(self, panel: Panel) -> np.ndarray:
        """Return, for each item of a panel, the first of its times after the last times here.

        With a cutoff, the steps of a series are numbered in each table: a row that comes again,
        without the steps before it, has another number. So a time is new to all steps of a series
        or to none.
        """
        keys: Any = panel.time_keys
        ends = {game: int(np.searchsorted(keys, t, "right")) for game, t in self.last_times.items()}
        if self.state.settings.shared:
            return np.full(len(panel.items), ends.get(0, 0))
        latest: dict[str, int] = {}
        for game, end in ends.items():
            name = series_of(self.state.items[game], steps=panel.known is not None)
            latest[name] = max(latest.get(name, 0), end)
        return np.array([latest.get(name, 0) for name in panel.series_names])


def _copy(facts: TableFacts) -> TableFacts:
    """Return facts whose outcomes and times may be filled in without a change to the others."""
    deferred = {
        ticket: outcome._replace(outcomes=outcome.outcomes.copy())
        for ticket, outcome in facts.deferred.items()
    }
    return facts._replace(deferred=deferred, last_times=dict(facts.last_times))
