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

from normalhedge.mixtures.state import LastTable, TableFacts
from normalhedge.tables._rounds import key_of
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import Panel

FEWEST = 10
"""Without a column of times, fewer rows than this count as new rows, even if they are the same."""


def same_table(session: TableSession, panel: Panel, lag: int) -> bool:
    """Tell whether a panel holds all rows of the last table of a mixture again."""
    last = session.last_table
    if last is None or last.mark != _mark(session):
        return False
    times = panel.outcome_times
    ends = [last.until.get(name) for name in panel.items]
    there = np.array([end is not None for end in ends])[panel.series] & ~np.isnan(panel.outcomes)
    there &= _new_rows(None if last.before is None else TableSession.of(last.before), panel)
    if panel.time_keys is not None:  # forecasts made since then are not rows of the last table
        there &= ~_new_rows(session, panel)
    if not there.any():
        return False
    if isinstance(next(iter(last.until.values())), str) != (times.dtype.kind in "OU"):
        return False
    filled = np.array([times[0] if end is None else end for end in ends])
    there &= times <= filled[panel.series]
    return last.digest == _digest(panel, there, lag)


def describe(session: TableSession, panel: Panel, lag: int) -> LastTable | None:
    """Return the record of a table; None if its rows could not be recognised."""
    before = None
    if session.state.rounds or session.state.pending:
        session.store()
        before = session.state.copy(history=False)
        before.live.attached = TableFacts.of(before.live)._replace(last_table=None)
    earlier = None if before is None else TableSession.of(before)
    known = ~np.isnan(panel.outcomes) & _new_rows(earlier, panel)
    if not known.any() or (panel.time_keys is None and known.sum() < FEWEST):
        return None
    keys, times = np.unique(panel.outcome_times[known], return_inverse=True)
    last = np.full(len(panel.items), -1, dtype=np.int64)
    np.maximum.at(last, panel.series[known], times)
    ends = zip(panel.items, last.tolist(), strict=True)
    until = {name: key_of(keys, k) for name, k in ends if k >= 0}
    return LastTable(before, until, _digest(panel, known, lag), (0, 0, 0))


def remember(session: TableSession, table: LastTable | None) -> None:
    """Remember a table after it was blended."""
    session.last_table = None if table is None else table._replace(mark=_mark(session))
    session.store()


def _mark(session: TableSession) -> tuple[int, int, int]:
    """Return numbers that change when the mixture is used otherwise after a table."""
    return session.state.rounds, session.state.next_ticket, len(session.state.pending)


def _new_rows(before: TableSession | None, panel: Panel) -> np.ndarray:
    """Return which rows are later than the last times of a session."""
    # `arrange` refuses times of another kind
    if before is None or not before.last_times or before.time_kind != panel.time_kind:
        return np.ones(len(panel.series), dtype=bool)
    return np.asarray(panel.times >= before.first_new_times(panel)[panel.series])


def _digest(panel: Panel, rows: np.ndarray, lag: int) -> str:
    """Return a digest of some rows of a panel that does not depend on the order of rows."""
    used = np.unique(panel.series[rows])
    names = sorted((panel.items[k], int(k)) for k in used)
    rank = np.zeros(len(panel.items), dtype=np.int64)
    rank[[k for _, k in names]] = np.arange(len(names))
    places = np.flatnonzero(rows)
    key = rank[panel.series[places]] * (np.int64(panel.times.max()) + 1) + panel.times[places]
    if (key[1:] < key[:-1]).any():
        places = places[np.argsort(key, kind="stable")]
    columns = sorted((name, k) for k, name in enumerate(panel.experts))
    parts: list[Any] = [lag, panel.time_kind, [name for name, _ in names]]
    parts.append([name for name, _ in columns])
    arrays = [rank[panel.series[places]], panel.row_times[places], panel.outcomes[places]]
    if panel.known is not None:
        arrays.append(panel.known[places])
    parts += [_checksum(array) for array in arrays]
    for c in range(panel.forecasts.shape[1]):
        parts += [_checksum(panel.forecasts[places, c, k]) for _, k in columns]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _checksum(column: np.ndarray) -> int:
    if column.dtype.kind in "OU":
        return zlib.crc32("\0".join(map(str, column)).encode())
    return zlib.crc32(np.ascontiguousarray(column).data)
