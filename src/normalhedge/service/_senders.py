"""Who sent the request that is being answered: for the log and for the event log."""

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from itertools import count
from typing import NamedTuple

import msgspec

TAKEN = re.compile(rb"[\x21-\x7e]{1,200}")  # the ids of requests that are taken over

TRACE = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
"""The header ``traceparent``, https://www.w3.org/TR/trace-context."""

_encode = msgspec.json.Encoder().encode
_own, _numbers = secrets.token_hex(6), count(1)


class Sender(NamedTuple):
    """The sender of a request."""

    token: str = ""  # the name of its token; empty without one
    address: str = ""  # the address of the client
    request: str = ""  # the id of the request: of the client, of its trace, or ours
    trace: str = ""  # the id of the trace of which the request is a part; empty without one


sender: ContextVar[Sender] = ContextVar("sender", default=Sender())  # noqa: B039 -- a tuple


def arrived(headers: Mapping[bytes, bytes], address: str) -> tuple[tuple[bytes, bytes], ...]:
    """Note who sends the request that this task answers; return the headers that name it.

    An id or a trace that is not well formed is left out: no request fails because of its label.
    """
    parent = headers.get(b"traceparent", b"")
    trace = TRACE.fullmatch(parent) if len(parent) <= 200 else None
    if trace is not None and (not trace[1].strip(b"0") or not trace[2].strip(b"0")):
        trace = None
    found = "" if trace is None else trace[1].decode()
    given = headers.get(b"x-request-id", b"")
    if TAKEN.fullmatch(given) is not None:
        request = given
    else:
        request = (found or f"{_own}-{next(_numbers)}").encode()
    sender.set(Sender("", address, request.decode(), found))
    named = ((b"x-request-id", request),)
    return named if trace is None else (*named, (b"traceparent", parent))


def described() -> str:
    """Return the sender of the request that this task answers, as JSON."""
    return _encode(
        {name: value for name, value in sender.get()._asdict().items() if value}
    ).decode()
