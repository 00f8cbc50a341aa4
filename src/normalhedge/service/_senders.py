"""Who sent the request that is being answered: for the log and for the event log."""

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from itertools import count

import msgspec

TAKEN = re.compile(rb"[\x21-\x7e]{1,200}")  # the ids of requests that are taken over

TRACE = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
"""The header ``traceparent``, https://www.w3.org/TR/trace-context."""

_encode = msgspec.json.Encoder().encode
_own, _numbers = secrets.token_hex(6), count(1)


class Sender(msgspec.Struct, omit_defaults=True):
    """The sender of a request."""

    token: str = ""  # the name of its token; empty without one
    address: str = ""  # the address of the client
    request: str = ""  # the id of the request: of the client, of its trace, or ours
    trace: str = ""  # the id of the trace of which the request is a part; empty without one


sender: ContextVar[Sender] = ContextVar("sender", default=Sender())  # noqa: B039 -- for no request


def arrived(headers: Mapping[bytes, bytes], address: str) -> list[tuple[bytes, bytes]]:
    """Note who sends the request that this task answers; return the headers that name it.

    An id or a trace that is not well formed is left out: no request fails because of its label.
    """
    given, parent = headers.get(b"x-request-id"), headers.get(b"traceparent")
    trace = "" if parent is None else _trace(parent)
    if given is not None and TAKEN.fullmatch(given) is not None:
        request = given.decode()
    else:
        request = trace or f"{_own}-{next(_numbers)}"
    sender.set(Sender("", address, request, trace))
    named = [(b"x-request-id", request.encode())]
    if trace and parent is not None:
        named.append((b"traceparent", parent))
    return named


def _trace(parent: bytes) -> str:
    """Return the id of a trace; empty if the header is not well formed."""
    found = TRACE.fullmatch(parent) if len(parent) <= 200 else None
    if found is None or not found[1].strip(b"0") or not found[2].strip(b"0"):
        return ""
    return found[1].decode()


def described() -> str:
    """Return the sender of the request that this task answers, as JSON."""
    return _encode(sender.get()).decode()
