from collections.abc import Iterator

import pytest

from normalhedge import Client


@pytest.fixture
def far(server: str) -> Iterator[Client]:
    with Client(server, patience=30.0) as client:
        yield client
