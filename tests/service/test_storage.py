"""A database has one owner."""

import pytest

from normalhedge.service.server import storage_of


def test_one_process_owns_a_database(db: str) -> None:
    first = storage_of(db)
    first.open()
    second = storage_of(db)
    with pytest.raises(ValueError, match=r"is in use by .*process \d+"):
        second.open()
    first.close()
    second.open()
    second.close()
