"""Arrange the rows of a panel, and the pending rounds of a mixture, as rounds for the core."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import (
    LAST,
    DeferredOutcome,
    RoundRecord,
    item_indices,
    join_classes,
    let_sleep,
    widen,
)
from normalhedge.tables._contexts import no_cells, place_rows
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import Panel, series_of

NEVER = 1 << 30
"""Stands for the settling round of a round that this table cannot settle."""


class RowAgain(NamedTuple):
    """A row that was predicted before, and still waits for its outcome."""

    values: Floats  # the prediction made then
    # round, place: the number of its round among the pending ones, and its place in the round
    round: int
    place: int


@dataclass
class TableRounds:
    """Rows sorted by game and time; see ``Schedule`` in ``src/core/schedule.hpp``."""

    # forecasts, outcomes, values, items: the forecasts, the outcome, the blend and the item of each
    # row
    forecasts: Floats
    outcomes: Floats
    values: Floats
    items: np.ndarray
    cells: np.ndarray  # the cells of the contexts of each row, -1 without; no rows without contexts
    row_of: np.ndarray  # the place of each row in the panel; -1 for a row that was predicted before
    edges: np.ndarray  # the first row of each round, and the number of rows at the end
    # the number of each round, counted from ``base``; -1 for a pending round of earlier tables
    offsets: np.ndarray
    # for each round, the round of its game from which on its outcomes may be used
    ready: np.ndarray
    # the rounds of each game in the order in which they are settled: by ``ready``
    order: np.ndarray
    # the number of each new round, whose differences count the rounds of a game; for a pending
    # round, minus one and the number of rounds of its game that were predicted after it
    places: np.ndarray
    codes: np.ndarray  # the index of each round's time in ``time_keys``; -1 for a pending round
    # the place of a round among the pending rounds of earlier tables; -1 for a new round
    old: np.ndarray
    # with a cutoff, the time from which on the outcomes of each round are known; else None
    known: np.ndarray | None
    # time_keys, known_rows: the distinct times, and with a cutoff the time at which the outcome of
    # each row of the panel is known; None without times
    time_keys: np.ndarray | None
    known_rows: np.ndarray | None
    games: np.ndarray  # the game of each of the following entries
    # first, start, stop: the first round of each game, its first new round, and its end
    first: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    # the place in ``order`` of the first round of each game that is not settled
    settled: np.ndarray
    base: int  # the number of the first new round
    # the predictions of rows of the panel that were predicted before and still wait for their
    # outcomes, by the place of the row
    again: dict[int, RowAgain] = field(default_factory=dict)
    # the values of rounds that wait, by the number of the round: the blend, then its components
    waiting: dict[int, Floats] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences about rows that were seen before

    def new_rows(self) -> np.ndarray:
        """Return the places of the new rows, in the order of the panel."""
        return np.argsort(self.row_of, kind="stable")[np.count_nonzero(self.row_of < 0) :]


def arrange(session: TableSession, panel: Panel, lag: int) -> TableRounds:
    """Return the pending rounds of earlier tables, followed by the rounds of a panel."""
    _join_experts(session, panel)
    notes: list[str] = []
    items = _join_items(session, panel.items, notes)[panel.series]
    games = np.zeros_like(items) if session.state.settings.shared else items
    again: dict[int, RowAgain] = {}
    fresh = _find_new_rows(session, panel, items, again, notes)
    # Rounds are numbered by their times, after the last round of the mixture.
    distinct = np.flatnonzero(np.bincount(panel.times[fresh]))
    if panel.of_whole and panel.time_keys is not None:
        distinct = np.arange(len(panel.time_keys))
    rows = _new_rows(session, panel, fresh)
    parts = (panel.outcomes, items, games, panel.times)
    outcomes, items, games, times = parts if fresh.all() else (part[fresh] for part in parts)
    if len(distinct) <= distinct.max(initial=-1):  # some times are not new
        times = np.searchsorted(distinct, times).astype(np.int32)
    places, none = np.arange(len(fresh), dtype=np.int32), np.empty(0, dtype=np.int32)
    # The steps ahead of one time are rounds of their own: their outcomes are known one by one.
    steps = np.zeros_like(times)
    if panel.steps is not None and session.state.settings.shared:
        steps = panel.steps[fresh]
    columns = [
        rows, outcomes, items, games, times, places if fresh.all() else places[fresh], steps,
    ]  # fmt: skip
    if panel.contexts or session.state.live.cells:
        columns.append(no_cells(len(rows)))
    del parts, items, games, times, fresh, places, steps
    columns = _sort(session, columns, len(distinct))
    table, outcomes, item, game, code, row_of, step = columns[:7]
    seen = row_of < 0
    places_before, row_of[seen] = -1 - row_of[seen], -1
    values = np.full((len(table), table.shape[1]), np.nan)
    if session.state.settings.include:
        session.state.live.fill_plain(table, None)
    begins = np.ones(len(game), dtype=bool)
    begins[1:] = (game[1:] != game[:-1]) | (code[1:] != code[:-1]) | (step[1:] != step[:-1])
    cells = columns[7] if len(columns) > 7 else no_cells(0)
    notes += place_rows(session, panel, row_of, np.cumsum(begins), cells)
    edges = np.append(np.flatnonzero(begins), len(game)).astype(np.int32)
    game, code, new = game[begins], code[begins], row_of[begins] >= 0
    first = np.flatnonzero(np.diff(game, prepend=-1)) if len(game) else np.zeros(0, dtype=np.int64)
    stop = np.append(first[1:], len(game)) if len(first) else first
    start = first + np.add.reduceat((~new).astype(np.int64), first) if len(first) else first
    offsets = codes = code
    old = np.broadcast_to(np.int32(-1), len(code))
    if len(distinct) <= distinct.max(initial=-1):
        codes = distinct.astype(np.int32)[np.maximum(code, 0)]
    if not new.all():
        offsets, codes = np.where(new, offsets, -1), np.where(new, codes, -1)
        old = np.where(new, old, code + np.int32(len(session.deferred)))
    result = TableRounds(
        table, outcomes, values, item, cells, row_of, edges,
        offsets, none, none, none, codes, old,  # _set_ready fills in three
        _known(session, panel, row_of, edges, code, new), panel.time_keys, panel.known,
        game[first].astype(np.int64), first, start, stop, first.copy(), session.state.rounds, again,
        notes=notes,
    )  # fmt: skip
    _set_ready(result, list(session.deferred.values()), lag)
    if session.deferred:
        _restore_values(session, result, places_before)
    return result


def _restore_values(session: TableSession, rounds: TableRounds, places: np.ndarray) -> None:
    """Write the predictions of rounds that were pending, whose rows had these places before."""
    pending = session.state.pending
    values = np.concatenate([pending[ticket].values for ticket in session.deferred])[places]
    rows = np.flatnonzero(rounds.row_of < 0)
    rounds.values[rows] = values[:, : rounds.values.shape[1]]
    for r in np.flatnonzero(rounds.old >= 0).tolist():
        rounds.waiting[r] = values[slice(*np.searchsorted(rows, rounds.edges[r : r + 2]))]


def _join_experts(session: TableSession, panel: Panel) -> None:
    session.begin_table(panel.time_kind)
    session.state.join(panel.experts)
    join_classes(session.state.live, session.state.settings.loss, panel.forecasts.shape[1])


def _sort(session: TableSession, columns: list[np.ndarray], times: int) -> list[np.ndarray]:
    """Return the columns of rows, pending ones included, by game, time, step and item."""
    if session.deferred:
        deferred = _deferred_rows(session)
        pairs = zip(deferred[: len(columns)], columns, strict=True)
        columns = [np.concatenate(pair) for pair in pairs]
    times, items = times + len(session.deferred) + 1, len(session.state.items)
    steps = columns[6]
    key = columns[3] * np.int64(times)
    for column, count in ((columns[4], int(steps.max(initial=0)) + 1), (steps, items)):
        key += column
        key *= count
    key += columns[2]
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
        columns = [column[order] for column in columns]
    return columns


def _join_items(session: TableSession, names: list[str], notes: list[str]) -> np.ndarray:
    """Let items join that are new, and return the index of each item."""
    known = set(session.state.items)
    new = [name for name in names if name not in known] if known else []
    indices = item_indices(session.state.live, names)
    if new:
        _start_from_pool(session, new)
        shown = ", ".join(new[:3]) + ", ..." * (len(new) > 3)
        notes.append(f"{len(new)} new series started from the pooled weights: {shown}")
    return indices


def _start_from_pool(session: TableSession, items: list[str]) -> None:
    """Let the games of new items start from the mean of the games of the others.

    With steps ahead, a game starts from the games of the same step, if there are any.
    """
    live, names = session.state.live, session.state.items
    if session.state.settings.shared or live.states is not None:
        return
    new = {live.find_item(name) for name in items}
    played = live.marks[:, LAST].max(axis=1, initial=-1) >= 0
    others = [k for k in range(len(names)) if played[k] and k not in new]
    for name in items:
        _, step, count = name.rpartition("step ")
        like = [k for k in others if step and names[k].endswith(step + count)] or others
        if like:
            live.start_game(live.find_item(name), np.array(like, dtype=np.int64))


def _new_rows(session: TableSession, panel: Panel, fresh: np.ndarray) -> Floats:
    """Return the forecasts of the rows not seen before, with a column for each name."""
    state = session.state
    columns, n = [state.live.find(name) for name in panel.experts], len(state.names)
    if fresh.all() and columns == list(range(n)) and not state.retired:
        return panel.forecasts
    rows = np.full((fresh.sum(), panel.forecasts.shape[1], n), np.nan)
    rows[:, :, columns] = panel.forecasts if fresh.all() else panel.forecasts[fresh]
    let_sleep(state.live, rows)
    return rows


def _deferred_rows(session: TableSession) -> list[np.ndarray]:
    """Return the columns of the rows of pending rounds, as in `arrange`.

    Their codes are negative: they come before the new rows, in the order of their tickets. Instead
    of places in the panel they have their numbers among these rows, -1, -2, ...
    """
    parts, place = [], 0
    for k, (ticket, deferred) in enumerate(session.deferred.items()):
        pending = session.state.pending[ticket]
        rows, code = len(pending.items), k - len(session.deferred)
        forecasts, game = widen(session.state.live, pending.forecasts, None)[0], deferred.game
        codes, step = (np.full(rows, x, dtype=np.int32) for x in (code, 0))
        places = -1 - np.arange(place, place + rows, dtype=np.int32)
        place += rows
        columns = (forecasts, deferred.outcomes, pending.items, np.full(rows, game), codes)
        cells = no_cells(rows) if pending.cells is None else pending.cells
        parts.append((*columns, places, step, cells))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _find_new_rows(
    session: TableSession,
    panel: Panel,
    items: np.ndarray,
    again: dict[int, RowAgain],
    notes: list[str],
) -> np.ndarray:
    """Return which rows are later than the last time of their game.

    Outcomes in the other rows are filled into pending rounds that lack them, and the predictions of
    those rounds are put into ``again``.
    """
    fresh: np.ndarray = np.ones(len(items), dtype=bool)
    if not session.last_times or panel.time_keys is None:
        return fresh
    keys = panel.time_keys
    fresh = panel.times >= session.first_new_times(panel)[panel.series]
    waiting = {}
    for ticket, deferred in session.deferred.items():
        for place, item in enumerate(session.state.pending[ticket].items):
            until = deferred.known[place] if deferred.known else None
            name = series_of(session.state.items[item], steps=until is not None)
            waiting[deferred.time, name, until] = (ticket, place)
    filled: dict[int, Floats] = {}
    tickets = {ticket: k for k, ticket in enumerate(session.deferred)}
    classes = panel.forecasts.shape[1]
    for row in np.flatnonzero(~fresh).tolist() if waiting else ():
        until = key_of(panel.known, row)
        name = series_of(session.state.items[items[row]], steps=until is not None)
        key = (key_of(keys, panel.times[row]), name, until)
        if key not in waiting:
            continue
        ticket, place = waiting[key]
        values = session.state.pending[ticket].values[place, :classes]
        again[row] = RowAgain(values, tickets[ticket], place)
        outcomes = session.deferred[ticket].outcomes
        if np.isnan(outcomes[place]) and not np.isnan(panel.outcomes[row]):
            outcomes[place] = panel.outcomes[row]
            filled.setdefault(ticket, np.full(len(outcomes), np.nan))[place] = outcomes[place]
    live = session.state.live
    for ticket, outcomes in filled.items():  # into the sums, before the round is settled
        live.note(live.version, ticket, outcomes)
    seen = int((~fresh).sum())
    if seen:
        notes.append(
            f"{seen} row{'s were' if seen > 1 else ' was'} blended before: {len(filled)} outcome"
            f"{'s' * (len(filled) != 1)} filled in, {len(again)} kept the forecast made then, "
            f"{seen - len(again)} left out"
        )
    return fresh


def _known(
    session: TableSession,
    panel: Panel,
    row_of: np.ndarray,
    edges: np.ndarray,
    code: np.ndarray,
    new: np.ndarray,
) -> np.ndarray | None:
    """Return the time from which on the outcomes of each round are known; None without a cutoff."""
    if panel.known is None:
        return None
    rows = panel.known[np.maximum(row_of, 0)]
    known: np.ndarray = np.maximum.reduceat(rows, edges[:-1]).copy()
    deferred = list(session.deferred.values())
    for r in np.flatnonzero(~new):
        known[r] = max(deferred[code[r] + len(deferred)].known)
    return known


def _set_ready(rounds: TableRounds, deferred: list[DeferredOutcome], lag: int) -> None:
    """Set the round from which on outcomes may be used, the order of settling, and the places."""
    old = rounds.old >= 0
    if rounds.known is None and not old.any():
        rounds.ready = np.arange(len(rounds.offsets), dtype=np.int32)
        rounds.ready += 1 + lag
        np.minimum(rounds.ready, NEVER, out=rounds.ready)
        rounds.order = rounds.places = np.arange(len(rounds.offsets), dtype=np.int32)
        return
    here = np.arange(len(rounds.offsets))
    of = np.repeat(np.arange(len(rounds.games)), rounds.stop - rounds.first)
    since = np.array([w.since for w in deferred], dtype=np.int64)
    rounds.places = (here - rounds.start[of]).astype(np.int32)
    rounds.places[old] = -1 - since[rounds.old[old]]
    ready = here + 1 + lag
    if rounds.known is not None and rounds.time_keys is not None:
        # The first round of the game whose cutoff is not before the outcome.
        wanted = np.searchsorted(rounds.time_keys, rounds.known, side="left")
        width = len(rounds.time_keys) + 1
        first = np.searchsorted(of * width + rounds.codes + 1, of * width + wanted + 1)
        first = np.maximum(first, np.maximum(here + 1, rounds.start[of]))
        ready = np.where(first < rounds.stop[of], first, NEVER)
    else:
        due = np.array([w.due for w in deferred], dtype=np.int64)
        ready[old] = rounds.start[of[old]] + due[rounds.old[old]]
    rounds.ready = np.minimum(ready, NEVER).astype(np.int32)
    rounds.order = np.lexsort((rounds.ready, of)).astype(np.int32)


def store_pending(
    session: TableSession, rounds: TableRounds, tokens: Mapping[int, Floats] | None
) -> None:
    """Store the rounds that are not settled, or have no outcome, in the session.

    With intervals, ``tokens`` has their tokens by round.
    """
    live, pending = session.state.live, session.state.pending
    before = [(ticket, pending[ticket].number, old) for ticket, old in session.deferred.items()]
    live.replace_pending(live.version, list(session.deferred), [], live.next_ticket, live.expired)
    session.deferred = {}
    if not len(rounds.games):
        return
    keys = rounds.time_keys
    if keys is not None:
        for game, last in zip(rounds.games.tolist(), rounds.codes[rounds.stop - 1], strict=True):
            if last >= 0:
                session.last_times[game] = key_of(keys, last)
    waiting, given_up = rounds_to_wait(rounds, session.state.settings.max_pending)
    of = np.repeat(np.arange(len(rounds.games)), rounds.stop - rounds.first)
    records, next_ticket = [], live.next_ticket
    for r in waiting.tolist():
        rows, stop = slice(rounds.edges[r], rounds.edges[r + 1]), rounds.stop[of[r]]
        if rounds.old[r] >= 0:
            ticket, number, (_, _, known, time, *_) = before[rounds.old[r]]
        else:
            ticket, number = next_ticket, rounds.base + int(rounds.offsets[r])
            time = key_of(keys, rounds.codes[r])
            places = () if rounds.known_rows is None else rounds.row_of[rows]
            known = [key_of(rounds.known_rows, place) for place in places]
        next_ticket = max(next_ticket, ticket + 1)
        names = [session.state.items[i] for i in rounds.items[rows]]
        record = RoundRecord(
            ticket, number, rounds.forecasts[rows].copy(), None, rounds.waiting[r],
            rounds.items[rows].copy(), None if names == [""] else tuple(names), None,
            None if tokens is None else tokens[r],
            rounds.cells[rows].copy() if (rounds.cells[rows] >= 0).any() else None,
        )  # fmt: skip
        records.append(record)
        last = max(int(rounds.places[stop - 1]), -1)  # -1 if no round is new
        session.deferred[ticket] = DeferredOutcome(
            int(rounds.games[of[r]]), max(int(rounds.ready[r] - stop), 0), known, time,
            rounds.outcomes[rows].copy(), last - int(rounds.places[r]),
        )  # fmt: skip
    live.replace_pending(live.version, [], records, next_ticket, live.expired + given_up)
    session.deferred = dict(sorted(session.deferred.items()))


def rounds_to_wait(rounds: TableRounds, max_pending: int) -> tuple[np.ndarray, int]:
    """Return the rounds that wait for outcomes after the table; and how many are given up.

    Rounds whose outcomes are overdue are not kept for ever.
    """
    if not len(rounds.games):
        return np.zeros(0, dtype=np.int64), 0
    waiting = rounds.ready > np.repeat(rounds.stop, rounds.stop - rounds.first)
    late = np.logical_and.reduceat(np.isnan(rounds.outcomes), rounds.edges[:-1]) & ~waiting
    given_up = np.flatnonzero(late)[:-max_pending]
    waiting |= late
    waiting[given_up] = False
    return np.flatnonzero(waiting), len(given_up)


def key_of(keys: np.ndarray | None, index: int) -> Any:
    """Return one of the times in a form that JSON can hold; None without times."""
    if keys is None:
        return None
    key = keys[index]
    return key.item() if isinstance(key, np.generic) else key
