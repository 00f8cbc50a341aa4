"""Requests to a server: how long they are repeated, and how their answers are read."""

import asyncio
import inspect
import json
import random
import re
import secrets
import ssl
import time
from collections.abc import Callable, Mapping
from math import inf
from os import PathLike, fspath
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from normalhedge.boundary import extras, inputs

T = TypeVar("T")

FIRST, LONGEST = 0.05, 5.0
"""The first pause between two attempts, and the longest that we choose, in seconds."""

AGAIN = frozenset({408, 429, 502, 503, 504})
"""Answers after which a request is repeated: nothing was acknowledged."""

KINDS = {"key": KeyError, "type": TypeError, "value": ValueError}
"""The errors of `Mixture`, by the kind that an answer names."""


class NotAcknowledged(ConnectionError):  # noqa: N818 -- it need not be one
    """A request that got no answer in time: it was done, or it was not.

    Parameters
    ----------
    sentence
        The reason.
    key
        The idempotency key of the request; None if it only reads.

    Attributes
    ----------
    key
        The key: the same call with ``key=error.key`` is done once, however often it is repeated.
    """

    def __init__(self, sentence: str, key: str | None = None) -> None:
        super().__init__(sentence)
        self.key = key


File: TypeAlias = str | PathLike[str]


LONGEST_ATTEMPT = 1e6  # seconds; sockets refuse much longer ones

OURS = frozenset({"base_url", "timeout"})
"""Arguments of ``httpx.Client`` that the client gives by itself."""


class Request(NamedTuple, Generic[T]):
    """A request, and how to read its answer."""

    method: str
    path: str
    read: Callable[[bytes], T]  # turns the body of the answer into the result
    body: Any = None  # None for nothing, bytes as they are, and everything else as JSON
    key: str | None = None  # the idempotency key; None if the request only reads
    query: dict[str, Any] | None = None  # the arguments in the address

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``httpx.Client.request``; they are the same for each attempt."""
        headers, content = {}, None
        if self.body is not None:
            headers["content-type"] = "application/json"
            content = self.body
            if not isinstance(content, bytes):
                content = json.dumps(content, allow_nan=False).encode()
        if self.key is not None:
            headers["idempotency-key"] = self.key
        return {
            "method": self.method, "url": self.path, "params": self.query, "content": content,
            "headers": headers,
        }  # fmt: skip


class Answer(NamedTuple):
    """An answer of the server."""

    status: int
    body: bytes
    wait: float | None = None  # the seconds before the next attempt, where the server asks for some


def new_key() -> str:
    """Return an idempotency key that nobody else has."""
    return secrets.token_hex(16)


class Attempts:
    """The pauses between the attempts of one request.

    The pauses double from 0.05 s to 5 s, each shortened at random by up to a half, so that many
    clients do not come back at once. A pause is never shorter than the server asks.
    """

    def __init__(self, patience: float, key: str | None) -> None:
        self._until = time.monotonic() + patience
        self._patience = patience
        self._key = key
        self._next = FIRST

    def pause(self, trouble: str, wait: float | None) -> float:
        """Return how long to wait, in seconds."""
        pause = self._next * random.uniform(0.5, 1.0)
        self._next = min(2 * self._next, LONGEST)
        pause = max(pause, wait or 0.0)
        if time.monotonic() + pause > self._until:
            raise NotAcknowledged(
                f"the server did not acknowledge a request within {self._patience:g} s: {trouble}",
                self._key,
            )
        return pause


class Transport:
    """Connections to a server.

    Where ``blocking``, `send` does its work without ever suspending, so that a thread can run
    coroutines that await nothing else: see `normalhedge.service.client._blocking`.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        blocking: bool,
        timeout: float,
        patience: float,
        ca: File | None,
        certificate: File | tuple[File, ...] | None,
        options: Mapping[str, Any] | None,
    ) -> None:
        httpx = extras.require("httpx")
        if not str(url).startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, got {url!r}")
        token = None if token is None else _check_token(token)
        timeout = inputs.number("timeout", timeout, 0.0, LONGEST_ATTEMPT)
        self.patience = check_patience(patience)
        arguments = _check_options(options)
        if ca is not None or certificate is not None:
            if "verify" in arguments:
                raise ValueError("give ca and certificate, or options with verify, and not both")
            arguments["verify"] = _tls(ca, certificate)
        kind = httpx.Client if blocking else httpx.AsyncClient
        try:
            headers = httpx.Headers(arguments.pop("headers", None))
            if token is not None:
                headers["authorization"] = f"Bearer {token}"
            self.http = kind(base_url=url, timeout=timeout, headers=headers, **arguments)
        except (TypeError, ValueError, httpx.InvalidURL) as error:
            raise ValueError(f"httpx refuses url or options: {error}") from None
        self.blocking = blocking
        self._trouble: type[Exception] = httpx.TransportError
        self._hopeless: type[Exception] = httpx.UnsupportedProtocol

    async def send(self, request: Request[T]) -> T:
        """Send a request until there is an answer, and return the result."""
        attempts, arguments = Attempts(self.patience, request.key), request.arguments()
        while True:
            try:
                response = await _finish(self.http.request(**arguments))
            except self._trouble as error:
                if isinstance(error, self._hopeless) or _certificate_failed(error):
                    raise NotAcknowledged(
                        f"the request cannot be sent: {error}", request.key
                    ) from error
                trouble, wait = str(error) or type(error).__name__, None
            else:
                wait = read_wait(response.headers.get("retry-after"))
                answer = Answer(response.status_code, response.content, wait)
                if answer.status not in AGAIN:
                    return read_answer(request, answer)
                trouble = read_error(answer)[0]
            pause = attempts.pause(trouble, wait)
            if self.blocking:
                time.sleep(pause)
            else:
                await asyncio.sleep(pause)

    async def pages(
        self, path: str, name: str, place: str = "after", query: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return a list that comes in parts; ``place`` says where the next part begins."""
        rows: list[dict[str, Any]] = []
        query = query or {}
        while True:
            answer: dict[str, Any] = await self.send(Request("GET", path, json.loads, query=query))
            earlier = place == "before"  # each part lies before the last one
            rows = [*answer[name], *rows] if earlier else [*rows, *answer[name]]
            most = query.get("limit")
            if answer.get("next") is None or (most is not None and len(answer[name]) >= most):
                return rows
            query = query | {place: answer["next"]}
            if most is not None:
                query["limit"] = most - len(answer[name])

    async def close(self) -> None:
        """Close the connections."""
        await _finish(self.http.close() if self.blocking else self.http.aclose())


def check_patience(seconds: float) -> float:
    """Return the seconds for which requests are repeated; infinity is for ever."""
    if seconds == inf:
        return inf
    return inputs.number("patience", seconds, 0.0, closed=True)


def _check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of httpx."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options must be a mapping of names, got {options!r}")
    for name in OURS & options.keys():
        raise ValueError(f"options must not have {name!r}: it is an argument of the client")
    return dict(options)


def _check_token(token: str) -> str:
    """Refuse a token that no header can hold."""
    if not re.fullmatch("[!-~]+", str(token)):
        raise ValueError("token must be text of ASCII letters, digits and signs without spaces")
    return token


def _tls(ca: File | None, certificate: File | tuple[File, ...] | None) -> ssl.SSLContext:
    """Return how to check the certificate of a server, and how to show an own one."""
    try:
        context = ssl.create_default_context(cafile=None if ca is None else fspath(ca))
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"ca must be a file of certificates in PEM, got {ca!r}: {error}") from None
    if certificate is not None:
        parts = certificate if isinstance(certificate, tuple) else (certificate,)
        try:
            file, key, password = (*parts, None, None)[: max(len(parts), 3)]
            # Without a password, OpenSSL would ask for one in the terminal.
            context.load_cert_chain(file, key, password or "")  # type: ignore[arg-type]
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(
                "certificate must be a file in PEM, or a tuple of certificate, key and password, "
                f"got {', '.join(map(repr, parts[:2])) or parts}: {error}"
            ) from None
    return context


def _certificate_failed(error: BaseException | None) -> bool:
    """Tell whether a certificate was refused: the next attempt would end in the same way."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


async def _finish(result: Any) -> Any:
    """Return a result, awaited if need be."""
    return await result if inspect.isawaitable(result) else result


def read_wait(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header; None for none, or for a date."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None


def read_error(answer: Answer) -> tuple[str, str | None]:
    """Return the sentence of an answer other than success, and the kind of error that it names."""
    try:
        content = json.loads(answer.body)
        return str(content["error"]), content.get("kind")
    except (ValueError, TypeError, KeyError):
        return f"the answer has status {answer.status}", None


def read_answer(request: Request[T], answer: Answer) -> T:
    """Return the result of a request, or raise the error that `Mixture` would raise."""
    if 200 <= answer.status < 300:
        return request.read(answer.body)
    sentence, kind = read_error(answer)
    if answer.status in {401, 403}:
        raise PermissionError(sentence)
    if answer.status >= 500 or answer.status < 400:
        raise RuntimeError(sentence)
    if kind in KINDS:
        raise KINDS[kind](sentence)
    about_round = request.path.endswith(("/outcome", "/correct"))
    unknown = answer.status == 404 or (answer.status == 409 and about_round)
    raise (KeyError if unknown else ValueError)(sentence)
