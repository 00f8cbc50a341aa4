"""The edge to HTTP: an application of ASGI that finds the route, checks, and answers.

It is written by hand because a request takes as long to route through a framework as to answer, and
because the table of routes (`normalhedge.service._routes`) is also the OpenAPI document.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from normalhedge.service import _logs as logs
from normalhedge.service._forms import ErrorAnswer, as_json
from normalhedge.service._limits import Limits, check_key
from normalhedge.service._problems import Problem
from normalhedge.service.access import Access, Holder

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

JSON = b"application/json"
LINES = b"application/x-ndjson"
EVENTS = b"text/event-stream"

SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every answer."""

CLOSED = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
"""The policy of answers that are not pages."""

PAGE = (
    b"content-security-policy",
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
)
"""The policy of pages: files of this server alone, and no script inside of the page."""

PREFIX = "/v1/mixtures/"


class Reply(NamedTuple):
    """An answer."""

    body: bytes | AsyncIterator[bytes]  # its bytes, or the parts of a stream
    status: int = 200  # the status of HTTP
    kind: bytes = JSON  # the type of its content
    headers: tuple[tuple[bytes, bytes], ...] = ()  # further headers


@dataclass(slots=True)
class Call:
    """A request."""

    scope: Scope
    receive: Receive
    headers: dict[bytes, bytes]
    name: str  # the name of the mixture; empty if the address has none
    holder: Holder
    limits: Limits

    @property
    def key(self) -> str | None:
        """The idempotency key; None if there is none."""
        key = self.headers.get(b"idempotency-key")
        return None if key is None else check_key(key.decode("latin-1"))

    @property
    def query(self) -> dict[str, str]:
        """The arguments in the address."""
        try:
            pairs = parse_qsl(
                self.scope["query_string"].decode("ascii"),
                keep_blank_values=True,
                strict_parsing=bool(self.scope["query_string"]),
                errors="strict",
                max_num_fields=20,
            )
        except ValueError:
            raise Problem(400, "the query of the address cannot be read") from None
        return dict(pairs)

    def require(self, *kinds: bytes) -> None:
        """Refuse a body that does not say that it is of one of these types.

        A page of another site can make a browser send other types without asking, but not these.
        """
        kind = self.headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind not in kinds:
            wanted = b" or ".join(kinds).decode()
            raise Problem(415, f"the Content-Type of this request must be {wanted}")

    async def body(self, limit: int | None = None) -> bytes:
        """Return the whole body; refuse one that is too large or too slow."""
        limit = self.limits.body if limit is None else limit
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > limit:
            raise too_large(limit)
        parts: list[bytes] = []
        size, more = 0, True
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                while more:
                    part, more = await self._part()
                    parts.append(part)
                    size += len(part)
                    if size > limit:
                        raise too_large(limit)
        except TimeoutError:
            raise Problem(
                408, "the request took too long to arrive", {"connection": "close"}
            ) from None
        return b"".join(parts)

    async def _part(self) -> tuple[bytes, bool]:
        """Return the next part of the body, and whether there are more."""
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        return message.get("body", b""), message.get("more_body", False)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they arrive."""
        more = True
        while more:
            part, more = await self._part()
            if part:
                yield part

    async def gone(self) -> None:
        """Wait until the client has gone."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


class Disconnected(Exception):  # noqa: N818 -- it is no error
    """The client has gone: nobody waits for an answer."""


def too_large(limit: int) -> Problem:
    """Return the answer to a body above the limit."""
    return Problem(413, f"the request must have at most {limit} bytes", {"connection": "close"})


Handler = Callable[[Call], Awaitable[Reply]]


class Parameter(NamedTuple):
    """A parameter in the query of an address."""

    name: str
    description: str
    schema: dict[str, Any]  # its JSON schema


class Route(NamedTuple):
    """A route; the first line of its handler's docstring describes it."""

    method: str
    path: str  # ``{name}`` stands for the name of a mixture
    scope: str  # the scope that a token needs: ``read``, ``write``, ``admin``; empty for none
    handler: Handler
    # request, answer: the forms of the request and of the answer; None for none, or for no JSON
    request: Any = None
    answer: Any = None
    status: int = 200  # the status of success
    media: str = "application/json"  # the type of the answer
    takes: str = "application/json"  # the type of the request
    keyed: bool = False  # whether an idempotency key is used
    query: tuple[Parameter, ...] = ()

    @property
    def label(self) -> str:
        """A word for metrics, logs and the document."""
        return self.handler.__name__


class Application:
    """The application of ASGI."""

    def __init__(
        self,
        routes: Iterable[Route],
        access: Access,
        limits: Limits,
        observe: Callable[[str, str, int, float], None] = lambda *_: None,
    ) -> None:
        self.table = {(route.method, route.path): route for route in routes}
        self.access = access
        self.limits = limits
        self.observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1003})
            return
        begun = time.perf_counter()
        label, name = "none", ""
        try:
            try:
                path, name = _template(scope["path"])
                method = scope["method"]
                route = self.table.get(("GET" if method == "HEAD" else method, path))
                if route is None:
                    raise self._missing(path)
                label = route.label
                headers = dict(scope["headers"])
                self.access.check_source(headers)
                holder = self.access.holder(headers, scope.get("client"))
                if route.scope:
                    self.access.check(holder, route.scope, name)
                reply = await route.handler(
                    Call(scope, receive, headers, name, holder, self.limits)
                )
            except Problem as problem:
                reply = _problem_reply(problem)
            status = reply.status
            await self._send(scope, reply, send)
        except Disconnected:
            status = 499
        except asyncio.CancelledError:
            raise
        except Exception as error:
            status = 500
            logs.failure("request", error, route=label)
            await self._send(scope, _problem_reply(Problem(500, INSIDE)), send)
        self.observe(label, name, status, time.perf_counter() - begun)

    def _missing(self, path: str) -> Problem:
        allowed = ", ".join(sorted(method for method, place in self.table if place == path))
        if allowed:
            return Problem(405, f"this address answers to {allowed} only", {"allow": allowed})
        return Problem(404, "there is nothing at this address: see /docs")

    async def _send(self, scope: Scope, reply: Reply, send: Send) -> None:
        body = reply.body
        page = reply.kind.startswith(b"text/html")
        headers = [(b"content-type", reply.kind), *SAFE, PAGE if page else CLOSED, *reply.headers]
        if isinstance(body, bytes):
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        wanted = scope["method"] != "HEAD"
        if isinstance(body, bytes):
            await send({"type": "http.response.body", "body": body if wanted else b""})
            return
        try:
            if wanted:
                async for part in body:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        except Disconnected:
            return
        except Exception as error:
            # The status is sent already: the connection is closed, so that the end is missed.
            logs.failure("stream", error)
            return
        finally:
            close = getattr(body, "aclose", None)
            if close is not None:
                await close()
        await send({"type": "http.response.body", "body": b""})


INSIDE = "something went wrong inside of the server; its log says what"
"""The answer to a request that failed for a reason of the server's own."""


def _problem_reply(problem: Problem) -> Reply:
    headers = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    answer = as_json(ErrorAnswer(problem.sentence, problem.status, problem.kind))
    return Reply(answer, problem.status, headers=headers)


def _template(path: str) -> tuple[str, str]:
    """Return a path with ``{name}`` in place of the name of a mixture, and the name."""
    if not path.startswith(PREFIX):
        return path, ""
    name, slash, verb = path[len(PREFIX) :].partition("/")
    return f"{PREFIX}{{name}}{slash}{verb}", name
