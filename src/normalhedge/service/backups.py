"""Copies of a database of SQLite: made while a server uses it, and put back when none does."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from normalhedge.boundary.terminal import counted
from normalhedge.boundary.whole_files import write_whole
from normalhedge.live.owner import Owner
from normalhedge.service._problems import DamagedLog
from normalhedge.service._sqlite import check_header
from normalhedge.service._storage import COLUMNS, event_of

BESIDE = ("-wal", "-shm", "-journal")
"""The ends of the names of files that belong to a database of SQLite."""


class Backup(NamedTuple):
    """The content of a copy."""

    # mixtures, events: the numbers of mixtures that are not deleted, and of events in the log
    mixtures: int
    events: int
    last: float | None  # the time of the last event; None if there is none

    def __str__(self) -> str:
        """Return a part of a sentence."""
        content = f"{counted(self.mixtures, 'mixture')}, {counted(self.events, 'event')}"
        if self.last is None:
            return content
        when = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(self.last))
        return f"{content}, the last one at {when}"


def back_up(db: str, target: Path) -> Backup:
    """Copy a database, which a server may be using, to a file; the server does not wait.

    The copy is the content of the disk at one moment: every request that was acknowledged before
    the call is in it. It is read again and checked before it takes the place of an older one.
    """
    path = _file(db, "pg_dump --schema=normalhedge --format=custom --file=FILE")
    if not path.is_file():
        raise ValueError(f"there is no database {path}")
    if target.exists() and target.samefile(path):
        raise ValueError(f"{target} is the database itself: choose another file for the copy")
    copies: list[Backup] = []

    def write(part: Path) -> None:
        try:
            with _reading(path) as source, closing(sqlite3.connect(part)) as copy:
                # All pages in one step, in one transaction: a later write would begin it again.
                source.backup(copy, pages=-1)
                copy.execute("PRAGMA journal_mode=DELETE")
            copies.append(check(part, path))
        except sqlite3.Error as error:
            raise ValueError(f"{path} cannot be copied: {error}") from None

    write_whole(target, write)
    return copies[0]


def _reading(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True))


def check(path: Path, called: Path | None = None) -> Backup:
    """Return the content of a database; refuse one that is damaged or not of ours."""
    name = called or path
    try:
        with _reading(path) as database:
            check_header(database, name)
            (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise ValueError(f"{name} is damaged: {state}")
            if database.execute("PRAGMA user_version").fetchone() != (1,):
                for row in database.execute(f"SELECT {COLUMNS} FROM events"):
                    event_of(row)
            mixtures = database.execute("SELECT count(*) FROM mixtures WHERE deleted IS NULL")
            events = database.execute("SELECT count(*), max(time) FROM events")
            return Backup(*mixtures.fetchone(), *events.fetchone())
    except DamagedLog as error:
        raise ValueError(f"{name} is damaged: {error}") from None
    except sqlite3.Error as error:
        raise ValueError(f"{name} cannot be read: {error}") from None


def restore(copy: Path, db: str, *, replace: bool = False) -> tuple[Backup, Path | None]:
    """Put a copy in the place of a database that no server uses."""
    path = _file(db, "pg_restore --dbname=ADDRESS FILE")
    if not copy.is_file():
        raise ValueError(f"there is no file {copy}")
    with Owner(path):
        content, before = check(copy), None
        if path.exists():
            if not replace:
                raise ValueError(f"{path} is there already: add --replace to move it away")
            before = _free(path)
            for end in (*BESIDE, ""):
                part = Path(f"{path}{end}")
                if part.exists():
                    part.rename(f"{before}{end}")
        write_whole(path, lambda part: shutil.copyfile(copy, part))
    return content, before


def _file(db: str, instead: str) -> Path:
    """Return the file of a database; refuse PostgreSQL."""
    if "://" in db:
        raise ValueError(
            f"this is for files of SQLite: PostgreSQL has programs of its own, {instead}"
        )
    return Path(db)


def _free(path: Path) -> Path:
    """Return a name for the old database that is not taken."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = [f"{path}.before-{stamp}", *(f"{path}.before-{stamp}-{k}" for k in range(1, 1000))]
    return next(name for name in map(Path, names) if not name.exists())
