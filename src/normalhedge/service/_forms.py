"""The forms of requests and answers of all kinds, and how bodies are read.

Requests are checked by them, and OpenAPI is made of them.
"""

import json
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from normalhedge.boundary.terminal import clipped
from normalhedge.service._limits import NAME
from normalhedge.service._problems import Kind, Problem

T = TypeVar("T")

_decode = msgspec.json.Decoder().decode

Name = Annotated[str, Meta(pattern=NAME, description="The name of a mixture or a router.")]

Ticket = Annotated[int, Meta(ge=0, le=2**53, description="The ticket of a round.")]


class NewName(Struct, forbid_unknown_fields=True):
    """The new name of a mixture or a router."""

    name: Name


class Rounds(Struct, forbid_unknown_fields=True):
    """Many lines of a stream in one request, done in order."""

    rounds: Annotated[
        list[dict[str, Any]],
        Meta(
            description="Each as a line of `normalhedge blend -`, or `normalhedge route -`.",
            examples=[[{"forecasts": {"gam": 51.2, "ar": 49.9}}, {"ticket": 0, "outcome": 50.8}]],
        ),
    ]


class Age(Struct, forbid_unknown_fields=True):
    """The age from which on events are removed from the log."""

    keep_days: Annotated[float, Meta(ge=0, le=100_000)]


class ErrorAnswer(Struct, omit_defaults=True):
    """The answer to a request that was refused, or could not be answered."""

    error: Annotated[str, Meta(description="The reason, and what to do.")]
    status: int
    kind: Annotated[
        Kind | None,
        Meta(description="The error of a Mixture in Python for the same mistake."),
    ] = None


class NamedAnswer(Struct):
    """A mixture or a router that was created, renamed or deleted."""

    name: str
    created: float
    sequence: int


class Alarm(Struct):
    """An alert, or rounds that are overdue: when it began, and when somebody was told."""

    id: int
    mixture: str | UnsetType | None
    router: str | UnsetType
    kind: Literal["overdue", "degraded", "stopped", "copy"]
    expert: str | None
    other: str | None
    since: Any
    text: str
    began: float
    ended: float | None
    told: float | None


class AlarmPage(Struct):
    """Alarms, the newest first."""

    alarms: list[Alarm]


class Health(Struct, kw_only=True):
    """Numbers of a mixture or a router, some of which are missing until it is loaded."""

    name: str
    created: float
    loaded: bool
    rounds: int | UnsetType = UNSET
    settled: int | UnsetType = UNSET
    pending: int | UnsetType = UNSET
    expired: int | UnsetType = UNSET
    overdue: int | UnsetType = UNSET
    overdue_after: float | UnsetType | None = UNSET


class SettledAnswer(Struct):
    """The round that was settled."""

    settled: int


class CorrectedAnswer(Struct):
    """The round whose outcome or gain was corrected."""

    corrected: int


class Answers(Struct):
    """The answers to many rounds or outcomes, in order; a refusal is ``{"error": ...}``."""

    answers: list[dict[str, Any]]


class ServerState(Struct):
    """Whether the server is well."""

    ok: bool
    version: str
    error: str | UnsetType = UNSET


class WaitingRound(Struct):
    """A round that waits for its outcome or gain."""

    ticket: int
    time: float | None
    id: Any | UnsetType = UNSET


class PendingPage(Struct):
    """Rounds that wait for their outcomes, by ticket."""

    pending: list[WaitingRound]
    next: Annotated[
        int | None, Meta(description="Give it as 'after' to get more; null at the end.")
    ]


class CompactedAnswer(Struct):
    """How many events were removed, and the event after which the log begins now."""

    removed: int
    sequence: int


def as_line(form: Struct) -> dict[str, Any]:
    """Return the fields of a form that the client sent, as a line of a stream."""
    values = {name: getattr(form, name) for name in form.__struct_fields__}
    optional = ("confidence", "context")
    return {
        name: value
        for name, value in values.items()
        if value is not UNSET and (value or name not in optional)
    }


def as_json(value: Any) -> bytes:
    """Return a value as JSON; NaN becomes null."""
    return msgspec.json.encode(value)


def decode(body: bytes, form: type[T]) -> T:
    """Return the form that a body holds; raise a problem if it holds something else."""
    try:
        return msgspec.convert(parse(body), form)
    except msgspec.ValidationError as error:
        raise Problem(422, f"the request is not as described: {clipped(str(error))}") from None


def parse(body: bytes) -> Any:
    """Return the JSON of a body; raise a problem if it is none, or a name is repeated."""
    try:
        value = _decode(body)
        names = _names(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(400, f"the request is not JSON in UTF-8: {clipped(str(error))}") from None
    except RecursionError:
        raise Problem(400, "the request is nested too deeply") from None
    # Where a name is repeated in an object, the last one would silently win. There are as many
    # colons as names, unless some stand in texts.
    if body.count(b":") != names:
        _refuse_repeated(body)
    return value


def _names(value: Any) -> int:
    """Return the number of names in all objects of a value."""
    kind = type(value)
    if kind is dict:
        return len(value) + sum(
            [_names(part) for part in value.values() if type(part) is not float]
        )
    if kind is list:
        return sum([_names(part) for part in value if type(part) is not float])
    return 0


def _refuse_repeated(body: bytes) -> None:
    """Raise a problem if a name is there twice in an object."""
    try:
        json.loads(body, object_pairs_hook=_once)
    except RecursionError:
        raise Problem(400, "the request is nested too deeply") from None
    except ValueError as error:  # a number with too many digits
        raise Problem(400, f"the request is not JSON in UTF-8: {clipped(str(error))}") from None


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise Problem(422, f"{clipped(name, 80)!r} is there twice in one object")
        seen.add(name)
