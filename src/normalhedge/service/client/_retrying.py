"""How long a request is repeated, and what an answer other than success means here."""

import json
import random
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

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
        What is wrong.
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


class Answer(NamedTuple):
    """An answer of the server."""

    status: int  # the status of HTTP
    body: bytes  # its bytes
    # the seconds to wait before the next attempt, as the server asks; None if it does not
    wait: float | None = None


class Ask(NamedTuple):
    """A request, and how to read its answer."""

    # method, path: the method and the path of HTTP
    method: str
    path: str
    read: Callable[[bytes], Any]  # turns the body of the answer into the result
    # what is sent: None for nothing, bytes as they are, and everything else as JSON
    body: Any = None
    key: str = ""  # the idempotency key; empty if the request only reads
    query: dict[str, Any] | None = None  # the arguments in the address

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``httpx.Client.request``; they are the same for each attempt."""
        headers, content = {}, None
        if self.body is not None:
            headers["content-type"] = "application/json"
            content = self.body
            if not isinstance(content, bytes):
                content = json.dumps(content, allow_nan=False).encode()
        if self.key:
            headers["idempotency-key"] = self.key
        return {
            "method": self.method, "url": self.path, "params": self.query, "content": content,
            "headers": headers,
        }  # fmt: skip


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


def wait_of(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header; None for none, or for a date."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None


def sentence_of(answer: Answer) -> tuple[str, str | None]:
    """Return what an answer other than success says, and the kind of error that it names."""
    try:
        content = json.loads(answer.body)
        return str(content["error"]), content.get("kind")
    except (ValueError, TypeError, KeyError):
        return f"the answer has status {answer.status}", None


def result(ask: Ask, answer: Answer) -> Any:
    """Return the result of a request, or raise the error that `Mixture` would raise."""
    if 200 <= answer.status < 300:
        return ask.read(answer.body)
    sentence, kind = sentence_of(answer)
    if answer.status in {401, 403}:
        raise PermissionError(sentence)
    if answer.status >= 500 or answer.status < 400:
        raise RuntimeError(sentence)
    if kind in KINDS:
        raise KINDS[kind](sentence)
    about_round = ask.path.endswith(("/outcome", "/correct"))
    unknown = answer.status == 404 or (answer.status == 409 and about_round)
    raise (KeyError if unknown else ValueError)(sentence)
