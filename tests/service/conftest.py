from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.running import Asked, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "a.db") as url:
        yield url


@pytest.fixture
def client(server: str) -> Iterator[Asked]:
    with Asked(server) as asked:
        yield asked
