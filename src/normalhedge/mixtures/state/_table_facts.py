"""The facts of tables beside a mixture: plain data, which a file of the mixture holds, too.

A mixture does not look at it. The core keeps it with the state, so that both change at once.
"""

from typing import Any, NamedTuple

from normalhedge._core import Live
from normalhedge.boundary.inputs import Floats


class DeferredOutcome(NamedTuple):
    """The outcomes of a pending round of a table, and the time from which they may be used."""

    game: int  # the game of the round
    due: int  # the number of further rounds of the game to predict before the outcomes may be used
    # with a cutoff, the times at which the outcomes of the rows are known; otherwise empty
    known: list[Any]
    time: Any  # the time of the round; None without a column of times
    outcomes: Floats  # the outcomes of the table; NaN where it has none
    since: int = 0  # the number of rounds of the game that were predicted after it


class LastTable(NamedTuple):
    """The last table of a mixture: see `normalhedge.tables._reruns`."""

    # the memory of the mixture before the table, its facts included; None if it was new
    before: Any
    until: dict[str, Any]  # the last time of each item whose outcome was known
    digest: str  # A digest of the rows with known outcomes
    # the number of rounds, the next ticket and the number of pending rounds after the table
    mark: tuple[int, int, int]


class TableFacts(NamedTuple):
    """The facts of the tables that a mixture has blended; replaced as a whole, never changed."""

    # the outcomes of pending rounds of a table, and when they may be used, by ticket
    deferred: dict[int, DeferredOutcome]
    # last_times, time_kind: the last time of each game, and the kind of the times
    last_times: dict[int, Any]
    time_kind: str = ""
    last_table: LastTable | None = None  # the last table, so that its rows are not learned twice

    @classmethod
    def of(cls, live: Live) -> "TableFacts":
        """Return the facts of a mixture, without deferred outcomes of rounds that wait no more."""
        facts = live.attached
        if facts is None:
            return cls({}, {})
        waiting = set(live.tickets()) if facts.deferred else set()
        if facts.deferred.keys() <= waiting:
            return facts  # type: ignore[no-any-return]
        return facts._replace(  # type: ignore[no-any-return]
            deferred={k: v for k, v in facts.deferred.items() if k in waiting}
        )
