"""The limits of a service, and the checks of requests against them."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from normalhedge.boundary.terminal import clipped
from normalhedge.service._problems import Problem

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"  # the names of mixtures, which are part of addresses
KEY = r"^[\x21-\x7e]{1,200}$"  # idempotency keys

_name = re.compile(NAME[1:-1])
_key = re.compile(KEY[1:-1])


@dataclass(frozen=True)
class Limits:
    """The largest numbers that are accepted."""

    # body, state: bytes of a request, and of a state that is imported
    body: int = 2_000_000
    state: int = 32_000_000
    line: int = 1_000_000  # bytes of a line of a stream
    answer: int = 4_000_000  # bytes of an answer, but for the export of a log or a state
    mixtures: int = 10_000
    # experts, items: experts and items of a mixture
    experts: int = 10_000
    items: int = 10_000
    actions: int = 1_000  # actions of a router
    # cells, memory: items times experts of a mixture, and the bytes that it, or a router, takes
    cells: int = 100_000
    memory: int = 64_000_000
    name: int = 200  # characters of the name of an expert or an item
    # rounds of a mixture that wait for their outcomes; the oldest ones expire
    pending: int = 10_000
    history: int = 1_000  # settled rounds that a mixture keeps in memory
    rounds: int = 10_000  # rounds or outcomes of one request
    parts: int = 100_000  # lists and objects of one request
    listeners: int = 1_000  # connections that listen to events
    connections: int = 2_000
    # rate, burst: Requests of a client in a second, on average and at once; 0 for no limit. A
    # client is a token, or an address if there are no tokens.
    rate: float = 0.0
    burst: int = 100
    # header_seconds, body_seconds: seconds in which the head and the body of a request must have
    # arrived
    header_seconds: float = 20.0
    body_seconds: float = 20.0
    # mixtures that are held in memory; the others are loaded when they are used
    loaded: int = 5_000
    # flight, sending: bytes of the requests that are in memory at a time, and of the answers
    flight: int = 16_000_000
    sending: int = 64_000_000
    loaded_memory: int = 150_000_000  # bytes of the mixtures in memory


def check_name(name: str) -> str:
    """Return the name of a mixture; refuse one that cannot be part of an address."""
    if _name.fullmatch(name) is None:
        raise Problem(
            422,
            f"{clipped(name, 80)!r} cannot be the name of a mixture: it must begin with a letter "
            "or a digit, and have at most 100 letters, digits, dots, hyphens and underscores",
        )
    return name


def check_key(key: str) -> str:
    """Return an idempotency key; refuse one that is too long or has other characters."""
    if _key.fullmatch(key) is None:
        raise Problem(
            422, "an Idempotency-Key must have 1 to 200 characters of ASCII without spaces"
        )
    return key


def check_parts(body: bytes, limits: Limits) -> None:
    """Refuse a request with so many lists and objects that they take too much memory."""
    parts = body.count(b"[") + body.count(b"{")
    if parts > limits.parts:
        raise Problem(
            413, f"the request has {parts:,} lists and objects, and at most {limits.parts:,} are "
            "accepted: send several requests",
        )  # fmt: skip


def check_words(words: Collection[str], limits: Limits, what: str) -> None:
    """Refuse names of experts or items that are too long."""
    longest = max(map(len, words), default=0)
    if longest > limits.name:
        word = next(word for word in words if len(word) == longest)
        raise Problem(
            422,
            f"the name of {what} must have at most {limits.name} characters: "
            f"{clipped(word, 40)!r} has {longest}",
        )
