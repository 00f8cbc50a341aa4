"""The OpenAPI document and its page."""

import json
import re
from collections import Counter
from pathlib import Path

from normalhedge.service._kinds import MIXTURE
from tests.service.running import Asked


def test_the_document_and_its_page_work_offline(client: Asked) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(names) > 20
    twice = [name for name, count in Counter(names).items() if count > 1]
    assert not twice, f"several routes have handlers of the name {twice[0]}"
    text = json.dumps(document)
    for part in text.split('"$ref": "#/components/schemas/')[1:]:
        assert part.partition('"')[0] in document["components"]["schemas"]
    page = client.get("/docs").text
    for name in ("docs.js", "docs.css"):
        assert f"/pages/{name}" in page
        assert client.get(f"/pages/{name}").status_code == 200
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/vendor/swagger-ui/{name}" in page
        answer = client.get(f"/vendor/swagger-ui/{name}")
        assert answer.headers["content-encoding"] == "gzip"
    assert "//" not in page.replace("<!doctype", "")  # nothing from elsewhere


def listed(page: str) -> set[tuple[str, str]]:
    """Return the methods and addresses in the table of requests: ``...`` is a mixture."""
    found: set[tuple[str, str]] = set()
    for row in re.findall(r"^\| (`[A-Z]+ [./].*?) \|", page, flags=re.MULTILINE):
        methods, base, used = [""], "", False  # `PATCH`, `DELETE .../NAME` are two for one address
        for code in re.findall(r"`(.+?)`", row):
            method, path = re.fullmatch(r"([A-Z]*) ?(.*)", code).groups()  # type: ignore[union-attr]
            if method:
                methods = [method] if used else [*methods, method]
            used = bool(path)
            base = MIXTURE.path if path.startswith("...") else base
            path = path.replace("/NAME", "/{name}") if "routers" in path else path
            address = path.removeprefix("...").removeprefix("/NAME")
            address = address if path.startswith("/v1") else base + address
            found |= {(name, address) for name in methods if name and path}
    return found


def test_the_page_of_the_service_has_every_route(client: Asked) -> None:
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text()
    paths = client.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    told = listed(page)
    told |= {(method, path.replace("mixtures", "routers")) for method, path in told} & routes
    assert routes - told == {("GET", "/openapi.json")}
    assert listed(page) <= routes
