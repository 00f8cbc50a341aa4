"""The event log in a file of SQLite, which one process owns."""

import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from normalhedge.live.owner import Owner
from normalhedge.service import _logs as logs
from normalhedge.service._problems import DamagedLog, InUseError, StorageFailure
from normalhedge.service._storage import (
    ALARMS,
    ANSWER,
    BODY,
    COLUMNS,
    PAGE,
    SENDER,
    TABLES,
    VERSION,
    Batch,
    Event,
    Storage,
    checksum,
    further_statements,
)

APPLICATION = 0x6E686467  # the number in the header of the file that says whose it is: "nhdg"

NAMES = {
    "schema": "", "integer": "INTEGER", "real": "REAL", "bytes": "BLOB",
    "without_rows": "WITHOUT ROWID",
}  # fmt: skip
"""The words of SQLite in `TABLES`."""

ROW = f"({', '.join('?' * (len(Event._fields) + 1))})"

OWNED = "SELECT count(*) FROM owner WHERE token = ?"
"""Whether a process is still the owner: a part of every statement that writes events."""

ROWS_AT_ONCE = 512
"""The number of rows of one statement: its parameters must stay below the limit of SQLite."""


class SQLite(Storage):
    """The log in a file.

    Commits are written through to the disk (``synchronous=FULL``). A lock beside the file
    (`normalhedge.live.owner.Owner`) keeps other processes out; others may read. Where somebody
    deletes the lock, the next process to open the file becomes its owner: its token is in the
    file, and whoever has another one cannot append.
    """

    lookups_are_quick = True

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._owner = Owner(path)
        self._token = ""
        self._held = ExitStack()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process reads the same file."""
        return SQLite, (self.path,)

    def open(self) -> None:
        """Become the owner, and make the tables if there are none; refuse if another one is."""
        if not self.path.parent.is_dir():
            raise ValueError(f"there is no folder {self.path.parent} for the database {self.path}")
        if self.path.exists() and self.path.stat().st_nlink > 1:
            raise ValueError(
                f"{self.path} has {self.path.stat().st_nlink} names (hard links): a server that "
                "opens it by one does not see what another one writes by another, so keep one name"
            )
        with ExitStack() as stack:
            try:
                stack.enter_context(self._owner)
            except ValueError as error:
                raise InUseError(str(error)) from None
            stack.callback(self._disconnect, sqlite3.Error)
            try:
                self._prepare()
            except sqlite3.Error as error:
                raise ValueError(f"{self.path} cannot be used: {error}") from None
            self._held = stack.pop_all()

    def _prepare(self) -> None:
        """Make the tables, or refuse a file that is not the log of a service."""
        connection = self._connection()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            check_header(connection, self.path)
            columns = connection.execute("PRAGMA table_info(events)").fetchall()
            if all(column[1] != "sender" for column in columns):
                connection.execute(SENDER.format(**NAMES))
        connection.execute("PRAGMA journal_mode=WAL")
        # A write, so that a file that cannot be written is refused at once.
        begin = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
        connection.executescript(
            f"BEGIN IMMEDIATE; {'' if tables else TABLES.format(**NAMES) + begin} "
            f"{ALARMS.format(**NAMES)} PRAGMA application_id={APPLICATION}; COMMIT;"
        )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 1:
            self._upgrade(connection)
        self._take(connection)

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Give a log of version 1 its checksums."""
        logs.info("upgrading", sentence=f"writing the checksums of {self.path}")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
        if "checksum" not in columns:
            connection.execute("ALTER TABLE events ADD COLUMN checksum INTEGER")
        self._add_checksums()
        connection.execute(f"PRAGMA user_version={VERSION}")

    def _take(self, connection: sqlite3.Connection) -> None:
        """Write the token of this owner: earlier ones cannot append any more."""
        self._token = secrets.token_hex(16)
        connection.executescript(
            "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS owner (token text NOT NULL); "
            f"DELETE FROM owner; INSERT INTO owner VALUES ('{self._token}'); COMMIT;"
        )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=5.0, isolation_level=None, check_same_thread=False,
            cached_statements=1000,
        )  # fmt: skip
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def reopen(self) -> bool:
        """Try to use the database again after a failure; tell if it was owned all the time."""
        if self.query("SELECT token FROM owner") == [(self._token,)]:
            return True
        self._owner.__exit__()  # the lock was deleted, and another process became the owner
        try:
            self.epoch += 1
            self._owner.__enter__()
            self._take(self._connection())
        except (ValueError, sqlite3.Error) as error:
            raise StorageFailure(str(error), lost=True) from error
        return False

    def close(self) -> None:
        """Give the database up; the log of SQLite beside it is folded into it."""
        with suppress(sqlite3.Error):
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._disconnect(sqlite3.Error)
        self._held.close()

    def append(self, batch: Batch) -> None:
        """Write a batch; when this returns, it survives a power cut."""
        connection = self._connection()
        try:
            # One statement for many rows: each statement gives Python's lock away and waits for it.
            further = further_statements(batch)
            whole = not further and len(batch.events) <= ROWS_AT_ONCE
            if not whole:
                connection.execute("BEGIN IMMEDIATE")
                self._check_owner(connection.execute(OWNED, (self._token,)).fetchone()[0])
            for start in range(0, len(batch.events), ROWS_AT_ONCE):
                rows = batch.events[start : start + ROWS_AT_ONCE]
                values = [value for row in rows for value in (*row, checksum(row))]
                done = connection.execute(
                    f"INSERT INTO events ({COLUMNS}) SELECT * FROM "
                    f"(VALUES {', '.join([ROW] * len(rows))}) WHERE ({OWNED})",
                    [*values, self._token],
                )
                self._check_owner(done.rowcount)
            if not whole:
                for statement, given in further:
                    connection.execute(statement, given)
                connection.execute("COMMIT")
        except (sqlite3.Error, StorageFailure) as error:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            if isinstance(error, StorageFailure):
                raise
            raise StorageFailure(f"{self.path} cannot be written: {error}") from error

    def _check_owner(self, owned: int) -> None:
        """Refuse to write where another process has become the owner."""
        if not owned:
            raise StorageFailure(f"{self.path} has another owner now", lost=True)

    def _update(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Do a statement with each of some rows of values, in one transaction."""
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, rows)
        connection.execute("COMMIT")

    def touch(self) -> None:
        """Write the version again, to see that this is possible."""
        connection = self._connection()
        try:
            connection.executescript(f"BEGIN IMMEDIATE; PRAGMA user_version={VERSION}; COMMIT;")
        except sqlite3.Error as error:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise StorageFailure(f"{self.path} cannot be written: {error}") from error

    def query(self, statement: str, values: Iterable[Any] = ()) -> list[Any]:
        """Return the rows of a statement, which is a transaction of its own."""
        with self._reading():
            return list(self._connection().execute(statement, tuple(values)))

    def _page(self, condition: str, values: Sequence[Any], limit: int) -> list[Any]:
        """Return the first rows of the log under a condition: about `PAGE` bytes, at least one."""
        rows, size = [], 0
        statement = f"SELECT {COLUMNS} FROM events WHERE {condition} LIMIT ?"
        with self._reading(), closing(self._connection().execute(statement, (*values, limit))) as c:
            for row in c:
                rows.append(row)
                size += len(row[BODY]) + len(row[ANSWER])
                if size >= PAGE:
                    break
        return rows

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise `StorageFailure` or `DamagedLog` where the file cannot be read."""
        try:
            yield
        except sqlite3.Error as error:
            if "decode" in str(error):  # a byte of a text was changed
                raise DamagedLog(f"{self.path} was changed on the disk: {error}") from error
            raise StorageFailure(f"{self.path} cannot be read: {error}") from error


def check_header(connection: sqlite3.Connection, name: Path) -> None:
    """Refuse a file that is not a database of a service, or has another version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise ValueError(f"{name} is not the database of a server of normalhedge")
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"{name} has version {version}; this version of normalhedge reads up to {VERSION}"
        )
