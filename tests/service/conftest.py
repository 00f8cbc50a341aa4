import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.postgres import Cluster, cluster, programs
from tests.service.running import Asked, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "a.db") as url:
        yield url


@pytest.fixture
def client(server: str) -> Iterator[Asked]:
    with Asked(server) as asked:
        yield asked


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: make system PARTS=postgres")
    # The path of a socket must be short, and the folders above it open to another user.
    with tempfile.TemporaryDirectory(prefix="nh") as folder:
        Path(folder).chmod(0o755)
        with cluster(Path(folder) / "c") as made:
            yield made


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "a.db")
    made: Cluster = request.getfixturevalue("postgres")
    return made.new_database()
