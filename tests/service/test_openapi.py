"""The OpenAPI document and its page."""

import json

from tests.service.running import Asked


def test_the_document_and_its_page_work_offline(client: Asked) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(names) == len(set(names)) > 20
    text = json.dumps(document)
    for part in text.split('"$ref": "#/components/schemas/')[1:]:
        assert part.partition('"')[0] in document["components"]["schemas"]
    page = client.get("/docs").text
    for name in ("docs.js", "docs.css"):
        assert f"/pages/{name}" in page
        assert client.get(f"/pages/{name}").status_code == 200
    assert "//" not in page.replace("<!doctype", "")  # nothing from elsewhere
