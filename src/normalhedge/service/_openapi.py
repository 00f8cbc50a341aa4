"""The OpenAPI 3.1 document of the service, made from the table of routes and the forms."""

from collections.abc import Sequence
from typing import Any

import msgspec

import normalhedge
from normalhedge.service import _forms as forms
from normalhedge.service._http import Route
from normalhedge.service._limits import KEY, NAME

PROBLEMS = {
    400: "The request is not JSON in UTF-8.",
    401: "A token is needed.",
    403: "The token, or the page that asks, does not allow this.",
    404: "There is no such mixture, router or round.",
    405: "The method is not known here.",
    408: "The request took too long to arrive.",
    409: "It was done already, or the Idempotency-Key was used for another request.",
    413: "The request is too large.",
    415: "The Content-Type is another.",
    422: "The content is not as described; the sentence gives the reason.",
    429: "Too many requests in a short time.",
    503: "The database cannot be used at the moment; nothing was acknowledged.",
}
"""The problems that every route may answer with."""


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the document."""
    kinds = {kind for route in routes for kind in (route.request, route.answer) if kind is not None}
    ordered = sorted(kinds | {forms.ErrorAnswer}, key=str)
    schemas, components = msgspec.json.schema_components(
        ordered, ref_template="#/components/schemas/{name}"
    )
    by_kind = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "normalhedge",
            "version": normalhedge.__version__,
            "description": "Blend forecasts by weights that follow the experts with the best "
            "recent forecasts, and choose actions that earn most. Acknowledged requests are on the "
            "disk.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


GROUPS = {
    "Rounds": {
        "predict",
        "outcome",
        "outcomes",
        "correct",
        "peek",
        "rounds",
        "stream",
        "choose",
        "reward",
    },
    "Export and import": {"state", "log", "compact"},
}
"""The groups of addresses, by their last words; the others are about mixtures or the server."""


def _group(path: str) -> str:
    last = path.rpartition("/")[2]
    group = next((group for group, words in GROUPS.items() if last in words), "")
    group = group or ("Routers" if path.startswith("/v1/routers") else "Mixtures")
    return group if path.startswith("/v1/") else "Server"


def _operation(route: Route, by_kind: dict[Any, Any]) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = []
    if "{name}" in route.path:
        schema = {"type": "string", "pattern": NAME}
        parameters.append({"name": "name", "in": "path", "required": True, "schema": schema})
    if route.keyed:
        parameters.append({
            "name": "Idempotency-Key", "in": "header", "required": False,
            "description": "The same key again gets the stored answer; nothing is done twice.",
            "schema": {"type": "string", "pattern": KEY},
        })  # fmt: skip
    parameters += [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, description, schema in route.query
    ]
    answer: dict[str, Any] = {"description": "Done."}
    schema = by_kind.get(route.answer, {"type": "string"})
    answer["content"] = {route.media: {"schema": schema}}
    problem = {"application/json": {"schema": by_kind[forms.ErrorAnswer]}}
    operation: dict[str, Any] = {
        "operationId": route.label,
        "tags": [_group(route.path)],
        "summary": (route.text or route.handler.__doc__ or "").partition("\n")[0],
        "description": f"Needs scope {route.scope}." if route.scope else "Open to everybody.",
        "parameters": parameters,
        "responses": {
            str(route.status): answer,
            **{
                str(status): {"description": description, "content": problem}
                for status, description in PROBLEMS.items()
            },
        },
    }
    if route.request is not None or route.takes != "application/json":
        schema = by_kind.get(route.request, {"type": "string"})
        operation["requestBody"] = {"required": True, "content": {route.takes: {"schema": schema}}}
    return operation
