"""Blend the same table twice and learn from it once.

A session remembers the last table: a digest of its rows with known outcomes, and the mixture as it
was before it. If a later table holds the same rows again, with or without further ones, the session
goes back to the mixture before and blends the whole table. As a blend is causal,
the same rows get the same forecasts again, and nothing is learned twice. Rows of the last table
whose outcomes were not known may have changed: they were forecasts, and are forecast again.
"""

import json
import zlib
from hashlib import sha256
from typing import Any

import numpy as np

from normalhedge.mixtures.state import LastTable, MixtureState, TableFacts
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import Panel

FEWEST = 10
"""Without a column of times, fewer rows than this count as new rows, even if they are the same."""


def same_table(session: TableSession, panel: Panel, lag: int) -> bool:
    """Tell whether a panel holds all rows of the last table of a mixture again."""
    last = session.last_table
    if last is None or last.mark != _mark(session):
        return False
    times, known = times_of_outcomes(panel), ~np.isnan(panel.outcomes)
    ends = [last.until.get(name) for name in panel.items]
    there = np.array([end is not None for end in ends])[panel.series] & known
    there &= _new_rows(_facts(last.before), panel)
    if panel.time_keys is not None:  # forecasts made since then are not rows of the last table
        there &= ~_new_rows(session, panel)
    if not there.any():
        return False
    if isinstance(next(iter(last.until.values())), str) != (times.dtype.kind in "OU"):
        return False
    filled = np.array([times[0] if end is None else end for end in ends])
    there &= times <= filled[panel.series]
    return last.digest == _digest(panel, there, lag)


def go_back(session: TableSession) -> None:
    """Let a session go on with the mixture as it was before the last table."""
    assert session.last_table is not None
    before = session.last_table.before
    session.go_back(MixtureState.new(session.books.settings) if before is None else before.copy())


def _facts(before: MixtureState | None) -> TableSession | None:
    return None if before is None else TableSession.of(before)


def describe(session: TableSession, panel: Panel, lag: int) -> LastTable | None:
    """Return what to remember of a table; None if its rows could not be recognised."""
    before = None
    if session.books.rounds or session.books.pending:
        session.store()
        before = session.books.copy(history=False)
        before.live.attached = TableFacts.of(before.live)._replace(last_table=None)
    known = ~np.isnan(panel.outcomes) & _new_rows(_facts(before), panel)
    if not known.any() or (panel.time_keys is None and known.sum() < FEWEST):
        return None
    keys, times = np.unique(times_of_outcomes(panel)[known], return_inverse=True)
    last = np.full(len(panel.items), -1, dtype=np.int64)
    np.maximum.at(last, panel.series[known], times)
    until = {
        name: keys[k].item() if isinstance(keys[k], np.generic) else keys[k]
        for name, k in zip(panel.items, last.tolist(), strict=True)
        if k >= 0
    }
    return LastTable(before, until, _digest(panel, known, lag), (0, 0, 0))


def remember(session: TableSession, table: LastTable | None) -> None:
    """Remember a table after it was blended."""
    session.last_table = None if table is None else table._replace(mark=_mark(session))
    session.store()


def _mark(session: TableSession) -> tuple[int, int, int]:
    """Return numbers that change when the mixture is used otherwise after a table."""
    return session.books.rounds, session.books.next_ticket, len(session.books.pending)


def _times(panel: Panel) -> Any:
    """Return the time of each row; its place in its series without a column of times."""
    return panel.times if panel.time_keys is None else panel.time_keys[panel.times]


def _new_rows(before: TableSession | None, panel: Panel) -> np.ndarray:
    """Return which rows are later than the last times of a session."""
    new = np.ones(len(panel.series), dtype=bool)
    if before is None or panel.time_keys is None or not before.last_times:
        return new
    if before.time_kind != panel.time_kind:
        return new  # `arrange` refuses such a table
    first = first_new_times(before, panel)
    new &= panel.times >= first[panel.series]
    return new


def times_of_outcomes(panel: Panel) -> Any:
    """Return the time at which the outcome of each row is known; its own time without a cutoff."""
    return _times(panel) if panel.known is None else panel.known


def first_new_times(session: TableSession, panel: Panel) -> np.ndarray:
    """Return for each item of a panel the first of its times that is later than those of a session.

    With a cutoff, the steps of a series are numbered in each table: a row that comes again, without
    the steps before it, has another number. So a time is new to all steps of a series or to none.
    """
    keys: Any = panel.time_keys
    ends = {game: int(np.searchsorted(keys, t, "right")) for game, t in session.last_times.items()}
    if session.books.settings.shared:
        return np.full(len(panel.items), ends.get(0, 0))
    latest: dict[str, int] = {}
    for game, end in ends.items():
        name = series_of(session.books.items[game], steps=panel.known is not None)
        latest[name] = max(latest.get(name, 0), end)
    names = (series_of(name, steps=panel.known is not None) for name in panel.items)
    return np.array([latest.get(name, 0) for name in names])


def series_of(item: str, *, steps: bool) -> str:
    """Return the series of an item: its name without the step ahead."""
    return item.rpartition("step ")[0] if steps else item


def _digest(panel: Panel, rows: np.ndarray, lag: int) -> str:
    """Return a digest of some rows of a panel that does not depend on the order of rows."""
    used = np.unique(panel.series[rows])
    names = sorted((panel.items[k], int(k)) for k in used)
    rank = np.zeros(len(panel.items), dtype=np.int64)
    rank[[k for _, k in names]] = np.arange(len(names))
    places = np.flatnonzero(rows)
    key = rank[panel.series[places]] * (np.int64(panel.times.max()) + 1) + panel.times[places]
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
        places, key = places[order], key[order]
    columns = sorted((name, k) for k, name in enumerate(panel.experts))
    parts: list[Any] = [lag, panel.time_kind, [name for name, _ in names]]
    parts.append([name for name, _ in columns])
    parts += [_sum(rank[panel.series[places]]), _sum(_times(panel)[places])]
    parts += [_sum(panel.outcomes[places])]
    if panel.known is not None:
        parts.append(_sum(panel.known[places]))
    for c in range(panel.forecasts.shape[1]):
        parts += [_sum(panel.forecasts[places, c, k]) for _, k in columns]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _sum(column: np.ndarray) -> int:
    """Return a checksum of a column."""
    if column.dtype.kind in "OU":
        return zlib.crc32("\0".join(map(str, column)).encode())
    return zlib.crc32(np.ascontiguousarray(column).data)
