import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from normalhedge.service._limits import Limits
from tests.service.examples import ONE
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


SMALL = Limits(
    body=20_000, experts=5, items=4, pending=3, name=20, rounds=10, line=500, mixtures=2,
    body_seconds=0.5, state=50_000, history=50,
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with (
        served(tmp_path_factory.mktemp("small") / "a.db", limits=SMALL) as url,
        Asked(url) as client,
    ):
        client.send_json("/v1/mixtures", {"name": "load"})
        client.send_json(f"{ONE}/predict", {"forecasts": {"a": 1.0, "b": 2.0}})
        yield client
