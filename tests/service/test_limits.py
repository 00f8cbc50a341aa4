"""Names that a service accepts."""

import pytest

from tests.service.running import Asked


@pytest.mark.parametrize("name", ["", " ", "a/b", "ä", "x" * 101, "-a", ".."])
def test_names_that_cannot_be_part_of_an_address_are_refused(client: Asked, name: str) -> None:
    assert client.post("/v1/mixtures", json={"name": name}).status_code == 422
