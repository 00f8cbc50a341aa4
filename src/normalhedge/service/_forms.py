"""The forms of requests and answers, which requests are checked by and OpenAPI is made of."""

import json
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures.state import OPTIONS, Option
from normalhedge.service._limits import NAME
from normalhedge.service._problems import Kind, Problem

T = TypeVar("T")

_decode = msgspec.json.Decoder().decode

Name = Annotated[str, Meta(pattern=NAME, description="The name of a mixture.")]

Forecasts = Annotated[
    dict[str, Any],
    Meta(
        description="The forecast of each expert by name: a number, a list or an object of "
        "numbers; null for an expert that sleeps.",
        examples=[{"gam": 51.2, "ar": 49.9}],
    ),
]
Confidence = Annotated[
    dict[str, float] | None,
    Meta(description="The confidence of experts in their forecasts, in [0, 1]; 1 by default."),
]
Context = Annotated[
    dict[str, Any] | None,
    Meta(
        description="The circumstances that weights may depend on: up to three categories by name.",
        examples=[{"hour": 7, "weather": "rain"}],
    ),
]
Ticket = Annotated[int, Meta(ge=0, le=2**53, description="The ticket of a round.")]
Id = Annotated[Any, Meta(description="Your own id of a round: text, a number, or other JSON.")]
Outcome = Annotated[
    Any, Meta(description="The outcome, in the form of the forecasts, or a class.", examples=[50.8])
]
MOST = 1_000_000_000  # the largest whole number of a setting


def _form_of(option: Option) -> Any:
    """Return the type that an option of a mixture has in JSON."""
    whole = Annotated[int, Meta(ge=min(int(option.low), 1), le=int(min(option.high, MOST)))]
    bounded = option.kind == "number" and option.default is not None
    kinds: dict[str, Any] = {
        "named": str, "word": str, "truth": bool, "count": whole, "limit": whole,
        "number": Annotated[float, Meta(ge=option.low, le=option.high)] if bounded else float,
        "words": list[str], "numbers": float | list[float],
    }  # fmt: skip
    form = kinds[option.kind]
    empty = option.as_json is None and option.kind != "named"
    return Annotated[form | None if empty else form, Meta(description=option.text)]


NewMixture = msgspec.defstruct(
    "NewMixture",
    [
        ("name", Name),
        *(
            (name, _form_of(option), "auto" if name == "hedger" else option.as_json)
            for name, option in OPTIONS.items()
        ),
    ],
    namespace={"__doc__": "The settings of a new mixture, as in `normalhedge.Mixture`."},
    forbid_unknown_fields=True,
    omit_defaults=True,
)


class NewName(Struct, forbid_unknown_fields=True):
    """The new name of a mixture."""

    name: Name


class PeekRequest(Struct, forbid_unknown_fields=True):
    """Forecasts to blend without opening a round."""

    forecasts: Forecasts
    confidence: Confidence = None
    context: Context = None


class RoundForecasts(PeekRequest):
    """The forecasts of a round."""

    id: Id | UnsetType = UNSET


class Settlement(Struct, forbid_unknown_fields=True):
    """The outcome of a round, by its ticket or by its id."""

    outcome: Outcome
    ticket: Ticket | UnsetType = UNSET
    id: Id | UnsetType = UNSET


class Settlements(Struct, forbid_unknown_fields=True):
    """The outcomes of many rounds, each refused or learned on its own."""

    outcomes: list[Settlement]


class Rounds(Struct, forbid_unknown_fields=True):
    """Many lines of a stream in one request, done in order."""

    rounds: Annotated[
        list[dict[str, Any]],
        Meta(
            description="Each as a line of `normalhedge blend -`.",
            examples=[[{"forecasts": {"gam": 51.2, "ar": 49.9}}, {"ticket": 0, "outcome": 50.8}]],
        ),
    ]


class ExpertChange(Struct, forbid_unknown_fields=True):
    """A change of experts: exactly one of these."""

    leave: str | UnsetType = UNSET
    retire: str | UnsetType = UNSET
    rename: Annotated[list[str], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    inherit: Annotated[list[str], Meta(min_length=2, max_length=2)] | UnsetType = UNSET


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


class MixtureAnswer(Struct):
    """A mixture that was created, renamed or deleted."""

    name: str
    created: float
    sequence: int


class Coverage(Struct):
    """How many outcomes the intervals of a level covered."""

    level: float
    covered: float | None
    outcomes: int


class ExpertAlert(Struct):
    """An expert that got worse, stopped, or repeats another one."""

    kind: str
    expert: str
    since: Any
    text: str
    other: str | None


class Alarm(Struct):
    """An alert, or rounds that are overdue: when it began, and when somebody was told."""

    id: int
    mixture: str | None
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


class Health(Struct):
    """A mixture in a few numbers, some of which are missing until it is loaded."""

    name: str
    created: float
    loaded: bool
    last_forecast: float | None
    last_outcome: float | None
    experts: int | UnsetType = UNSET
    items: int | UnsetType = UNSET
    rounds: int | UnsetType = UNSET
    settled: int | UnsetType = UNSET
    pending: int | UnsetType = UNSET
    expired: int | UnsetType = UNSET
    overdue: int | UnsetType = UNSET
    overdue_after: float | UnsetType | None = UNSET
    loss: float | UnsetType | None = UNSET
    plain_mean_loss: float | UnsetType | None = UNSET
    worse_than_plain_mean: bool | UnsetType = UNSET
    coverage: list[Coverage] | UnsetType = UNSET
    alerts: list[ExpertAlert] | UnsetType = UNSET
    loss_name: str | UnsetType = UNSET


class MixtureList(Struct):
    """Mixtures that the token may see, by name."""

    mixtures: list[Health]
    time: float
    next: Annotated[
        str | None, Meta(description="Give it as 'after' to get more; null at the end.")
    ]


class Details(Health):
    """A mixture, its settings and its experts."""

    settings: dict[str, Any] | UnsetType = UNSET
    names: list[str] | UnsetType = UNSET
    retired: list[str] | UnsetType = UNSET
    item_names: list[str] | UnsetType = UNSET
    weights: dict[str, float | None] | UnsetType = UNSET
    next_ticket: int | UnsetType = UNSET
    sequence: int | UnsetType = UNSET


class PredictionAnswer(Struct):
    """The blend of the forecasts, and the ticket of the round."""

    ticket: int
    prediction: Any
    weights: dict[str, Any]
    id: Any | UnsetType = UNSET
    interval: dict[str, Any] | UnsetType = UNSET


class SettledAnswer(Struct):
    """The round that was settled."""

    settled: int


class CorrectedAnswer(Struct):
    """The round whose outcome was corrected."""

    corrected: int


class ChangedAnswer(Struct):
    """The experts that changed."""

    left: str | UnsetType = UNSET
    retired: str | UnsetType = UNSET
    renamed: list[str] | UnsetType = UNSET
    inherited: list[str] | UnsetType = UNSET


class Answers(Struct):
    """The answers to many rounds or outcomes, in order; a refusal is ``{"error": ...}``."""

    answers: list[dict[str, Any]]


class PeekAnswer(Struct):
    """The prediction that these forecasts would get."""

    prediction: Any
    weights: dict[str, Any]
    interval: dict[str, Any] | UnsetType = UNSET


class ServerState(Struct):
    """Whether the server is well."""

    ok: bool
    version: str
    error: str | UnsetType = UNSET


class WaitingRound(Struct):
    """A round that waits for its outcome."""

    ticket: int
    time: float | None
    id: Any | UnsetType = UNSET


class PendingPage(Struct):
    """Rounds that wait for their outcomes, by ticket."""

    pending: list[WaitingRound]
    next: Annotated[
        int | None, Meta(description="Give it as 'after' to get more; null at the end.")
    ]


class PastRound(Struct):
    """A settled round. Losses are means over its items; they are missing for unusual forecasts."""

    ticket: int
    settled: float
    outcome: Any
    time: float | UnsetType = UNSET
    id: Any | UnsetType = UNSET
    forecasts: dict[str, Any] | UnsetType = UNSET
    prediction: Any | UnsetType = UNSET
    interval: dict[str, Any] | UnsetType = UNSET
    weights: dict[str, Any] | UnsetType = UNSET
    loss: float | UnsetType | None = UNSET
    plain_mean_loss: float | UnsetType | None = UNSET
    losses: dict[str, float | None] | UnsetType = UNSET


class PastRounds(Struct):
    """Settled rounds, the oldest first."""

    rounds: list[PastRound]
    loss_name: str
    next: Annotated[
        str | None, Meta(description="Give it as 'before' to get earlier rounds; null at the end.")
    ]


class SummaryAnswer(Struct):
    """A mixture beside its experts and plain combinations; ``text`` is for people.

    ``bound`` is null where no theorem covers the mixture, and ``bound_source`` says why.
    """

    settings: str
    rounds: int
    rows: int
    settled: int
    silent: int
    pending: int
    expired: int
    loss: float | None
    plain_mean_loss: float | None
    best: str | None
    warning: str
    notes: list[str]
    coverage: list[Coverage]
    regret: float | None
    bound: float | None
    bound_unit: str
    bound_source: str
    compared: dict[str, Any]
    components: list[dict[str, Any]]
    experts: list[dict[str, Any]]
    text: str


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
