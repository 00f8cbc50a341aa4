"""The event log in a database of PostgreSQL, whose owner holds an advisory lock."""

import os
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from normalhedge.boundary.extras import require
from normalhedge.service import _logs as logs
from normalhedge.service._problems import InUseError, StorageFailure
from normalhedge.service._storage import (
    ALARMS,
    COLUMNS,
    PAGE,
    SENDER,
    TABLES,
    VERSION,
    Batch,
    Storage,
    checksum,
    further_statements,
)

SCHEMA = "normalhedge"  # the schema of the tables, which is ours alone
LOCK = 0x6E686467  # the number of the advisory lock of a database's owner: "nhdg"

NAMES = {
    "schema": f"{SCHEMA}.", "integer": "bigint", "real": "double precision", "bytes": "bytea",
    "without_rows": "",
}  # fmt: skip
"""The words of PostgreSQL in `TABLES`."""

CREATE = f"""
CREATE SCHEMA {SCHEMA};
CREATE TABLE {SCHEMA}.version (version integer NOT NULL);
INSERT INTO {SCHEMA}.version VALUES ({VERSION});
{TABLES.format(**NAMES)}
"""

TYPES = [
    "bigint", "bigint", "float8", "text", "text", "bytea", "text", "text", "integer", "bigint",
    "text", "bigint",
]  # fmt: skip
"""The types of the columns of the log."""

INSERT = (
    f"INSERT INTO events ({COLUMNS}) "
    f"SELECT * FROM unnest({', '.join(f'%s::{kind}[]' for kind in TYPES)})"
)

LACKS = f"""
SELECT count(*) = 0 FROM pg_attribute WHERE attrelid = '{SCHEMA}.events'::regclass
AND attname = 'sender' AND NOT attisdropped
"""
"""Whether the log is of an earlier release."""

HOLDER = """
SELECT application_name, client_addr, backend_start FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objid = ?
"""

GRACE = 2.0  # the seconds for which a lock of another process is waited for, before it is believed

KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""How soon a connection to a machine that has gone is given up, in seconds and attempts."""


SECONDS = 15.0  # how long a statement may take, in seconds


class Watch:
    """A thread that cuts connections off whose statements take too long.

    The server ends a statement that takes too long by itself, unless it hangs as a whole, or its
    machine is gone: then nobody else would.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun: dict[Any, float] = {}
        self._thread: threading.Thread | None = None

    def kind(self, connection: Any) -> Any:
        """Return a kind of connections that are watched."""
        watch = self

        class Watched(connection):  # type: ignore[misc]
            def wait(self, *arguments: Any, **named: Any) -> Any:
                """Wait for the server."""
                watch.begin(self)
                try:
                    return super().wait(*arguments, **named)
                finally:
                    watch.end(self)

        return Watched

    def begin(self, connection: Any) -> None:
        """Watch a connection from now on."""
        self._begun[connection] = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="watch", daemon=True)
            self._thread.start()

    def end(self, connection: Any) -> None:
        """Do not watch a connection any more."""
        self._begun.pop(connection, None)

    def _work(self) -> None:
        while True:
            time.sleep(0.25)
            oldest = time.monotonic() - self.seconds
            for connection, begun in list(self._begun.items()):
                if begun < oldest:
                    with (
                        suppress(Exception),
                        socket.socket(fileno=os.dup(connection.fileno())) as s,
                    ):
                        s.shutdown(socket.SHUT_RDWR)


class PostgreSQL(Storage):
    """The log in a database of PostgreSQL.

    The writing connection holds an advisory lock. It ends with the connection, so that another
    process can take over when this one dies; and this one writes through that connection, so that
    it cannot write any more once it has lost the lock.
    """

    def __init__(self, address: str, seconds: float = SECONDS) -> None:
        super().__init__()
        self._address = address
        self._seconds = seconds
        self._psycopg = require("psycopg")
        self._writer: Any = None
        self._watch = Watch(seconds + 1.0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process reads the same database."""
        return PostgreSQL, (self._address, self._seconds)

    def _connect(self) -> Any:
        host = socket.gethostname()
        connection = self._watch.kind(self._psycopg.Connection).connect(
            self._address, autocommit=True, connect_timeout=max(2, min(10, round(self._seconds))),
            tcp_user_timeout=round(self._seconds * 1000),
            application_name=f"normalhedge serve, process {os.getpid()} on {host}"[:63],
            **KEEPALIVE,
        )  # fmt: skip
        connection.execute(f"SET statement_timeout TO {round(self._seconds * 1000)}")
        connection.execute(f"SET search_path TO {SCHEMA}")
        connection.execute("SET synchronous_commit TO on")
        # The server gives this connection up soon if this machine has gone, and its lock with it.
        for name, value in KEEPALIVE.items():
            with suppress(self._psycopg.Error):
                connection.execute(f"SET tcp_{name} TO {value}")
        return connection

    def open(self) -> None:
        """Become the owner, and make the tables if there are none; refuse if another one is."""
        try:
            self._own_soon()
            writer = self._writer
            table = writer.execute("SELECT to_regclass(%s)", [f"{SCHEMA}.version"]).fetchone()
            if table[0] is None:
                with writer.transaction():
                    writer.execute(CREATE)
            if writer.execute(LACKS).fetchone()[0]:
                writer.execute(SENDER.format(**NAMES))
            version = writer.execute("SELECT version FROM version").fetchone()[0]
            if version == 1:
                version = self._upgrade()
            if version == VERSION:
                writer.execute(ALARMS.format(**NAMES))
        except self._psycopg.Error as error:
            self.close()
            raise ValueError(f"the database cannot be used: {_sentence(error)}") from None
        except StorageFailure as error:
            raise InUseError(str(error)) from None
        if version != VERSION:
            self.close()
            raise ValueError(
                f"the database has version {version}; this version of normalhedge reads up to "
                f"{VERSION}"
            )

    def _upgrade(self) -> int:
        """Give a log of version 1 its checksums; return the new version."""
        logs.info("upgrading", sentence="writing the checksums of the log")
        self._writer.execute("ALTER TABLE events ADD COLUMN IF NOT EXISTS checksum bigint")
        self._add_checksums()
        self._writer.execute("UPDATE version SET version = %s", [VERSION])
        return VERSION

    def _own_soon(self) -> None:
        """Take the lock; the server may need a moment to see that its last holder has gone."""
        end = time.monotonic() + GRACE
        while True:
            try:
                self._own()
                return
            except StorageFailure:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def _own(self) -> None:
        """Connect, and take the lock."""
        connection = self._connect()
        if connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()[0]:
            self._writer = connection
            return
        rows = connection.execute(HOLDER.replace("?", "%s"), [LOCK]).fetchall()
        connection.close()
        who = "another process"
        if rows:
            name, address, since = rows[0]
            who = f"{name} ({address or 'local'}) since {since:%Y-%m-%d %H:%M:%S}"
        raise StorageFailure(f"the database is in use by {who}", lost=True)

    def reopen(self) -> bool:
        """Try to use the database again after a failure; tell if it was owned all the time."""
        try:
            if self._writer is not None and not self._writer.closed:
                self._writer.rollback()
                self._writer.execute("SELECT 1")
                return True
        except self._psycopg.Error:
            pass
        self.close()
        try:
            self.epoch += 1
            self._own()
        except self._psycopg.Error as error:
            raise StorageFailure(_sentence(error), lost=True) from error
        return False

    def close(self) -> None:
        """Give the database up."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(self._psycopg.Error):
                writer.execute("SELECT pg_advisory_unlock_all()")
            with suppress(self._psycopg.Error):
                writer.close()
        self._disconnect(self._psycopg.Error)

    def append(self, batch: Batch) -> None:
        """Write a batch; when this returns, it survives a power cut."""
        writer = self._writer
        if writer is None:
            raise StorageFailure("there is no connection", lost=True)
        try:
            rows = [(*event, checksum(event)) for event in batch.events]
            columns = [list(column) for column in zip(*rows, strict=True)]
            further = further_statements(batch)
            if not further:
                writer.execute(INSERT, columns)
                return
            with writer.transaction():
                if columns:
                    writer.execute(INSERT, columns)
                for statement, values in further:
                    writer.execute(statement.replace("?", "%s"), values)
        except self._psycopg.Error as error:
            # Whether a commit was done is not known if the connection broke during it.
            raise StorageFailure(_sentence(error), lost=bool(writer.closed)) from error

    def touch(self) -> None:
        """Write the version again, to see that this is possible."""
        writer = self._writer
        if writer is None:
            raise StorageFailure("there is no connection", lost=True)
        try:
            writer.execute("UPDATE version SET version = version")
        except self._psycopg.Error as error:
            raise StorageFailure(_sentence(error), lost=bool(writer.closed)) from error

    def query(self, statement: str, values: Iterable[Any] = ()) -> list[Any]:
        """Return the rows of a statement, which is a transaction of its own."""
        try:
            cursor = self._connection().execute(statement.replace("?", "%s"), tuple(values))
            return [] if cursor.description is None else list(cursor.fetchall())
        except self._psycopg.Error as error:
            self._local.connection = None  # the next query of this thread connects again
            raise StorageFailure(_sentence(error)) from error

    def _update(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Do a statement with each of some rows of values, in one transaction."""
        with self._writer.transaction(), self._writer.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), rows)

    def _page(self, condition: str, values: Sequence[Any], limit: int) -> list[Any]:
        """Return the first rows of the log under a condition: about `PAGE` bytes, at least one."""
        where = f"FROM events WHERE {condition} LIMIT ?"
        sizes = self.query(
            f"SELECT octet_length(body) + octet_length(answer) {where}", (*values, limit)
        )
        total, count = 0, 0
        for (size,) in sizes:
            total, count = total + size, count + 1
            if total >= PAGE:
                break
        return self.query(f"SELECT {COLUMNS} {where}", (*values, count)) if count else []


def _sentence(error: Exception) -> str:
    """Return the first line of an error; the others repeat the statement."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
