"""The settings of a mixture: each option once, with its default, its check and its text.

Whoever offers options of a mixture takes them from here: the constructor, files, HTTP forms, the
client, the command line, `blend`, clusters. A new option is a field of `MixtureSettings`, an entry
of `MixtureOptions` for type checkers, and an argument of `Mixture`; a test compares the three.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict, Unpack

from normalhedge.boundary import inputs, specs
from normalhedge.guarantees import LADDER, default_c
from normalhedge.hedgers import CompiledHedger, Hedger, NormalHedge
from normalhedge.mixtures.intervals import LONGEST_SEASON
from normalhedge.mixtures.losses import Loss, LossFunction, loss_of
from normalhedge.mixtures.rules import Automatic, automatic_of, hedger_of, is_automatic, with_memory
from normalhedge.mixtures.state._combining import WAYS
from normalhedge.mixtures.state._interval_settings import IntervalSettings

MAX_PENDING, MAX_NAMES, HISTORY = 10_000, 1_000_000, 200
"""The default limits on the memory of a mixture: see `Mixture`."""

PLAIN = {"mean": "(mean)", "median": "(median)"}
"""The names of the plain combinations among the experts."""

Kind = Literal["named", "word", "truth", "number", "count", "limit", "words", "numbers"]
"""The kind of the values of an option. A hedger and a loss are *named*: objects, or their names. A
*limit* is a count that bounds the memory of a mixture; a server has defaults of its own for it."""


@dataclass(frozen=True)
class Option:
    """An option of a mixture, for the constructor, files, HTTP forms and the command line."""

    # The default of the argument. None: the option is not used, or other options decide.
    default: Any
    kind: Kind
    text: str  # A sentence, for the command line and for HTTP
    # low, high: the smallest and the largest number that is accepted
    low: float = 1
    high: float = inf
    choices: tuple[str, ...] = ()  # the words that are accepted; empty if any are
    form: str | None = None  # how its value is written on the command line
    # whether it belongs to a single rule; an automatic mixture does not take it
    single: bool = False

    @property
    def as_json(self) -> Any:
        """The default in JSON; None for limits, which the server chooses."""
        if self.kind == "limit":
            return None
        return list(self.default) if isinstance(self.default, tuple) else self.default

    def check(self, name: str, value: Any) -> Any:
        """Return a value; refuse one that is not accepted, whatever the other options are."""
        if value is None and self.default is None:
            return None
        if self.kind == "truth":
            return bool(value)
        if self.kind == "number":
            return inputs.number(name, value, self.low, self.high, closed=True)
        if self.kind in {"count", "limit"}:
            most = inputs.LARGEST_WHOLE if self.high == inf else int(self.high)
            return inputs.count(name, value, most=most) if value or self.low else 0
        return value


class MixtureOptions(TypedDict, total=False):
    """The options of a mixture as they are given, for type checkers; `Mixture` explains them."""

    hedger: Hedger[Any] | Automatic | str | None
    loss: str | Loss | LossFunction
    combine: str | None
    gradient: bool | None
    shared: bool
    even: float
    include: str | Iterable[str]
    max_pending: int
    max_age: int | None
    history: int
    forget_after: int | None
    max_names: int
    memory: float | None
    half_life: float | None
    interval: float | Iterable[float] | None
    season: int | None


@dataclass(frozen=True)
class MixtureSettings:
    """The settings of a mixture, checked, with all defaults filled in.

    `MixtureSettings.of` makes them of the options of `Mixture`, which explains each.

    Attributes
    ----------
    hedger, loss
        The rule and the loss, as objects.
    combine, gradient, even, include
        As for `Mixture`; they describe the meta level of an automatic mixture.
    shared, max_pending, max_age, history, forget_after, max_names
        As for `Mixture`.
    interval, season
        The levels of the intervals, in order, and their season; None without.

    Examples
    --------
    >>> settings = MixtureSettings.of(hedger="squint", loss="absolute")
    >>> settings.combine, settings.max_pending
    ('median', 10000)
    """

    hedger: Annotated[
        Hedger[Any] | Automatic,
        Option(None, "named", "auto, or the name of a single rule.", form="NAME[:KEY=VALUE,...]"),
    ]
    loss: Annotated[Loss, Option("square", "named", "The name of a loss.", form="NAME[:level=Q]")]
    combine: Annotated[
        str,
        Option(None, "word", "Single rule: how forecasts are combined.", choices=WAYS, single=True),
    ]
    gradient: Annotated[
        bool, Option(None, "truth", "Single rule: the gradient trick.", single=True)
    ]
    shared: Annotated[
        bool,
        Option(True, "truth", "Whether all items of a round share their weights."),  # noqa: FBT003
    ]
    even: Annotated[
        float,
        Option(
            0.0, "number", "Single rule: the share of the weight that is spread evenly.",
            low=0.0, high=1.0, single=True,
        ),
    ]  # fmt: skip
    include: Annotated[
        tuple[str, ...],
        Option(
            (), "words", "Single rule: these plain combinations as experts, too.",
            form="mean,median", single=True,
        ),
    ]  # fmt: skip
    max_pending: Annotated[
        int,
        Option(MAX_PENDING, "limit", "The largest number of rounds that wait for their outcomes."),
    ]
    max_age: Annotated[
        int | None,
        Option(None, "limit", "The largest number of rounds that a round waits for its outcome."),
    ]
    history: Annotated[
        int, Option(HISTORY, "limit", "The number of settled rounds to keep.", low=0)
    ]
    forget_after: Annotated[
        int | None,
        Option(None, "limit", "The number of rounds after which a sleeping expert leaves."),
    ]
    max_names: Annotated[int, Option(MAX_NAMES, "limit", "The largest number of experts.")]
    interval: Annotated[
        tuple[float, ...] | None,
        Option(
            None, "numbers", "Add intervals that cover these shares of outcomes.",
            low=0.0, high=1.0, form="0.9[,0.5,...]",
        ),
    ]  # fmt: skip
    season: Annotated[
        int | None,
        Option(
            None, "count", "With intervals: after how many rounds the spread repeats itself.",
            low=2, high=LONGEST_SEASON, form="ROUNDS",
        ),
    ]  # fmt: skip

    @classmethod
    def of(cls, **given: Unpack[MixtureOptions]) -> "MixtureSettings":
        """Return the settings that options of a mixture describe.

        Parameters
        ----------
        **given
            Arguments of `Mixture`; all others have their defaults.
        """
        for name in given:
            if name not in OPTIONS:
                raise TypeError(str(specs.nearest("setting", name, OPTIONS)))
        chosen: dict[str, Any] = {name: opt.default for name, opt in OPTIONS.items()} | given
        hedger = with_memory(chosen["hedger"], chosen.pop("memory"), chosen.pop("half_life"))
        loss = loss_of(chosen["loss"])
        chosen |= {"loss": loss, **_rule(hedger, loss, chosen)}
        intervals = IntervalSettings.of(loss, chosen["interval"], chosen["season"])
        chosen["interval"], chosen["season"] = intervals.settings if intervals else (None, None)
        return cls(**{name: OPTIONS[name].check(name, value) for name, value in chosen.items()})

    @cached_property
    def intervals(self) -> IntervalSettings | None:
        """How intervals are made; None without intervals."""
        return IntervalSettings.of(self.loss, self.interval, self.season)

    @property
    def rule(self) -> Any:
        """The hedger that plays: the mixture itself allows for the delay of NormalHedge."""
        hedger = self.hedger
        return NormalHedge(hedger.alpha, hedger.c) if isinstance(hedger, NormalHedge) else hedger

    @property
    def patience(self) -> tuple[float, int, tuple[tuple[int, float], ...]]:
        """How NormalHedge allows for late outcomes: its c, its delay, and the c of longer delays.

        The c is 0 for other hedgers.
        """
        hedger = self.hedger
        if not isinstance(hedger, NormalHedge):
            return 0.0, 0, ()
        return hedger.c, hedger.delay, tuple((delay, default_c(delay)) for delay in LADDER)

    def c_for(self, delay: int) -> float:
        """Return the c of NormalHedge after outcomes with this delay."""
        hedger = self.hedger
        assert isinstance(hedger, NormalHedge)
        return hedger.c if delay <= hedger.delay else max(hedger.c, default_c(delay))

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as plain data, for a file."""
        if not isinstance(self.hedger, CompiledHedger | Automatic):
            raise ValueError(
                f"hedger {type(self.hedger).__name__} is one of your own and cannot be saved"
            )
        names = [part.name for part in fields(self.hedger) if part.init]  # type: ignore[arg-type]
        hedger = {name: getattr(self.hedger, name) for name in names}
        if isinstance(self.hedger, Automatic):
            hedger["components"] = [way.name for way in self.hedger.components(self.loss)]
            ways, insured = self.hedger.prior_of(self.loss)
            hedger["prior"] = {"ways": list(ways), "insured": insured}
        plain = {name: getattr(self, name) for name in RECIPE}
        return {
            **{k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()},
            "hedger": {"kind": type(self.hedger).__name__, **hedger},
            "loss": self.loss.to_plain(),
        }


_FORGETTING: dict[str, Option] = {
    "memory": Option(None, "number", "Single rule: its memory, in rounds.", single=True),
    "half_life": Option(
        None, "number", "Single rule: the rounds after which half is forgotten.", single=True
    ),
}
"""Options that say how fast the hedger forgets, where its name does not."""

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {name: note.__metadata__[0] for name, note in MixtureSettings.__annotations__.items()}
    | _FORGETTING
)
"""All options by name."""

SINGLE = tuple(name for name, option in OPTIONS.items() if option.single)
"""The options of a single rule."""

LIMITS = tuple(name for name, option in OPTIONS.items() if option.kind == "limit")
"""The options that bound the memory of a mixture; a file holds them beside its recipe."""

RECIPE = tuple(
    name for name in OPTIONS if name not in {*LIMITS, *_FORGETTING, "interval", "season"}
)
"""The settings that a file holds in its recipe."""


def _rule(hedger: Any, loss: Loss, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hedger, and the settings of a single rule."""
    include = chosen["include"]
    plain = (include,) if isinstance(include, str) else tuple(include)
    single = {name: chosen[name] for name in SINGLE if name in chosen} | {"include": plain}
    changed = [name for name, value in single.items() if value != OPTIONS[name].default]
    if hedger is None and not changed:
        hedger = Automatic()
    elif is_automatic(hedger):
        hedger = automatic_of(str(hedger))
    if isinstance(hedger, Automatic):
        for name in changed:
            raise ValueError(f"{name} belongs to a single rule, and auto hedges over many")
        return {"hedger": hedger, **single, "combine": loss.forecasts.combine, "gradient": False}
    way = _way(loss, chosen["combine"])
    for name in plain:
        if name not in PLAIN:
            raise specs.nearest("plain combination", str(name), PLAIN)
        loss.forecasts.check_include(name)
    hedger = hedger_of(hedger)
    return {
        "hedger": hedger,
        **single,
        "combine": way,
        "gradient": _gradient(hedger, loss, way, chosen["gradient"]),
        "include": tuple(dict.fromkeys(plain)),
    }


def _way(loss: Loss, combine: str | None) -> str:
    if combine is None:
        return loss.combine
    if combine not in WAYS:
        raise specs.nearest("way to combine", str(combine), WAYS)
    loss.forecasts.check_combine(combine)
    return combine


def _gradient(
    hedger: Hedger[Any],
    loss: Loss,
    combine: str,
    gradient: bool | None,  # noqa: FBT001
) -> bool:
    if getattr(hedger, "by_losses", False):
        if gradient:
            raise ValueError(f"gradient is of no use to {type(hedger).__name__}: it needs losses")
        return False
    possible = combine == "mean" and loss.differentiable
    if gradient is None:
        return possible and loss.gradient
    if gradient and not possible:
        raise ValueError(
            "gradient needs combine='mean' and a loss with a slope: "
            f"not {loss} combined by {combine}"
        )
    return bool(gradient)
