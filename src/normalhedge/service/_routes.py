"""The table of routes: addresses, the scopes that they need, and their forms."""

import mimetypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Mount, Route as StarletteRoute
from starlette.staticfiles import StaticFiles

from normalhedge.service import _forms as forms
from normalhedge.service._calls import EVENTS, LINES
from normalhedge.service._http import Parameter, Route
from normalhedge.service._kind import Kind
from normalhedge.service._kinds import MIXTURE
from normalhedge.service._mixture_forms import PeekAnswer, PeekRequest


class Served(NamedTuple):
    """A kind of objects, and the handlers of requests about them."""

    kind: Kind
    changes: Any
    views: Any


TEXT = {"type": "string"}
TIME = {"type": "number"}
SINCE = Parameter("since", "Only rounds settled since this time, in seconds since 1970.", TIME)
UNTIL = Parameter("until", "Only rounds settled until this time, in seconds since 1970.", TIME)
LIMIT = Parameter(
    "limit", "The largest number of rounds; the last ones.",
    {"type": "integer", "minimum": 1, "maximum": 10000, "default": 500},
)  # fmt: skip
SEQUENCE = Parameter(
    "sequence",
    "The state after this event; 0 for the oldest state from which the log can be replayed.",
    {"type": "integer", "minimum": 0},
)
BEFORE = Parameter(
    "before", "Only rounds before the 'next' of an earlier answer.", {"type": "string"}
)
PAGE = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}
TICKETS = Parameter(
    "limit", "The largest number of rounds.",
    {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10000},
)  # fmt: skip
AFTER_TICKET = Parameter(
    "after", "Only rounds with larger tickets.", {"type": "integer", "minimum": 0}
)
AFTER = Parameter("after", "Only events after this sequence.", {"type": "integer", "minimum": 0})
WHOLE = Parameter(
    "events", "Whether to write events with their answers, and not lines.", {"type": "boolean"}
)
BEFORE_ALARM = Parameter(
    "before", "Only alarms before this id, for the next page.", {"type": "integer", "minimum": 1}
)
ALARMS = Parameter(
    "limit", "The largest number of alarms.",
    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
)  # fmt: skip


def health_routes(health: Any) -> list[Route]:
    """Return the routes of health: they need no token, and no rate holds for them."""
    return [
        Route("GET", path, "", handler, answer=forms.ServerState, counted=False)
        for path, handler in (("/healthz", health.healthz), ("/readyz", health.readyz))
    ]


def routes(overview: Any, broadcast: Any, health: Any, kinds: Sequence[Served]) -> list[Route]:
    """Return all routes; the ones that are asked for most come first, as they are tried in turn."""
    each = [(_verbs(served), _of_one(served, broadcast)) for served in kinds]
    return [
        *(route for verbs, _ in each for route in verbs[:OFTEN]),
        *health_routes(health),
        *(route for verbs, rest in each for route in (*verbs[OFTEN:], *rest)),
        Route("GET", "/v1/alarms", "read", overview.alarms,
              answer=forms.AlarmPage, query=(BEFORE_ALARM, ALARMS)),
        Route("GET", "/v1/log", "admin", overview.changes, media=LINES, query=(AFTER,)),
        Route("GET", "/v1/events", "read", broadcast.events, media=EVENTS),
        Route("GET", "/metrics", "read", overview.metrics, media="text/plain"),
        Route("GET", "/openapi.json", "", overview.openapi, answer=dict[str, Any]),
    ]  # fmt: skip


OFTEN = 2  # the verbs of a kind that are tried first


def _verbs(served: Served) -> list[Route]:
    """Return the routes of the verbs of a kind."""
    kind = served.kind
    return [
        Route("POST", f"{kind.path}/{verb.name}", "write", served.changes.does(verb), verb.form,
              verb.answer, keyed=True, name=_label(kind, verb.name), text=verb.text)
        for verb in kind.verbs
    ]  # fmt: skip


def _of_one(served: Served, broadcast: Any) -> list[Route]:
    """Return the other routes of a kind, which are the same for all kinds."""
    kind, c, v = served
    one, every, told = kind.path, f"/v1/{kind.words}", kind.shapes
    page = Parameter("limit", f"The largest number of {kind.words}.", PAGE)
    after = Parameter("after", f"Only {kind.words} whose names come after this one.", TEXT)
    found = [
        Route("POST", f"{one}/rounds", "write", c.rounds, forms.Rounds, forms.Answers, keyed=True),
        Route("POST", f"{one}/stream", "write", c.stream, media=LINES, takes=LINES),
        Route("GET", every, "read", v.all, answer=told.listed, query=(after, page),
              name=kind.words),
        Route("POST", every, "admin", c.create,
              told.new, forms.NamedAnswer, status=201, keyed=True),
        Route("GET", one, "read", v.one, answer=told.details, name=kind.word),
        Route("PATCH", one, "admin", c.rename, forms.NewName, forms.NamedAnswer, keyed=True),
        Route("DELETE", one, "admin", c.delete, answer=forms.NamedAnswer, keyed=True),
        Route("GET", f"{one}/summary", "read", v.summary, answer=told.summary),
        Route("GET", f"{one}/history", "read", v.history,
              answer=told.past, query=(SINCE, UNTIL, LIMIT, BEFORE)),
        Route("GET", f"{one}/pending", "read", v.pending, answer=forms.PendingPage,
              query=(AFTER_TICKET, TICKETS)),
        Route("GET", f"{one}/alarms", "read", v.alarms, answer=forms.AlarmPage,
              query=(BEFORE_ALARM, ALARMS), name=f"{kind.word}_alarms"),
        Route("GET", f"{one}/state", "read", v.state, answer=dict[str, Any], query=(SEQUENCE,)),
        Route("PUT", f"{one}/state", "admin", c.import_state,
              dict[str, Any], forms.NamedAnswer, status=201, keyed=True),
        Route("GET", f"{one}/log", "read", v.log, media=LINES, query=(AFTER, WHOLE)),
        Route("POST", f"{one}/compact", "admin", c.compact, forms.Age, forms.CompactedAnswer),
        Route("GET", f"{one}/events", "read", broadcast.events_of(kind), media=EVENTS,
              name=f"{kind.word}_events", text="Tell its events, as they happen."),
    ]  # fmt: skip
    if kind is MIXTURE:
        found.append(Route("POST", f"{one}/peek", "read", v.peek, PeekRequest, PeekAnswer))
    return [route._replace(name=route.name or _label(kind, route.label)) for route in found]


def _label(kind: Kind, name: str) -> str:
    """Return the label of a route: the ones of mixtures have the plain words."""
    return name if kind is MIXTURE else f"{kind.word}_{name}"


PLACE = Path(__file__).parent  # the folder of this package

HOMES = {"dashboard": "/", "pages": "/docs"}
"""The folders whose files are served, and the addresses of ``index.html``; files of other projects
are in the folder ``vendor``, which `vendor/vendored.cdx.json` lists."""

mimetypes.add_type("text/javascript", ".js")  # Windows may know it as another type


def page_routes() -> Iterator[BaseRoute]:
    """Yield the routes of all files: ``FOLDER/FILE`` is at ``/FOLDER/FILE``."""
    for folder, home in HOMES.items():
        yield _files(folder)
        yield StarletteRoute(home, FileResponse(PLACE / folder / "index.html"), methods=["GET"])
    yield _files("vendor")


def _files(folder: str) -> Mount:
    """Return the routes of a folder; long files are compressed."""
    return Mount(f"/{folder}", GZipMiddleware(StaticFiles(directory=PLACE / folder), 10_000))
