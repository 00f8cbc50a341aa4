"""The forms of requests about mixtures, and of their answers."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from normalhedge.mixtures.state import OPTIONS, Option
from normalhedge.service._forms import Health, Name, Ticket

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


class ExpertChange(Struct, forbid_unknown_fields=True):
    """A change of experts: exactly one of these."""

    leave: str | UnsetType = UNSET
    retire: str | UnsetType = UNSET
    rename: Annotated[list[str], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    inherit: Annotated[list[str], Meta(min_length=2, max_length=2)] | UnsetType = UNSET


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


class MixtureHealth(Health, kw_only=True):
    """A mixture in a few numbers, some of which are missing until it is loaded."""

    last_forecast: float | None
    last_outcome: float | None
    experts: int | UnsetType = UNSET
    items: int | UnsetType = UNSET
    loss: float | UnsetType | None = UNSET
    plain_mean_loss: float | UnsetType | None = UNSET
    worse_than_plain_mean: bool | UnsetType = UNSET
    coverage: list[Coverage] | UnsetType = UNSET
    alerts: list[ExpertAlert] | UnsetType = UNSET
    loss_name: str | UnsetType = UNSET


class MixtureList(Struct):
    """Mixtures that the token may see, by name."""

    mixtures: list[MixtureHealth]
    time: float
    next: Annotated[
        str | None, Meta(description="Give it as 'after' to get more; null at the end.")
    ]


class MixtureDetails(MixtureHealth, kw_only=True):
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


class ChangedAnswer(Struct):
    """The experts that changed."""

    left: str | UnsetType = UNSET
    retired: str | UnsetType = UNSET
    renamed: list[str] | UnsetType = UNSET
    inherited: list[str] | UnsetType = UNSET


class PeekAnswer(Struct):
    """The prediction that these forecasts would get."""

    prediction: Any
    weights: dict[str, Any]
    interval: dict[str, Any] | UnsetType = UNSET


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
