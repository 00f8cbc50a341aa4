"""The edge to HTTP: an application of ASGI that finds the route, checks, and answers.

It is written by hand because a request takes as long to route through a framework as to answer, and
because the table of routes (`normalhedge.service._routes`) is also the OpenAPI document.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
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


class Call:
    """A request."""

    __slots__ = ("_receive", "headers", "holder", "limits", "name", "scope")

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        headers: dict[bytes, bytes],
        name: str,
        holder: Holder,
        limits: Limits,
    ) -> None:
        self.scope = scope
        self._receive = receive
        self.headers = headers
        self.name = name
        self.holder = holder
        self.limits = limits

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
        said = self.headers.get(b"content-length", b"0")
        if not said.isdigit() or int(said) > limit:
            raise too_large(limit)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                message = await self._receive()
                first = self._whole(message.get("body", b""), limit, message)
                if not message.get("more_body"):
                    return first
                parts, size = [first], len(first)
                while message.get("more_body"):
                    message = await self._receive()
                    parts.append(self._whole(message.get("body", b""), limit - size, message))
                    size += len(parts[-1])
                return b"".join(parts)
        except TimeoutError:
            raise Problem(
                408, "the request took too long to arrive", {"connection": "close"}
            ) from None

    def _whole(self, part: bytes, limit: int, message: MutableMapping[str, Any]) -> bytes:
        if message["type"] == "http.disconnect":
            raise Disconnected
        if len(part) > limit:
            raise too_large(self.limits.body)
        return part

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they arrive; none may take too long."""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                return

    async def gone(self) -> None:
        """Wait until the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Disconnected(Exception):  # noqa: N818 -- it is no error
    """The client has gone: nobody waits for an answer."""


def too_large(limit: int) -> Problem:
    """Return the answer to a body above the limit."""
    return Problem(413, f"the request must have at most {limit} bytes", {"connection": "close"})


Handler = Callable[[Call], Awaitable[Reply]]


class Handling(NamedTuple):
    """What the application must know of a route."""

    label: str  # its name in metrics and logs
    scope: str  # what a token must allow: ``read``, ``write``, ``admin``, or empty for everybody
    handler: Handler  # the function that answers


class Application:
    """The application of ASGI."""

    def __init__(
        self,
        table: dict[tuple[str, str], Handling],
        access: Access,
        limits: Limits,
        observe: Callable[[str, str, int, float], None] = lambda *_: None,
    ) -> None:
        self.table = table
        self.access = access
        self.limits = limits
        self.observe = observe
        self._paths = {path for _, path in table}

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
                path, name = self._path(scope["path"])
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

    def _path(self, path: str) -> tuple[str, str]:
        """Return a path with ``{name}`` in place of the name of a mixture, and the name."""
        if not path.startswith(PREFIX):
            return path, ""
        name, slash, verb = path[len(PREFIX) :].partition("/")
        return f"/v1/mixtures/{{name}}{slash}{verb}", name

    def _missing(self, path: str) -> Problem:
        if path in self._paths:
            allowed = sorted(method for method, known in self.table if known == path)
            said = ", ".join(allowed)
            return Problem(405, f"this address answers to {said} only", {"allow": said})
        return Problem(404, "there is nothing at this address: see /docs")

    async def _send(self, scope: Scope, reply: Reply, send: Send) -> None:
        body = reply.body
        page = reply.kind.startswith(b"text/html")
        headers = [(b"content-type", reply.kind), *SAFE, PAGE if page else CLOSED, *reply.headers]
        if isinstance(body, bytes):
            headers.append((b"content-length", b"%d" % len(body)))
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({
                "type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body,
            })  # fmt: skip
            return
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        try:
            if scope["method"] != "HEAD":
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
