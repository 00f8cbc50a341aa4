"""Files that are not databases of the service are refused."""

import sqlite3
from pathlib import Path

import pytest

from normalhedge.service.server import storage_of


def test_files_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(ValueError, match="not the database of a server"):
        storage_of(str(other)).open()
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(ValueError, match="cannot be used"):
        storage_of(str(tmp_path / "text.db")).open()
    with pytest.raises(ValueError, match="no folder"):
        storage_of(str(tmp_path / "absent" / "a.db")).open()


def test_a_version_of_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened = storage_of(str(path))
    opened.open()
    opened.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(ValueError, match="version 99"):
        storage_of(str(path)).open()
