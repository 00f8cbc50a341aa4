"""Play the rounds of a table, games on all cores and a long game in chunks; return its result."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary import extras, threads
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import EXPERT_SUMS, REGRET, TOTAL_SUMS, WILD, Schedule
from normalhedge.tables._intervals import TableIntervals
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import Columns, free_name
from normalhedge.tables.quantiles import QuantileTable

BINS = 500
"""The largest number of stretches of time into which the sums are split."""

CHUNK = 1 << 22
"""About how many forecasts are played between two reports of progress."""

SMALL, SHARES = 1 << 17, 8
"""From this number of forecasts on, games are divided into this many shares for the cores."""


class TableSums(NamedTuple):
    """The sums of a table, split into stretches of time."""

    starts: np.ndarray  # the number of the first round of each stretch
    # experts, totals: stretches x sums x experts, and stretches x sums; see
    # `normalhedge.mixtures.state.sum_rows`
    experts: Floats
    totals: Floats
    # the distribution over the experts in each row; empty if it was not asked for
    distributions: Floats


def play_table(
    session: TableSession,
    rounds: TableRounds,
    *,
    weights: bool,
    progress: Callable[[float], object] | None,
) -> TableSums:
    """Play all rounds of a table, and add its sums to the sums of the mixture."""
    n = len(session.state.names)
    count = int(rounds.offsets.max(initial=0)) + 1
    size = min(count, max(min(BINS, CHUNK // (EXPERT_SUMS * n)), 1))
    # With a million rounds and 500 bins the product exceeds 32 bits.
    bins = (np.maximum(rounds.offsets, 0) * np.int64(size) // count).astype(np.int32)
    distributions = np.full((len(rounds.outcomes), n) if weights else (0, n), np.nan)
    sums = len(session.state.live.expert_sums)
    experts = np.zeros((size, sums, n))
    totals = np.zeros((size, TOTAL_SUMS))
    pieces = _pieces(rounds, n)
    # Functions of the user are called in the thread of the user.
    live = session.state.live
    users = session.state.settings.loss.own or live.states is not None
    spread = _in_turn if users else threads.spread
    for done, piece in enumerate(pieces):
        parts = spread(
            lambda games, stop: _play_part(
                live, rounds, games, stop, bins, distributions, (size, sums, n)
            ),
            piece,
        )
        for part_experts, part_totals in parts:
            experts += part_experts
            totals[:, :REGRET] += part_totals[:, :REGRET]
            np.maximum(totals[:, REGRET:], part_totals[:, REGRET:], out=totals[:, REGRET:])
        if progress is not None:
            progress((done + 1) / len(pieces))
    new = (rounds.row_of >= 0).any()
    live.add_sums(experts, totals, rounds.base + count if new else session.state.rounds)
    starts = rounds.base + -(-np.arange(size) * count // size)
    return TableSums(starts, experts, totals, distributions)


def _in_turn(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [function(*item) for item in items]


def _pieces(rounds: TableRounds, n: int) -> list[list[tuple[slice, np.ndarray]]]:
    """Return the pieces played between two reports of progress: shares of games for the cores.

    The pieces depend on the data alone, so that the sums are the same for any number of cores.
    """
    games = len(rounds.games)
    cells = len(rounds.outcomes) * n
    if games == 1:
        start, stop = int(rounds.start[0]), int(rounds.stop[0])
        chunks = max(cells // CHUNK, 1)
        edges = [start + (stop - start) * (k + 1) // chunks for k in range(chunks)]
        return [[(slice(0, 1), np.array([edge]))] for edge in edges]
    shares = 1 if cells < SMALL else SHARES
    groups = max(min(cells // CHUNK, games // shares), 1)
    edges = [games * k // (groups * shares) for k in range(groups * shares + 1)]
    parts = [(slice(a, b), rounds.stop[a:b]) for a, b in pairwise(edges)]
    return [parts[k : k + shares] for k in range(0, len(parts), shares)]


def _play_part(
    live: Live,
    rounds: TableRounds,
    games: slice,
    stop: np.ndarray,
    bins: np.ndarray,
    distributions: Floats,
    shape: tuple[int, int, int],
) -> tuple[Floats, Floats]:
    """Play some games, each up to a given round; return the sums."""
    experts = np.zeros(shape)
    totals = np.zeros((shape[0], TOTAL_SUMS))
    live.play(
        Schedule(
            rounds.games[games], rounds.start[games], stop, rounds.settled[games], rounds.edges,
            rounds.offsets, rounds.ready, rounds.order, rounds.places, bins, rounds.forecasts,
            rounds.values, rounds.outcomes, rounds.items, distributions, experts, totals,
            rounds.base, rounds.cells,
        )
    )  # fmt: skip
    rounds.start[games] = stop
    return experts, totals


def result_table(
    index: Any,
    rounds: TableRounds,
    sums: TableSums,
    names: Sequence[str],
    layout: Columns | QuantileTable,
    intervals: TableIntervals | None,
) -> Any:
    """Return the Arrow table of predictions, in the order of the rows of the given table."""
    pa = extras.require("pyarrow")
    if isinstance(layout, QuantileTable):
        heads = layout.value_names()
    else:
        heads = [f"blend_{name}" for name in layout.classes] or ["blend"]
    place = rounds.new_rows()
    # Of one event, the second class is that it happens.
    first = 1 if isinstance(layout, Columns) and layout.binary else 0
    shown = slice(first, first + len(heads))
    rows, blocks = rounds.row_of[place], [rounds.values[place, shown]]
    again = {row: seen.values[shown] for row, seen in rounds.again.items()}
    if intervals is not None:
        # Quantiles of the blend may have intervals of their own.
        heads = [*heads, *intervals.names("blend" if len(heads) == 1 else "calibrated")]
        blocks.append(intervals.bounds[place])
        again = {row: np.append(values, intervals.again[row]) for row, values in again.items()}
    if len(sums.distributions):
        heads = [*heads, *(f"weight_{name}" for name in names)]
        blocks.append(sums.distributions[place])
    cells = np.concatenate(blocks, axis=1)
    if again:  # rows that were predicted before, and still wait; they have no weights
        earlier = np.full((len(again), len(heads)), np.nan)
        earlier[:, : len(next(iter(again.values())))] = [*again.values()]
        rows = np.concatenate([rows, np.array(list(again), dtype=rows.dtype)])
        order = np.argsort(rows, kind="stable")
        rows, cells = rows[order], np.concatenate([cells, earlier])[order]
    result = index if len(rows) == index.num_rows else index.take(pa.array(rows))
    for name, column in zip(heads, cells.T, strict=True):
        values = pa.array(column, from_pandas=True)
        result = result.append_column(free_name(name, result), values)
    return layout.to_layout(result) if isinstance(layout, QuantileTable) else result


def infinite_forecasts(totals: Floats) -> list[str]:
    """Return a note on infinite forecasts; none if there are none."""
    count = int(totals[:, WILD].sum())
    return [f"{count:,} infinite forecast{'s' * (count > 1)} counted as missing"] if count else []
