"""The edge to HTTP, on Starlette: routes, the checks before each handler, and sentences.

Starlette finds the route, reads the request and writes the answer. What is here is ours: the table
of routes (`normalhedge.service._routes`), which is also the OpenAPI document; rights; and one
sentence for everything that is refused. Requests and answers are in `normalhedge.service._calls`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route as StarletteRoute, Router
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from normalhedge.service import _logs as logs
from normalhedge.service._calls import EVENTS, HEAD, JSON, LINES, Body, Call, problem_reply
from normalhedge.service._flight import SHORT, Flight
from normalhedge.service._forms import as_json
from normalhedge.service._limits import Limits
from normalhedge.service._open import ABORT, OpenAnswers, SlowReaderError
from normalhedge.service._problems import Problem
from normalhedge.service._senders import arrived, sender
from normalhedge.service.access import NOBODY, Access, Holder

SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every answer."""

CLOSED = (
    *SAFE,
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of answers that are not files."""

PAGE = (
    *SAFE,
    (b"cache-control", b"no-cache"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    ),
)
"""Headers of pages: they use files of this server alone, and no script inside of the page."""


Handler = Callable[[Call], Awaitable[Response]]


class Parameter(NamedTuple):
    """A parameter in the query of an address."""

    name: str
    description: str
    schema: dict[str, Any]  # its JSON schema


class Route(NamedTuple):
    """A route; the first line of its handler's docstring describes it."""

    method: str
    path: str  # ``{name}`` stands for the name of a mixture or router
    scope: str  # the scope that a token needs: ``read``, ``write``, ``admin``; empty for none
    handler: Handler
    # request, answer: the forms of the request and of the answer; None for none, or for no JSON
    request: Any = None
    answer: Any = None
    status: int = 200  # the status of success
    media: str = JSON  # the type of the answer
    takes: str = JSON  # the type of the request
    keyed: bool = False  # whether an idempotency key is used
    query: tuple[Parameter, ...] = ()
    counted: bool = True  # whether requests count for the rate of their sender
    # name, text: the label, and the description, where the handler has other ones
    name: str = ""
    text: str = ""

    @property
    def label(self) -> str:
        """A word for metrics, logs and the document."""
        return self.name or self.handler.__name__

    @property
    def word(self) -> str:
        """The word for the object that the address names."""
        return "router" if self.path.startswith("/v1/routers") else "mixture"


class Endpoint:
    """The handler of a route behind its checks, as an application of ASGI."""

    def __init__(
        self, route: Route, access: Access, limits: Limits, answers: OpenAnswers, flight: Flight
    ) -> None:
        self.handler = route.handler
        self.flight = flight
        self.reads = route.method == "GET" and bool(route.scope)
        self.scope = route.scope
        self.label, self.word = route.label, route.word
        self.counted = route.counted
        self.streams = route.media in {LINES, EVENTS}
        self.access = access
        self.limits = limits
        self.answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        head = scope[HEAD]
        self.access.check_source(head, scope["method"])
        holder = NOBODY
        if self.counted:
            holder = self.access.holder(head, scope.get("client"))
            if holder.digest:
                sender.get().token = holder.name
        name = scope["path_params"].get("name", "")
        if self.scope:
            self.access.check(holder, self.scope, name, self.word)
        if self.reads:
            self.flight.check()
        if self.streams:
            await self._stream(scope, receive, send, holder, name)
            return
        length = head.get(b"content-length", b"0")
        size = int(length) if length.isdigit() else 0
        if b"transfer-encoding" in head:
            size = self.limits.body
        if size <= SHORT:
            await self._reply(scope, receive, send, holder)
            return
        async with self.flight.request(size):
            await self._reply(scope, receive, send, holder)

    async def _reply(self, scope: Scope, receive: Receive, send: Send, holder: Holder) -> None:
        response = await self.handler(self._call(scope, receive, send, holder))
        if len(getattr(response, "body", b"")) > PART:
            await self._send(response, send)
        else:
            await response(scope, receive, send)

    def _call(self, scope: Scope, receive: Receive, send: Send, holder: Holder) -> Call:
        call = Call(scope, receive, send)
        call.head, call.holder, call.limits = scope[HEAD], holder, self.limits
        return call

    async def _stream(
        self, scope: Scope, receive: Receive, send: Send, holder: Holder, name: str
    ) -> None:
        """Answer a request whose answer stays open."""
        with self.answers.opened(holder, self.scope, name) as opened:
            abort = scope.get("extensions", {}).get(ABORT, {"abort": lambda: None})["abort"]
            receive, send = opened.receiving(receive), opened.sending(send, abort)
            response = await self.handler(self._call(scope, receive, send, holder))
            await response(scope, receive, send)
            two_ways = scope["method"] == "POST"
            with suppress(SlowReaderError):
                await opened.finish(send, _last_line if two_ways else lambda _: b"")

    async def _send(self, response: Response, send: Send) -> None:
        """Send a long answer in parts, as fast as it is read; give a slow reader up."""
        body = bytes(response.body)
        start = {"status": response.status_code, "headers": response.raw_headers}
        seconds = self.limits.body_seconds + len(body) / SLOWEST
        with self.flight.answer(len(body)):
            async with asyncio.timeout(seconds):
                await send({"type": "http.response.start", **start})
                for k in range(0, len(body), PART):
                    more = k + PART < len(body)
                    part = {"body": body[k : k + PART], "more_body": more}
                    await send({"type": "http.response.body", **part})


def _last_line(reason: str) -> bytes:
    """Return the last line of a stream of lines that ends from this side."""
    return as_json({"error": f"this stream ends: {reason}"}) + b"\n"


PART = 65_536  # the bytes of an answer that are sent at once
SLOWEST = 50_000  # the bytes that a reader must take in a second


INSIDE = "something went wrong inside of the server; its log says what"
"""The answer to a request that failed for a reason of the server's own."""

STOPPED = (
    "the server stops: this request was not acknowledged, so send it again later, with the same "
    "Idempotency-Key if it had one"
)
"""The answer to a request that takes longer than a server that stops waits for it."""

FILE = "page"  # the word for files in metrics and logs


class Application:
    """The application of ASGI.

    It stands in the place of `starlette.applications.Starlette`, whose layers for errors would be
    passed by every request as well.
    """

    def __init__(
        self,
        answers: OpenAnswers,
        limits: Limits,
        observe: Callable[[str, str, int, float], None],
        lifespan: Lifespan[Any],
    ) -> None:
        self.answers = answers
        self.limits = limits
        self.observe = observe
        self.flight = Flight(limits.flight, limits.sending, limits.body_seconds)
        self.router = Router(redirect_slashes=False, lifespan=lifespan)

    def answer_at(
        self,
        routes: Iterable[Route],
        others: Iterable[BaseRoute] = (),
        elsewhere: ASGIApp | None = None,
    ) -> None:
        """Answer at these addresses; an application of ASGI may answer at all others."""
        shared = self.answers.access, self.limits, self.answers, self.flight
        places: list[BaseRoute] = [
            StarletteRoute(route.path, Endpoint(route, *shared), methods=[route.method])
            for route in routes
        ]
        self.router.routes = [*places, *others]
        self.router.default = self.router.not_found if elsewhere is None else elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        begun = time.perf_counter()
        client = scope.get("client")
        scope[HEAD] = head = dict(scope["headers"])
        named = arrived(head, client[0] if client else "")
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                closed = isinstance(scope.get("endpoint"), Endpoint | None)
                message["headers"] = [*message["headers"], *named, *(CLOSED if closed else PAGE)]
            await send(message)

        body = Body(receive)
        scope["app"] = self  # so that the router raises what is refused
        try:
            await self._answer(scope, body, answer)
        except asyncio.CancelledError:  # it outlasts the stop of the server
            if not status:
                closing = {"retry-after": "1", "connection": "close"}
                await problem_reply(Problem(503, STOPPED, closing))(scope, receive, answer)
            raise
        except ClientDisconnect:
            status = 499
        except Exception as error:
            logs.failure("request", error, route=_label(scope))
            if not status:
                closing = {"connection": "close"}  # as the error goes on to the server
                await problem_reply(Problem(500, INSIDE, closing))(scope, receive, answer)
            raise
        finally:
            name = scope.get("path_params", {}).get("name", "")
            self.observe(_label(scope), name, status, time.perf_counter() - begun)

    async def _answer(self, scope: Scope, body: Body, send: Send) -> None:
        """Answer a request, or refuse it with a sentence."""
        try:
            await self.router(scope, body, send)
        except (Problem, HTTPException) as error:
            problem = error if isinstance(error, Problem) else self._missing(scope, error)
            length = scope[HEAD].get(b"content-length", b"")
            short = length.isdigit() and 0 < int(length) <= self.limits.body
            if short and problem.headers.get("connection") != "close":
                await body.finish(self.limits.body_seconds)
            await problem_reply(problem)(scope, body, send)

    def _missing(self, scope: Scope, error: HTTPException) -> Problem:
        """Return the answer where there is no such address, or no such method."""
        if error.status_code != 405:
            return Problem(404, "there is nothing at this address: see /docs")
        methods = {
            method
            for route in self.router.routes
            if isinstance(route, StarletteRoute) and route.matches(scope)[0] is not Match.NONE
            for method in route.methods or ()
        }
        allowed = ", ".join(sorted(methods or {"GET", "HEAD"}))
        return Problem(405, f"this address answers to {allowed} only", {"allow": allowed})


def _label(scope: Scope) -> str:
    """Return a word for the route of a request, for metrics and logs."""
    endpoint = scope.get("endpoint")
    if isinstance(endpoint, Endpoint):
        return endpoint.label
    return "none" if endpoint is None else FILE
