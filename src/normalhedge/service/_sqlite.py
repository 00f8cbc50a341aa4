"""The event log in a file of SQLite, which one process owns."""

import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from normalhedge.live.owner import Owner
from normalhedge.service._problems import InUseError, StorageFailure
from normalhedge.service._storage import (
    ALARMS,
    COLUMNS,
    SENDER,
    TABLES,
    VERSION,
    Batch,
    Event,
    Storage,
    further_statements,
)

APPLICATION = 0x6E686467  # the number in the header of the file that says whose it is: "nhdg"

NAMES = {
    "schema": "", "integer": "INTEGER", "real": "REAL", "bytes": "BLOB",
    "without_rows": "WITHOUT ROWID",
}  # fmt: skip
"""The words of SQLite in `TABLES`."""

ROW = f"({', '.join('?' * len(Event._fields))})"

ROWS_AT_ONCE = 512
"""The number of rows of one statement: its parameters must stay below the limit of SQLite."""


class SQLite(Storage):
    """The log in a file.

    Commits are written through to the disk (``synchronous=FULL``). A lock beside the file
    (`normalhedge.live.owner.Owner`) keeps other processes out; others may read.
    """

    lookups_are_quick = True

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._owner = Owner(path)
        self._held = ExitStack()

    def open(self) -> None:
        """Become the owner, and make the tables if there are none; refuse if another one is."""
        if not self.path.parent.is_dir():
            raise ValueError(f"there is no folder {self.path.parent} for the database {self.path}")
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
        connection.executescript(
            f"BEGIN IMMEDIATE; {'' if tables else TABLES.format(**NAMES)} "
            f"{ALARMS.format(**NAMES)} "
            f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; COMMIT;"
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
        self.last_sequence()
        return True

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
            for start in range(0, len(batch.events), ROWS_AT_ONCE):
                rows = batch.events[start : start + ROWS_AT_ONCE]
                connection.execute(
                    f"INSERT INTO events ({COLUMNS}) VALUES {', '.join([ROW] * len(rows))}",
                    [value for row in rows for value in row],
                )
            if not whole:
                for statement, values in further:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise StorageFailure(f"{self.path} cannot be written: {error}") from error

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
        try:
            return list(self._connection().execute(statement, tuple(values)))
        except sqlite3.Error as error:
            raise StorageFailure(f"{self.path} cannot be read: {error}") from error


def check_header(connection: sqlite3.Connection, name: Path) -> None:
    """Refuse a file that is not a database of a service, or has another version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise ValueError(f"{name} is not the database of a server of normalhedge")
    if version != VERSION:
        raise ValueError(
            f"{name} has version {version}; this version of normalhedge reads version {VERSION}"
        )
