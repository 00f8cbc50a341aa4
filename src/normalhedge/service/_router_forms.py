"""The forms of requests about routers, and of their answers."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from normalhedge.live.options import options
from normalhedge.routing import RouterSettings
from normalhedge.service._forms import Health, Name, Ticket

Actions = Annotated[list[str], Meta(description="Names of actions.", examples=[["small", "large"]])]
Range = Annotated[list[float], Meta(min_length=2, max_length=2)]
Whole = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Gain = Annotated[
    float | dict[str, float],
    Meta(
        description="The gain of the chosen action, or an object with the gains of several.",
        examples=[0.7, {"small": 0.7, "large": 0.9}],
    ),
]

OPTIONS: dict[str, tuple[Any, Any]] = {
    "actions": (list[str], msgspec.field(default_factory=list)),
    "rule": (str, "auto"),
    "gains": (Range | None, None),
    "shows": (dict[str, list[str]] | None, None),
    "costs": (dict[str, float] | None, None),
    "budget": (float | None, None),
    "max_pending": (Whole | None, None),
    "history": (Whole | None, None),
    "seed": (Annotated[int, Meta(ge=0)], 0),
}
"""The options of a router: the type of each in JSON, and its default."""

TEXTS = options(RouterSettings)

NewRouter = msgspec.defstruct(
    "NewRouter",
    [
        ("name", Name),
        *(
            (name, Annotated[form, Meta(description=TEXTS[name].metadata["text"])], default)
            for name, (form, default) in OPTIONS.items()
        ),
    ],
    namespace={"__doc__": "The settings of a new router, as in `normalhedge.Router`."},
    forbid_unknown_fields=True,
    omit_defaults=True,
)  # fmt: skip


class ChoiceRequest(Struct, forbid_unknown_fields=True):
    """The circumstances of a choice."""

    context: Annotated[
        Any,
        Meta(
            description="A category on which the best action may depend, or an object of them.",
            examples=["night", {"language": "fr"}],
        ),
    ] = None
    awake: Annotated[
        Actions | None, Meta(description="The actions that are offered; all by default.")
    ] = None
    seen: Annotated[
        Actions | str | None,
        Meta(description='The actions whose gains will be known whichever is chosen; or "all".'),
    ] = None


class Reward(Struct, forbid_unknown_fields=True):
    """The gain of a choice, or the gains that became known with it."""

    ticket: Ticket
    gain: Gain


class ActionChange(Struct, forbid_unknown_fields=True):
    """A change of actions: exactly one of these."""

    join: str | UnsetType = UNSET
    leave: str | UnsetType = UNSET


class ChoiceAnswer(Struct):
    """The action that was drawn, and the ticket that its gain needs."""

    ticket: int
    action: str
    probability: float
    probabilities: dict[str, float]


class ActionAnswer(Struct):
    """The action that joined or left."""

    joined: str | UnsetType = UNSET
    left: str | UnsetType = UNSET


class RouterHealth(Health, kw_only=True):
    """A router in a few numbers, some of which are missing until it is loaded."""

    last_choice: float | None
    last_gain: float | None
    actions: int | UnsetType = UNSET
    contexts: int | UnsetType = UNSET
    gain: float | UnsetType | None = UNSET
    spending: dict[str, float | None] | UnsetType = UNSET


class RouterList(Struct):
    """Routers that the token may see, by name."""

    routers: list[RouterHealth]
    time: float
    next: str | None


class RouterDetails(RouterHealth, kw_only=True):
    """A router, its settings and its actions."""

    settings: dict[str, Any] | UnsetType = UNSET
    names: list[str] | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    rules: dict[str, float] | UnsetType = UNSET
    next_ticket: int | UnsetType = UNSET
    sequence: int | UnsetType = UNSET


class PastChoice(Struct):
    """A settled round of a router."""

    ticket: int
    settled: float
    gain: Gain
    time: float | UnsetType = UNSET
    action: str | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    context: Any | UnsetType = UNSET
    awake: list[str] | UnsetType = UNSET
    seen: Any | UnsetType = UNSET


class PastChoices(Struct):
    """Settled rounds of a router, the oldest first."""

    rounds: list[PastChoice]
    next: str | None


class RouterSummaryAnswer(Struct):
    """A router with its actions and their estimated values; ``text`` is for people.

    ``bound`` is null where no theorem covers the router, and ``bound_source`` says why.
    """

    rounds: int
    pending: int
    expired: int
    gain: float | None
    rules: dict[str, float]
    spending: dict[str, float | None]
    bound: float | None
    bound_source: str
    actions: list[dict[str, Any]]
    text: str
