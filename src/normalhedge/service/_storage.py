"""A database of the service: its rows, and the functions that read and write them.

There are three tables. ``mixtures`` has a row for each mixture that ever was. ``events`` is the
log: it is only appended to. ``snapshots`` has the states of mixtures after some of their events, in
the format of `normalhedge.Mixture.save`, compressed. A state and the later events of its mixture
give the present state, to the bit.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from normalhedge.service._problems import DamagedLog

VERSION = 2  # the version of the tables: version 1 had no checksums

PAGE = 1_000_000  # the bytes of events that are read at once, except for a single larger one

TABLES = """
CREATE TABLE {schema}mixtures (
    id {integer} PRIMARY KEY, name text NOT NULL, created {real} NOT NULL, options text NOT NULL,
    deleted {real}
);
CREATE UNIQUE INDEX mixtures_by_name ON {schema}mixtures (name) WHERE deleted IS NULL;
CREATE TABLE {schema}events (
    sequence {integer} PRIMARY KEY, mixture {integer} NOT NULL, time {real} NOT NULL,
    kind text NOT NULL, key text, digest {bytes}, body text NOT NULL, answer text NOT NULL,
    operations integer NOT NULL, ticket {integer}, sender text, checksum {integer}
);
CREATE INDEX events_by_mixture ON {schema}events (mixture, sequence);
CREATE UNIQUE INDEX events_by_key ON {schema}events (mixture, key) WHERE key IS NOT NULL;
CREATE INDEX events_by_ticket ON {schema}events (mixture, ticket) WHERE ticket IS NOT NULL;
CREATE TABLE {schema}snapshots (
    mixture {integer} NOT NULL, sequence {integer} NOT NULL, state {bytes} NOT NULL,
    kept smallint NOT NULL, PRIMARY KEY (mixture, sequence)
) {without_rows};
"""
"""The tables; the words in braces differ between databases."""


ALARMS = """
CREATE TABLE IF NOT EXISTS {schema}alarms (
    id {integer} PRIMARY KEY, mixture {integer} NOT NULL, kind text NOT NULL, expert text,
    other text, since text NOT NULL, sentence text NOT NULL, began {real} NOT NULL, ended {real},
    told {real}
);
"""
"""The table of alarms, which a database of an earlier release gets when it is opened."""


SENDER = "ALTER TABLE {schema}events ADD COLUMN sender text"
"""What gives the log of an earlier release the column that it lacks."""


class MixtureRow(NamedTuple):
    """A mixture."""

    # its number, which is never given to another mixture; 0 stands for the list of mixtures
    id: int
    name: str  # its name, which may change, and which another mixture may have once it is deleted
    created: float  # when it was created, in seconds since 1970
    options: str  # the arguments of `normalhedge.Mixture`, as JSON
    deleted: float | None = None  # when it was deleted; None if it was not


class Event(NamedTuple):
    """A request that changed a mixture, and its answer."""

    sequence: int  # its place in the log; there may be gaps
    mixture: int  # the number of the mixture; 0 for the list of mixtures
    time: float  # when it was done, in seconds since 1970, by a clock that may be set back
    # ``predict``, ``outcome``, ``correct``, ``leave``, ``retire``, ``rename``, ``inherit`` or
    # ``batch``; for the list of mixtures ``create``, ``import``, ``rename`` or ``delete``
    kind: str
    # key, digest: the idempotency key of the client, and the digest of the request; None without a
    # key
    key: str | None
    digest: bytes | None
    # The operations that were done, as JSON: see `mixtures.state._operations`. A batch has a list
    # of them.
    body: str
    answer: str  # the answer of the service, as JSON
    operations: int  # the number of operations
    # The first ticket that was given out; None if none was. A batch has consecutive ones.
    ticket: int | None
    # The token, the address and the id of the request, as JSON; None in the logs of earlier
    # releases, which have no such column until they are opened.
    sender: str | None = None


class SnapshotRow(NamedTuple):
    """The state of a mixture after an event."""

    mixture: int  # the number of the mixture
    sequence: int  # the sequence of the last event that the state holds
    state: bytes  # the text of the state, compressed
    # whether it is kept as long as the event: the first one of a mixture, and each after an event
    # that cannot be repeated from an earlier snapshot
    kept: bool
    # The sequence of the snapshot before it. Still earlier ones are removed, unless they are kept.
    previous: int


class AlarmRow(NamedTuple):
    """Something about a mixture that somebody should look at."""

    id: int  # its number, from 1 on
    mixture: int  # the number of the mixture
    kind: str  # ``overdue``, or a kind of `normalhedge.mixtures.alerts`
    # expert, other: the expert, and for a copy the expert that it repeats
    expert: str | None
    other: str | None
    since: str  # since when, as JSON: a round, a time, or null
    sentence: str
    began: float  # when it was found, in seconds since 1970
    ended: float | None = None  # when it was found to be over; None if it is not
    # when somebody was told; None if somebody must be told, and 0 if there was nobody to tell
    told: float | None = None


class Batch(NamedTuple):
    """Rows that are written in one transaction: all or none."""

    # events, snapshots: new rows
    events: Sequence[Event]
    snapshots: Sequence[SnapshotRow] = ()
    # mixtures, alarms: new rows, or rows to replace
    mixtures: Sequence[MixtureRow] = ()
    alarms: Sequence[AlarmRow] = ()


COLUMNS = ", ".join((*Event._fields, "checksum"))  # the columns of the log

BODY, ANSWER = Event._fields.index("body"), Event._fields.index("answer")

_encode = msgspec.json.Encoder().encode


def checksum(event: Event) -> int:
    """Return the checksum of an event, which covers all its columns."""
    return crc32(_encode(event))


def event_of(row: Sequence[Any]) -> Event:
    """Return the event of a row of the log; raise `DamagedLog` if the row was changed."""
    *columns, stored = row
    event = Event(*columns)
    if stored != checksum(event):
        raise DamagedLog(
            f"event {event.sequence} was changed on the disk: its checksum does not match"
        )
    return event


class Storage(ABC):
    """A database that this process owns.

    Its functions may be called from several threads, but `append`, `reopen` and `compact` from one
    at a time. They raise `StorageFailure` if the database cannot be used.
    """

    lookups_are_quick = False
    epoch = 0

    def __init__(self) -> None:
        self._local = threading.local()
        self._connections: list[Any] = []

    @abstractmethod
    def _connect(self) -> Any:
        """Return a new connection."""

    def _connection(self) -> Any:
        """Return the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            self._connections.append(connection)
        return connection

    def _disconnect(self, failures: type[Exception]) -> None:
        """Close the connections of all threads; each thread connects again when it needs one."""
        connections, self._connections = self._connections, []
        self._local = threading.local()
        for connection in connections:
            with suppress(failures):
                connection.close()

    @abstractmethod
    def open(self) -> None:
        """Become the owner, and make the tables if there are none; refuse if there is another."""

    @abstractmethod
    def reopen(self) -> bool:
        """Try to use the database again after a failure; tell if it was owned all the time."""

    @abstractmethod
    def close(self) -> None:
        """Give the database up."""

    @abstractmethod
    def append(self, batch: Batch) -> None:
        """Write a batch; when this returns, it survives a power cut."""

    @abstractmethod
    def touch(self) -> None:
        """Write to the disk what is there already, to see that this is possible."""

    @abstractmethod
    def query(self, statement: str, values: Iterable[Any] = ()) -> list[Any]:
        """Return the rows of a statement, which is a transaction of its own."""

    @abstractmethod
    def _page(self, condition: str, values: Sequence[Any], limit: int) -> list[Any]:
        """Return the first rows of the log under a condition: about `PAGE` bytes, at least one."""

    @abstractmethod
    def _update(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Do a statement with each of some rows of values, in one transaction."""

    def _add_checksums(self) -> None:
        """Write the checksums of a log of version 1; after an interruption it goes on."""
        after = 0
        while rows := self._page(
            "sequence > ? AND checksum IS NULL ORDER BY sequence", (after,), 2000
        ):
            after = rows[-1][0]
            self._update(
                "UPDATE events SET checksum = ? WHERE sequence = ?",
                [(checksum(Event(*row[:-1])), row[0]) for row in rows],
            )

    def last_sequence(self) -> int:
        """Return the sequence of the last event; 0 if there is none."""
        tables = ("events", "snapshots")
        return max(self.query(f"SELECT max(sequence) FROM {table}")[0][0] or 0 for table in tables)

    def mixtures(self) -> list[MixtureRow]:
        """Return all mixtures by number, also deleted ones."""
        columns = ", ".join(MixtureRow._fields)
        rows = self.query(f"SELECT {columns} FROM mixtures ORDER BY id")
        return [MixtureRow(*row) for row in rows]

    def snapshots(self, mixture: int) -> list[int]:
        """Return the sequences of the snapshots of a mixture, the newest first."""
        rows = self.query(
            "SELECT sequence FROM snapshots WHERE mixture = ? ORDER BY sequence DESC", (mixture,)
        )
        return [row[0] for row in rows]

    def snapshot(self, mixture: int, sequence: int) -> bytes | None:
        """Return a snapshot, compressed."""
        rows = self.query(
            "SELECT state FROM snapshots WHERE mixture = ? AND sequence = ?", (mixture, sequence)
        )
        return bytes(rows[0][0]) if rows else None

    def operations_after(self, mixture: int, sequence: int, limit: int = 6000) -> int:
        """Return the number of operations in the events of a mixture after one of them."""
        statement = (
            "SELECT sum(operations) FROM (SELECT operations FROM events WHERE mixture = ? "
            "AND sequence > ? ORDER BY sequence LIMIT ?) AS later"
        )
        return int(self.query(statement, (mixture, sequence, limit))[0][0] or 0)

    def events(
        self,
        mixture: int,
        after: int = 0,
        limit: int = 2000,
        *,
        before: int = 1 << 62,
        condition: str = "",
        values: Sequence[Any] = (),
        newest: bool = False,
    ) -> list[Event]:
        """Return some events of a mixture between two others, the oldest or the newest first.

        They take about `PAGE` bytes; there may be more, unless there are none.
        """
        where = f"mixture = ? AND sequence > ? AND sequence < ?{condition} ORDER BY sequence"
        rows = self._page(
            f"{where} DESC" if newest else where, (mixture, after, before, *values), limit
        )
        return list(map(event_of, rows))

    def sequence_before(self, mixture: int, before: int, count: int) -> int | None:
        """Return the first of the last events of a mixture before another one; None for none."""
        rows = self.query(
            "SELECT min(sequence) FROM (SELECT sequence FROM events WHERE mixture = ? "
            "AND sequence < ? ORDER BY sequence DESC LIMIT ?) AS last",
            (mixture, before, count),
        )
        return None if rows[0][0] is None else int(rows[0][0])

    def all_events(self, mixture: int, after: int = 0) -> Iterator[Event]:
        """Yield all later events of a mixture."""
        while events := self.events(mixture, after):
            yield from events
            after = events[-1].sequence

    def event_by_key(self, mixture: int, key: str) -> Event | None:
        """Return the event with an idempotency key."""
        return self._one("mixture = ? AND key = ?", (mixture, key))

    def event_by_ticket(self, mixture: int, ticket: int) -> Event | None:
        """Return the event that gave out a ticket; None if it is not in the log any more."""
        condition = "mixture = ? AND ticket <= ? ORDER BY ticket DESC LIMIT 1"
        return self._one(condition, (mixture, ticket))

    def _one(self, condition: str, values: Sequence[Any]) -> Event | None:
        rows = self.query(f"SELECT {COLUMNS} FROM events WHERE {condition}", values)
        return event_of(rows[0]) if rows else None

    def bodies_before(
        self, mixture: int, before: int | None, limit: int
    ) -> list[tuple[int, float, int | None, str | None]]:
        """Return sequence, time, ticket and body of events before one of them, the newest first.

        Where a single round was predicted, the body is None: its ticket says all.
        """
        rows = self.query(
            "SELECT sequence, time, ticket, CASE WHEN kind <> 'predict' THEN body END FROM events "
            "WHERE mixture = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            (mixture, 1 << 62 if before is None else before, limit),
        )
        return [tuple(row) for row in rows]

    def time_of_ticket(self, mixture: int, ticket: int) -> float | None:
        """Return when a ticket was given out; None if the log does not say so."""
        rows = self.query(
            "SELECT time FROM events WHERE mixture = ? AND ticket <= ? "
            "ORDER BY ticket DESC LIMIT 1",
            (mixture, ticket),
        )
        return rows[0][0] if rows else None

    def first_time(self, mixture: int) -> float | None:
        """Return the time of the first event of a mixture in the log; None if there is none."""
        rows = self.query(
            "SELECT time FROM events WHERE mixture = ? ORDER BY sequence LIMIT 1", (mixture,)
        )
        return rows[0][0] if rows else None

    def alarms(
        self,
        mixtures: Sequence[int] | None = None,
        before: int | None = None,
        limit: int = 10_000,
        *,
        current: bool = False,
    ) -> list[AlarmRow]:
        """Return alarms, the newest first; only the ones that go on, or that nobody was told of."""
        where, values = "id < ?", [1 << 62 if before is None else before]
        if mixtures is not None:
            where += f" AND mixture IN ({', '.join('?' * len(mixtures)) or 'NULL'})"
            values += mixtures
        if current:
            where += " AND (ended IS NULL OR told IS NULL)"
        rows = self.query(
            f"SELECT {', '.join(AlarmRow._fields)} FROM alarms WHERE {where} "
            "ORDER BY id DESC LIMIT ?",
            (*values, limit),
        )
        return [AlarmRow(*row) for row in rows]

    def last_before(self, mixture: int, time: float, newest: float) -> int:
        """Return the last event of a mixture before the first one between two times."""
        rows = self.query(
            "SELECT max(sequence) FROM events WHERE mixture = ? AND sequence < coalesce("
            "(SELECT min(sequence) FROM events WHERE mixture = ? AND time >= ? AND time <= ?), ?)",
            (mixture, mixture, time, newest, 1 << 62),
        )
        return int(rows[0][0] or 0)

    def newest_time(self) -> float:
        """Return the time of the newest event; 0 if there is none."""
        rows = self.query("SELECT time FROM events ORDER BY sequence DESC LIMIT 1")
        return float(rows[0][0]) if rows else 0.0

    def gap_at(self, time: float, newest: float) -> tuple[float, float] | None:
        """Return the times of the first event from a time on and of the one before it.

        None if it is not there: events between the two may have been removed then. Events after
        the newest one were written by a clock that was wrong.
        """
        rows = self.query(
            "SELECT sequence, time FROM events WHERE time >= ? AND time <= ? "
            "ORDER BY sequence LIMIT 1",
            (time, newest),
        )
        if not rows:
            return None
        before = self.query("SELECT time FROM events WHERE sequence = ?", (rows[0][0] - 1,))
        return (before[0][0], rows[0][1]) if before else None

    def compact(self, mixture: int, before: int, limit: int = 5000) -> int:
        """Remove old events and snapshots of a mixture; return the number of events."""
        rows = self.query(
            "DELETE FROM events WHERE sequence IN (SELECT sequence FROM events WHERE mixture = ? "
            "AND sequence <= ? ORDER BY sequence LIMIT ?) RETURNING sequence",
            (mixture, before, limit),
        )
        if len(rows) < limit:
            self.query(
                "DELETE FROM snapshots WHERE mixture = ? AND sequence < ?", (mixture, before)
            )
        return len(rows)


MIXTURE = """
INSERT INTO mixtures (id, name, created, options, deleted) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, deleted = excluded.deleted
"""

SNAPSHOT = """
INSERT INTO snapshots (mixture, sequence, state, kept) VALUES (?, ?, ?, ?)
ON CONFLICT (mixture, sequence)
DO UPDATE SET kept = CASE WHEN excluded.kept = 1 THEN 1 ELSE snapshots.kept END
"""

ALARM = f"""
INSERT INTO alarms ({", ".join(AlarmRow._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET sentence = excluded.sentence, ended = excluded.ended, told = excluded.told
"""

FORGET = "DELETE FROM alarms WHERE id <= ? AND ended IS NOT NULL AND told IS NOT NULL"
ALARMS_KEPT = 10_000  # alarms that are over are kept until there are so many later ones

PRUNE = "DELETE FROM snapshots WHERE mixture = ? AND sequence < ? AND kept = 0"


def further_statements(batch: Batch) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the statements of a batch beside its events, with their values."""
    statements: list[tuple[str, tuple[Any, ...]]] = [(MIXTURE, row) for row in batch.mixtures]
    for row in batch.snapshots:
        statements += [
            (SNAPSHOT, (row.mixture, row.sequence, row.state, int(row.kept))),
            (PRUNE, (row.mixture, row.previous)),
        ]
    statements += [(ALARM, row) for row in batch.alarms]
    if batch.alarms:
        statements.append((FORGET, (max(row.id for row in batch.alarms) - ALARMS_KEPT,)))
    return statements
