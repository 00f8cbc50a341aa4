"""The table of routes: addresses, the scopes that they need, and their forms."""

import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Mount, Route as StarletteRoute
from starlette.staticfiles import StaticFiles

from normalhedge.service import _forms as forms
from normalhedge.service._calls import EVENTS, LINES
from normalhedge.service._http import Parameter, Route

ONE = "/v1/mixtures/{name}"

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
PAGE = Parameter(
    "limit", "The largest number of mixtures.",
    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000},
)  # fmt: skip
AFTER_NAME = Parameter(
    "after", "Only mixtures whose names come after this one.", {"type": "string"}
)
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


def routes(changes: Any, views: Any, broadcast: Any, health: Any) -> list[Route]:
    """Return all routes; the ones that are asked for most come first, as they are tried in turn."""
    c, v, b = changes, views, broadcast
    return [
        Route("POST", f"{ONE}/predict", "write", c.predict,
              forms.RoundForecasts, forms.PredictionAnswer, keyed=True),
        Route("POST", f"{ONE}/outcome", "write", c.outcome,
              forms.Settlement, forms.SettledAnswer, keyed=True),
        *health_routes(health),
        Route("POST", f"{ONE}/outcomes", "write", c.outcomes,
              forms.Settlements, forms.Answers, keyed=True),
        Route("POST", f"{ONE}/rounds", "write", c.rounds, forms.Rounds, forms.Answers, keyed=True),
        Route("POST", f"{ONE}/correct", "write", c.correct,
              forms.Settlement, forms.CorrectedAnswer, keyed=True),
        Route("POST", f"{ONE}/experts", "write", c.experts,
              forms.ExpertChange, forms.ChangedAnswer, keyed=True),
        Route("POST", f"{ONE}/stream", "write", c.stream, media=LINES, takes=LINES),
        Route("POST", f"{ONE}/peek", "read", v.peek, forms.PeekRequest, forms.PeekAnswer),
        Route("GET", "/v1/mixtures", "read", v.mixtures, answer=forms.MixtureList,
              query=(AFTER_NAME, PAGE)),
        Route("POST", "/v1/mixtures", "admin", c.create,
              forms.NewMixture, forms.MixtureAnswer, status=201, keyed=True),
        Route("GET", ONE, "read", v.mixture, answer=forms.Details),
        Route("PATCH", ONE, "admin", c.rename, forms.NewName, forms.MixtureAnswer, keyed=True),
        Route("DELETE", ONE, "admin", c.delete, answer=forms.MixtureAnswer, keyed=True),
        Route("GET", f"{ONE}/summary", "read", v.summary, answer=forms.SummaryAnswer),
        Route("GET", f"{ONE}/history", "read", v.history,
              answer=forms.PastRounds, query=(SINCE, UNTIL, LIMIT, BEFORE)),
        Route("GET", f"{ONE}/pending", "read", v.pending, answer=forms.PendingPage,
              query=(AFTER_TICKET, TICKETS)),
        Route("GET", f"{ONE}/alarms", "read", v.mixture_alarms,
              answer=forms.AlarmPage, query=(BEFORE_ALARM, ALARMS)),
        Route("GET", "/v1/alarms", "read", v.alarms,
              answer=forms.AlarmPage, query=(BEFORE_ALARM, ALARMS)),
        Route("GET", f"{ONE}/state", "read", v.state, answer=dict[str, Any], query=(SEQUENCE,)),
        Route("PUT", f"{ONE}/state", "admin", c.import_state,
              dict[str, Any], forms.MixtureAnswer, status=201, keyed=True),
        Route("GET", f"{ONE}/log", "read", v.log, media=LINES, query=(AFTER, WHOLE)),
        Route("GET", "/v1/log", "admin", v.changes, media=LINES, query=(AFTER,)),
        Route("POST", f"{ONE}/compact", "admin", c.compact, forms.Age, forms.CompactedAnswer),
        Route("GET", f"{ONE}/events", "read", b.mixture_events, media=EVENTS),
        Route("GET", "/v1/events", "read", b.events, media=EVENTS),
        Route("GET", "/metrics", "read", v.metrics, media="text/plain"),
        Route("GET", "/openapi.json", "", v.openapi, answer=dict[str, Any]),
    ]  # fmt: skip


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
