"""The list of mixtures."""

from tests.service.examples import ONE
from tests.service.running import Asked


def test_mixtures_are_renamed_and_deleted(client: Asked) -> None:
    client.send_json("/v1/mixtures", {"name": "load"})
    assert client.post("/v1/mixtures", json={"name": "load"}).status_code == 409
    assert client.patch(ONE, json={"name": "wind"}).json()["name"] == "wind"
    assert client.get(ONE).status_code == 404
    assert client.delete("/v1/mixtures/wind").status_code == 200
    assert client.get("/v1/mixtures").json()["mixtures"] == []
    client.send_json("/v1/mixtures", {"name": "wind"})
