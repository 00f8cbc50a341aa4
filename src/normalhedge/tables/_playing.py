"""Play the rounds of a table, games on all cores and a long game in chunks; return its result."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras, threads
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import (
    EXPERT_SUMS,
    REGRET,
    TOTAL_SUMS,
    WILD,
    MixtureState,
    Schedule,
)
from normalhedge.mixtures.summaries import RECENT, ComponentLosses, score_components
from normalhedge.tables._intervals import TableIntervals
from normalhedge.tables._rounds import TableRounds, rounds_to_wait
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import Columns, free_name
from normalhedge.tables.quantiles import QuantileTable

BINS = 500
"""The largest number of stretches of time into which the sums are split."""

CHUNK = 1 << 22
"""About how many forecasts are played between two reports of progress."""

VALUES = 1 << 20
"""About how many values, of the blend and of its components, a thread holds at a time."""

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
    # components, last: the losses of the components of an automatic mixture; and the values of the
    # last rows
    components: ComponentLosses
    last: Floats


def play_table(
    session: TableSession,
    rounds: TableRounds,
    *,
    weights: bool,
    progress: Callable[[float], object] | None,
    observe: Callable[[slice, Floats], object] | None = None,
) -> TableSums:
    """Play all rounds of a table, and add its sums to the sums of the mixture.

    ``observe`` is called with new rows and their values, the blend and its components, which are
    kept only while a round waits.
    """
    n = len(session.state.names)
    count = int(rounds.offsets.max(initial=0)) + 1
    size = min(count, max(min(BINS, CHUNK // (EXPERT_SUMS * n)), 1))
    # With a million rounds and 500 bins the product exceeds 32 bits.
    bins = (np.maximum(rounds.offsets, 0) * np.int64(size) // count).astype(np.int32)
    distributions = np.full((len(rounds.outcomes), n) if weights else (0, n), np.nan)
    sums = len(session.state.live.expert_sums)
    experts = np.zeros((size, sums, n))
    totals = np.zeros((size, TOTAL_SUMS))
    live = session.state.live
    pieces = _pieces(rounds, n)
    player = _Player(session.state, rounds, bins, distributions, (size, sums, n), observe)
    components, last = ComponentLosses(), np.empty((0, rounds.values.shape[1] * live.value_count))
    # Functions of the user are called in the thread of the user.
    users = session.state.settings.loss.own or live.states is not None or observe is not None
    spread = _in_turn if users else threads.spread
    for done, piece in enumerate(pieces):
        for part in spread(player.play, piece):
            experts += part.experts
            totals[:, :REGRET] += part.totals[:, :REGRET]
            np.maximum(totals[:, REGRET:], part.totals[:, REGRET:], out=totals[:, REGRET:])
            components = components.plus(part.components)
            last = np.concatenate([last, part.last])[-RECENT:]
        if progress is not None:
            progress((done + 1) / len(pieces))
    new = (rounds.row_of >= 0).any()
    live.add_sums(experts, totals, rounds.base + count if new else session.state.rounds)
    starts = rounds.base + -(-np.arange(size) * count // size)
    return TableSums(starts, experts, totals, distributions, components, last)


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
    pieces = [parts[k : k + shares] for k in range(0, len(parts), shares)]
    return [[part for part in piece if len(part[1])] for piece in pieces]


class _Part(NamedTuple):
    """The result of a part of the rounds; the fields are as in `TableSums`."""

    experts: Floats
    totals: Floats
    components: ComponentLosses
    last: Floats


class _Player:
    """Plays shares of the games of a table, or one stretch of a game after the other."""

    def __init__(
        self,
        state: MixtureState,
        rounds: TableRounds,
        bins: np.ndarray,
        distributions: Floats,
        shape: tuple[int, int, int],
        observe: Callable[[slice, Floats], object] | None,
    ) -> None:
        self._state, self._rounds, self._observe = state, rounds, observe
        self._bins, self._distributions, self._shape = bins, distributions, shape
        self._to_wait = np.zeros(len(rounds.ready), dtype=bool)
        self._to_wait[rounds_to_wait(rounds, state.settings.max_pending)[0]] = True
        self._width = rounds.values.shape[1] * state.live.value_count
        self._before = list(rounds.waiting.items())
        # of each game that is played in several stretches: the first row of its values, and these
        self._held: dict[int, tuple[int, Floats]] = {}

    def play(self, games: slice, stop: np.ndarray) -> _Part:
        """Play some games, each up to a given round."""
        part = _Part(
            np.zeros(self._shape), np.zeros((self._shape[0], TOTAL_SUMS)), ComponentLosses(),
            np.empty((0, self._width)),
        )  # fmt: skip
        for stretch in self._stretches(games, stop):
            part = self._play(*stretch, part)
        return part

    def _stretches(
        self, games: slice, stop: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, slice]]:
        """Yield games, their ends and the rounds to predict, in stretches with few values."""
        rounds, most = self._rounds, max(VALUES // self._width, 1)
        rows = rounds.edges[stop[-1]] - rounds.edges[rounds.start[games][0]]
        if games.stop - games.start > 1 and rows <= most:
            yield games, stop, slice(int(rounds.first[games][0]), int(stop[-1]))
            return
        for k, end in zip(range(games.start, games.stop), stop.tolist(), strict=True):
            begin = int(rounds.start[k])
            rows = rounds.edges[end] - rounds.edges[begin]
            pieces = int(max(min(-(-rows // most), end - begin), 1))
            for piece in range(pieces):
                until = begin + (end - begin) * (piece + 1) // pieces
                waiting = rounds.order[int(rounds.settled[k]) : int(rounds.stop[k])]
                first = int(min(waiting.min(initial=until), rounds.start[k]))
                yield slice(k, k + 1), np.array([until]), slice(first, until)

    def _play(self, games: slice, stop: np.ndarray, here: slice, part: _Part) -> _Part:
        """Play a stretch, in whose rounds all values that are needed stand."""
        rounds, edges = self._rounds, self._rounds.edges
        start, first = int(rounds.start[games][0]), int(edges[here.start])
        values = self._values(here, games.start)
        self._state.live.play(
            Schedule(
                rounds.games[games], rounds.start[games], stop, rounds.settled[games], edges,
                rounds.offsets, rounds.ready, rounds.order, rounds.places, self._bins,
                rounds.forecasts, values, rounds.outcomes, rounds.items, self._distributions,
                part.experts, part.totals, rounds.base, rounds.cells, first,
            )
        )  # fmt: skip
        rounds.start[games] = stop
        for r in (start + np.flatnonzero(self._to_wait[start : here.stop])).tolist():
            rounds.waiting[r] = values[edges[r] - first : edges[r + 1] - first].copy()
        if stop[-1] < rounds.stop[games.stop - 1]:
            self._held[games.start] = first, values
        rows = slice(int(edges[start]), int(edges[here.stop]))
        return self._score(rows, values[rows.start - first :], part)

    def _values(self, here: slice, game: int) -> Floats:
        """Return an array for the values of rounds, with the values that are known already."""
        edges, first = self._rounds.edges, int(self._rounds.edges[here.start])
        values = np.full((int(edges[here.stop]) - first, self._width), np.nan)
        before = self._held.pop(game, None)
        if before is not None:
            known = before[1][first - before[0] :]
            values[: len(known)] = known
        for r, known in self._before if before is None else ():
            if here.start <= r < here.stop:
                values[edges[r] - first : edges[r + 1] - first] = known
        return values

    def _score(self, here: slice, values: Floats, part: _Part) -> _Part:
        """Keep the blend of some rows; return the part with the losses of components."""
        rounds = self._rounds
        rounds.values[here] = values[:, : rounds.values.shape[1]]
        new = rounds.row_of[here] >= 0
        outcomes, items = rounds.outcomes[here], rounds.items[here]
        if not new.all():
            values, outcomes, items = values[new], outcomes[new], items[new]
        if self._observe is not None:
            self._observe(here, values)
        losses = score_components(self._state, values, outcomes, items)
        last = values[np.flatnonzero(~np.isnan(values[:, 0]))[-RECENT:]]
        last = np.concatenate([part.last, last])[-RECENT:]
        return part._replace(components=part.components.plus(losses), last=last)


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
