"""Intervals for the rounds of a table, to the bit as a loop over `Mixture` has them.

Each item has its own game of `normalhedge.mixtures.intervals.Conformal`. The outcome of a row is
used when its round may be learned from, as for the weights.
"""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables._session import TableSession


@dataclass(frozen=True)
class TableIntervals:
    """The intervals of a table."""

    levels: tuple[float, ...]  # the levels, in rising order
    bounds: Floats  # the lower and the upper bound of each level, for each row of the rounds
    # the same for rows of the panel that were predicted before and still wait, by their place
    again: dict[int, Floats]
    tokens: dict[int, Floats]  # the tokens of rounds that wait after the table, by round

    def names(self, of: str = "blend") -> list[str]:
        """Return the names of the columns of ``bounds``, as Nixtla's libraries have them."""
        percents = [f"{100.0 * level:.10g}" for level in self.levels]
        return [f"{of}-{side}-{percent}" for percent in percents for side in ("lo", "hi")]


def play_intervals(session: TableSession, rounds: TableRounds) -> TableIntervals | None:
    """Return the intervals of a table; None if the mixture has none."""
    memory, live = session.state.intervals, session.state.live
    if memory is None:
        return None
    conformal = memory.conformal
    rows, levels, sizes = len(rounds.items), len(conformal.levels), np.diff(rounds.edges)
    of_round = np.repeat(np.arange(len(sizes)), sizes)  # of each row
    order = np.argsort(rounds.row_of >= 0, kind="stable")  # rows predicted before come first
    tickets, length = list(session.deferred), conformal.sizes[1] + 1
    pending_rounds = np.flatnonzero(rounds.old >= 0).tolist()
    earlier = {r: session.state.pending[tickets[rounds.old[r]]] for r in pending_rounds}
    tokens = np.concatenate(
        [np.empty((0, length)), *(e.tokens for e in earlier.values() if e.tokens is not None)]
    )
    # The phase of the season is taken from the number of a round.
    numbers = rounds.base + rounds.offsets.astype(np.int64)
    numbers[pending_rounds] = [e.number for e in earlier.values()]
    bases = rounds.values[:, memory.columns]
    run = conformal.run(
        (bases.reshape(rows, levels, 2) if conformal.quantiles else bases[:, 0])[order],
        rounds.outcomes[order],
        known_at=_known_at(rounds, of_round, order)[order],
        game=rounds.items[order].astype(np.int64),
        moment=numbers[of_round][order],
        games=live.intervals,
        tokens=tokens[:, :-1],
        numbers=tokens[:, -1].astype(np.int64),
        predicted=live.interval_rounds,
    )
    bounds = np.empty((rows, 2 * levels))
    bounds[order, 0::2], bounds[order, 1::2] = run.low, run.high
    first = {int(rounds.old[r]): int(rounds.edges[r]) for r in earlier}
    again = {row: bounds[first[old] + k] for row, (_, old, k) in rounds.again.items()}
    live.assign(live.version, {"intervals": run.games, "interval_rounds": run.predicted})
    kept = np.empty((rows, length))
    waiting = order[run.waiting]
    kept[waiting] = np.column_stack([run.tokens, run.numbers])
    spans = {r: slice(*rounds.edges[r : r + 2]) for r in np.unique(of_round[waiting]).tolist()}
    tokens_of = {r: kept[span].copy() for r, span in spans.items()}
    return TableIntervals(conformal.levels, bounds, again, tokens_of)


def _known_at(rounds: TableRounds, of_round: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the place in ``order`` of the row before which the outcome of each row is used.

    The number of rows stands for the end of the table, and one more for rounds that wait,
    because their outcomes may not be used yet, or are all unknown.
    """
    rows = len(of_round)
    place = np.empty(rows + 1, dtype=np.int64)
    place[order], place[rows] = np.arange(rows), rows
    stop = np.repeat(rounds.stop, rounds.stop - rounds.first)
    ready = rounds.ready.astype(np.int64)
    known = np.where(ready < stop, place[rounds.edges[np.minimum(ready, stop - 1)]], rows)
    unknown = np.ones(len(ready), dtype=bool)
    unknown[of_round[~np.isnan(rounds.outcomes)]] = False
    known[(ready > stop) | unknown] = rows + 1
    return np.asarray(known[of_round])
