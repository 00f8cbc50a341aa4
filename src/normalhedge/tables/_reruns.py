"""Blend the same table twice and learn from it once.

A session remembers the last table: a digest of its rows with known outcomes, and the mixture as it
was before it. If a later table holds the same rows again, with or without further ones, the session
goes back to the mixture before and blends the whole table. As a blend is causal,
the same rows get the same forecasts again, and nothing is learned twice. Rows of the last table
whose outcomes were not known may have changed: they were forecasts, and are forecast again.
"""

import json
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures.state import LastTable, TableFacts
from normalhedge.tables._rounds import key_of
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import BLOCK, Panel

PARTS = 5
"""The number of digests of a table; the checksums of its last rows follow."""

REMEMBERED = 400
"""So many of the last rows are remembered one by one, to tell which outcomes were revised."""

FEWEST = 10
"""Without a column of times, fewer rows than this count as new rows, even if they are the same."""


def same_table(session: TableSession, panel: Panel, lag: int) -> bool:
    """Tell whether a panel holds all rows of the last table of a mixture again."""
    rows = _rows_again(session, panel)
    if rows is None or session.last_table is None:
        return False
    # Of earlier versions, a digest has the first part only.
    return session.last_table.digest.split(":")[0] == _digest(panel, rows, lag).split(":")[0]


def revised(session: TableSession, panel: Panel, lag: int) -> list[str]:
    """Return a sentence if rows of earlier tables are here again, with other content."""
    rows, notes = _rows_again(session, panel), _revised_rows(session, panel)
    if notes or rows is None or session.last_table is None:
        return notes
    whole, *before = session.last_table.digest.split(":")[:PARTS]
    now, *parts = _digest(panel, rows, lag).split(":")
    if whole == now or len(before) != len(parts) or before[0] != parts[0]:
        return []
    _, outcomes, names, forecasts = (a != b for a, b in zip(before, parts, strict=True))
    if names and not forecasts and not outcomes:
        return ["models of the last table have other names, and the same forecasts, here"]
    changed = ["outcomes"] * outcomes + ["forecasts"] * (forecasts and not names)
    if not changed:
        return []
    return [
        f"{' and '.join(changed)} of rows of the last table were revised: they are not learned "
        "again; to learn from them, blend the whole table with a new state"
    ]


def _revised_rows(session: TableSession, panel: Panel) -> list[str]:
    """Return a sentence if a part of the last rows is here again, with other outcomes."""
    if session.last_table is None or panel.time_keys is None:
        return []
    learned = _read_marks(session.last_table.digest)
    seen = ~_new_rows(session, panel) & ~np.isnan(panel.outcomes)
    marks = _marks(panel, seen, 4 * REMEMBERED) if learned else {}
    count = sum(learned.get(key, mark) != mark for key, (mark, _) in marks.items())
    if not count:
        return []
    first = min(time for key, (mark, time) in marks.items() if learned.get(key, mark) != mark)
    when = str(np.datetime64(int(first), "us")) if panel.time_kind == "dates" else str(first)
    return [
        f"outcomes of {counted(count, 'row')} of earlier tables were revised, the first at "
        f"{when.removesuffix('T00:00:00.000000')}: they are not learned again; to learn from "
        "them, blend the whole table with a new state"
    ]


def _marks(panel: Panel, rows: np.ndarray, most: int) -> dict[int, tuple[int, Any]]:
    """Return checksums of the outcomes of the last of some rows, by checksums of their keys."""
    places = np.flatnonzero(rows)
    places = places[np.argsort(panel.times[places], kind="stable")][-most:]
    known = panel.known
    result = {}
    for row in places.tolist():
        time = key_of(panel.time_keys, panel.times[row])
        key = [panel.items[panel.series[row]], time, key_of(known, row)]
        mark = zlib.crc32(np.float64(panel.outcomes[row]).tobytes())
        result[zlib.crc32(json.dumps(key).encode())] = mark, time
    return result


def _write_marks(marks: dict[int, int]) -> str:
    pairs = np.array(list(marks.items())[-REMEMBERED:], dtype="<u4")
    return b64encode(pairs.tobytes()).decode()


def _read_marks(digest: str) -> dict[int, int]:
    """Return the checksums of the last rows; none of files of earlier versions."""
    _, *text = digest.split(":")[PARTS - 1 :]
    try:
        numbers = np.frombuffer(b64decode("".join(text[:1]), validate=True), dtype="<u4")
    except ValueError:  # of a file that somebody changed
        return {}
    return dict(zip(numbers[::2].tolist(), numbers[1::2].tolist(), strict=False))


def _rows_again(session: TableSession, panel: Panel) -> np.ndarray | None:
    """Return the rows of a panel that the last table had; None if there are none."""
    last = session.last_table
    if last is None or last.mark != _mark(session):
        return None
    times = panel.outcome_times
    ends = [last.until.get(name) for name in panel.items]
    there = np.array([end is not None for end in ends])[panel.series] & ~np.isnan(panel.outcomes)
    there &= _new_rows(None if last.before is None else TableSession.of(last.before), panel)
    if panel.time_keys is not None:  # forecasts made since then are not rows of the last table
        there &= ~_new_rows(session, panel)
    if not there.any():
        return None
    if isinstance(next(iter(last.until.values())), str) != (times.dtype.kind in "OU"):
        return None
    filled = np.array([times[0] if end is None else end for end in ends])
    return np.asarray(there & (times <= filled[panel.series]))


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
    keys, times = panel.time_keys, panel.times[known]
    if keys is None or panel.known is not None:
        keys, times = np.unique(panel.outcome_times[known], return_inverse=True)
    last = np.full(len(panel.items), -1, dtype=np.int64)
    np.maximum.at(last, panel.series[known], times)
    ends = zip(panel.items, last.tolist(), strict=True)
    until = {name: key_of(keys, k) for name, k in ends if k >= 0}
    digest = _digest(panel, known, lag)
    if panel.time_keys is not None:
        earlier_marks = {} if session.last_table is None else _read_marks(session.last_table.digest)
        marks = {key: mark for key, (mark, _) in _marks(panel, known, REMEMBERED).items()}
        digest += ":" + _write_marks(earlier_marks | marks)
    return LastTable(before, until, digest, (0, 0, 0))


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
    """Return a digest of some rows of a panel that does not depend on the order of rows.

    Behind the digest of everything stand digests of the keys of rows, the outcomes, the names of
    models, and the forecasts whoever made them: they tell what differs.
    """
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
    sums = [_checksum(array) for array in arrays]
    forecasts = []
    for c in range(panel.forecasts.shape[1]):
        of_experts = _forecast_checksums(panel.forecasts, places, c)
        forecasts += [of_experts[k] for _, k in columns]
    keys = [lag, panel.time_kind, [name for name, _ in names], sums[:2], sums[3:]]
    details = [keys, sums[2], parts[3], sorted(forecasts)]
    return ":".join([_hash(parts + sums + forecasts), *(_hash(part)[:16] for part in details)])


def _hash(parts: Any) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()


def _forecast_checksums(forecasts: Floats, places: np.ndarray, c: int) -> list[int]:
    """Return the checksum of each expert's forecasts of a class, in these rows."""
    sums = [0] * forecasts.shape[2]
    for start in range(0, len(places), BLOCK):
        columns = np.ascontiguousarray(forecasts[places[start : start + BLOCK], c].T)
        sums = [zlib.crc32(column, known) for column, known in zip(columns, sums, strict=True)]
    return sums


def _checksum(column: np.ndarray) -> int:
    if column.dtype.kind in "OU":
        return zlib.crc32("\0".join(map(str, column)).encode())
    return zlib.crc32(np.ascontiguousarray(column).data)
