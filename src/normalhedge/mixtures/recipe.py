"""The settings of a mixture, checked once."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from normalhedge import _inputs, _names
from normalhedge._inputs import LARGEST, Floats
from normalhedge.certificates.late import LADDER, default_c
from normalhedge.hedgers import HEDGERS, CompiledHedger, Hedger, NormalHedge, named
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.combining import WAYS, combine
from normalhedge.mixtures.losses import LOSSES, Loss, LossFunction

MEMORY = 20.0
"""The default memory of a single rule, in rounds."""

LARGEST_LOSS = LARGEST * LARGEST
"""The limit on the size of a loss of your own; the losses of the package are smaller, too."""

SINGLE = ("combine", "gradient", "even", "include")
"""The settings of a single rule; an automatic mixture does not take them."""

PLAIN = {"mean": "(mean)", "median": "(median)"}
"""The names of the plain combinations among the experts."""

NOT_FOR_SALE = "only a mean of price relatives is a portfolio that can be bought"
"""The reason why price relatives are combined by their mean, for error messages."""


@dataclass(frozen=True)
class Recipe:
    """The settings of a mixture; `Mixture` explains them.

    Attributes
    ----------
    hedger, loss, combine, gradient, shared, even, include
        As in `Mixture`, with all defaults filled in.
    """

    hedger: Hedger[Any] | Automatic
    loss: Loss
    combine: str
    gradient: bool
    shared: bool
    even: float
    include: tuple[str, ...]

    @classmethod
    def of(
        cls,
        hedger: Hedger[Any] | Automatic | str | None,
        loss: str | Loss | LossFunction,
        combine: str | None = None,
        *,
        gradient: bool | None = None,
        shared: bool = True,
        even: float = 0.0,
        include: str | Iterable[str] = (),
    ) -> "Recipe":
        """Check the settings and fill in defaults.

        Parameters
        ----------
        hedger, loss, combine, gradient, shared, even, include
            As in `Mixture`.
        """
        loss = _loss(loss)
        plain = (include,) if isinstance(include, str) else tuple(include)
        single = {
            "combine": combine is not None,
            "gradient": gradient is not None,
            "even": even != 0.0,
            "include": bool(plain),
        }
        if hedger is None and not any(single.values()):
            hedger = Automatic()
        elif is_automatic(hedger):
            hedger = automatic_of(str(hedger))
        if isinstance(hedger, Automatic):
            for name, is_given in single.items():
                if is_given:
                    raise ValueError(f"{name} belongs to a single rule, and auto hedges over many")
            way = "vote" if loss.of_labels else "mean"
            return cls(hedger, loss, way, False, bool(shared), 0.0, ())  # noqa: FBT003
        combine = _way(loss, combine)
        for name in plain:
            if name not in PLAIN:
                raise _names.nearest("plain combination", str(name), PLAIN)
            if name == "median" and loss.of_classes:
                raise ValueError("include must not name the median of class probabilities")
            if name == "median" and loss.of_wealth:
                raise ValueError(f"include must not name the median: {NOT_FOR_SALE}")
        hedger = hedger_of(hedger)
        return cls(
            hedger,
            loss,
            combine,
            _gradient(hedger, loss, combine, gradient),
            bool(shared),
            _inputs.number("even", even, 0.0, 1.0, closed=True),
            tuple(dict.fromkeys(plain)),
        )

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

    def own_losses(self, table: Floats, values: Floats, outcomes: Floats) -> tuple[Floats, Floats]:
        """Return the losses and the slopes of a loss function of your own.

        Parameters
        ----------
        table
            The forecasts of the experts; rows x 1 x experts.
        values
            The forecasts of the blend and, for an automatic mixture, of its components; a row for
            each row of the table.
        outcomes
            The outcome of each row; NaN if unknown.

        Returns
        -------
        losses, slopes
            For each row the losses of the experts, of ``values`` and of uniform weights; and the
            slopes at ``values``, one row after the other.
        """
        loss = self.loss
        assert loss.function is not None
        rows, _, n = table.shape
        predicted = values.shape[1]
        losses, slopes = np.full((rows, n + predicted + 1), np.nan), np.zeros((rows, predicted))
        for row in np.flatnonzero(~np.isnan(outcomes) & ~np.isnan(values[:, 0])):
            usable = np.abs(table[row, 0]) < LARGEST
            plain = combine(table[row, 0], usable / max(usable.sum(), 1), self.combine)
            forecasts = np.array([*table[row, 0], *values[row], plain])
            awake = np.abs(forecasts) < LARGEST
            found = np.asarray(loss.function(forecasts[awake], float(outcomes[row])), dtype=float)
            if found.shape != (awake.sum(),) or not (np.abs(found) < LARGEST_LOSS).all():
                raise ValueError(
                    f"loss {loss.name} must return a finite number within ±{LARGEST_LOSS:g} for "
                    f"each of {awake.sum()} forecasts, got {found}"
                )
            losses[row, awake] = found
            if self.gradient or predicted > 1:
                slopes[row] = self._own_slopes(values[row], float(outcomes[row]))
        return losses, slopes.ravel()

    def _own_slopes(self, values: Floats, outcome: float) -> list[float]:
        """Return the slopes of a loss of your own at some predictions; zeros if it has none."""
        loss = self.loss
        if loss.slope is None:
            return [0.0] * len(values)
        slopes = [0.0 if np.isnan(x) else float(loss.slope(float(x), outcome)) for x in values]
        for slope in slopes:
            if not abs(slope) < LARGEST:
                raise ValueError(
                    f"the slope of loss {loss.name} must be a finite number within ±{LARGEST:g}, "
                    f"got {slope}"
                )
        return slopes

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as plain data, for a file."""
        if not isinstance(self.hedger, CompiledHedger | Automatic):
            raise ValueError(
                f"hedger {type(self.hedger).__name__} is one of your own and cannot be saved"
            )
        hedger = {f.name: getattr(self.hedger, f.name) for f in fields(self.hedger)}  # type: ignore[arg-type]
        if isinstance(self.hedger, Automatic):
            hedger["components"] = [one.name for one in self.hedger.components(self.loss)]
        own = self.loss.kind is None
        loss = {"name": self.loss.name, "levels": list(self.loss.levels), "own": own}
        return {
            "hedger": {"kind": type(self.hedger).__name__, **hedger},
            "loss": loss,
            "combine": self.combine,
            "gradient": self.gradient,
            "shared": self.shared,
            "even": self.even,
            "include": list(self.include),
        }


def is_automatic(hedger: object) -> bool:
    """Tell whether a hedger is named ``auto``, with or without settings."""
    return isinstance(hedger, str) and hedger.partition(":")[0] == "auto"


def automatic_of(text: str) -> Automatic:
    """Return the automatic mixture that ``auto:key=value,...`` describes."""
    return _names.make("hedger", text, {"auto": Automatic})


def with_memory(hedger: Any, memory: float | None, half_life: float | None) -> Any:
    """Return a hedger that forgets at the given rate; the hedger itself if none is given.

    Parameters
    ----------
    hedger
        The name of a single rule, or None for NormalHedge.
    memory, half_life
        The number of rounds of which the hedger remembers most, or after which it has forgotten
        half: ``alpha = 1 / memory``, ``(1 - alpha)^half_life = 1/2``. At most one of them.
    """
    given = {"memory": memory, "half_life": half_life}
    named_ = [name for name, value in given.items() if value is not None]
    if not named_:
        return hedger
    if len(named_) == 2:
        raise TypeError("give memory or half_life, not both")
    if isinstance(hedger, Automatic) or is_automatic(hedger):
        raise ValueError(f"{named_[0]} belongs to a single rule, and auto hedges over many")
    if hedger is not None and not isinstance(hedger, str):
        raise TypeError(f"{named_[0]} belongs to the hedger: give it to {type(hedger).__name__}")
    alpha = NormalHedge(memory=memory, half_life=half_life).alpha
    if hedger is None:
        return NormalHedge(alpha)
    _, settings = _names.settings_in(hedger)
    if settings.keys() & {"alpha", "memory", "half_life"}:
        raise ValueError(f"{named_[0]} is given twice: {hedger!r} has one, too")
    return f"{hedger}{',' if ':' in hedger else ':'}alpha={alpha!r}"


def hedger_of(given: object, experts: int | None = None) -> Hedger[Any]:
    """Return a hedger, given itself or by its name.

    Parameters
    ----------
    given
        A hedger, its name with settings, or None for the default.
    experts
        The number of experts, by which some hedgers are tuned; None if it is unknown.
    """
    if given is None:
        return NormalHedge(memory=MEMORY)
    if isinstance(given, str):
        name = given.partition(":")[0]
        if name not in HEDGERS:
            raise _names.nearest("hedger", name, ["auto", *HEDGERS])
        return named(given, experts, alpha=1.0 / MEMORY)
    if isinstance(given, type) or not isinstance(given, Hedger):
        raise TypeError(
            "hedger must be a hedger, such as NormalHedge(memory=20), or a name; "
            f"got {type(given).__name__}"
        )
    return given


SCORES = {"mae": "absolute", "mse": "square", "rmse": "square"}
"""Names of scores that people know, and the losses that they are means of."""


def _loss(given: str | Loss | LossFunction) -> Loss:
    if isinstance(given, Loss):
        if given.kind is None and (given.function is None or given.of_classes):
            raise ValueError("a loss of your own needs a function of numbers, not of classes")
        return given
    if isinstance(given, str):
        return _names.make("loss", SCORES.get(given.lower(), given), LOSSES)
    if not callable(given):
        raise TypeError(f"loss must be a name, a Loss or a function, got {type(given).__name__}")
    return Loss(getattr(given, "__name__", "own"), function=given)


def _way(loss: Loss, given: str | None) -> str:
    if given is None:
        return "vote" if loss.of_labels else "median" if loss.median else "mean"
    if given not in WAYS:
        raise _names.nearest("way to combine", str(given), WAYS)
    if loss.of_classes and given != "mean":
        raise ValueError(f"combine must be 'mean' for class probabilities, got {given!r}")
    if loss.of_wealth and given != "mean":
        raise ValueError(f"combine must be 'mean', got {given!r}: {NOT_FOR_SALE}")
    return given


def _gradient(
    hedger: Hedger[Any],
    loss: Loss,
    combine: str,
    given: bool | None,  # noqa: FBT001
) -> bool:
    if getattr(hedger, "by_losses", False):
        if given:
            raise ValueError(f"gradient is of no use to {type(hedger).__name__}: it needs losses")
        return False
    possible = combine == "mean" and loss.differentiable
    if given is None:
        return possible and not loss.linear
    if given and not possible:
        raise ValueError(
            "gradient needs combine='mean' and a loss with a slope: "
            f"not {loss} combined by {combine}"
        )
    return bool(given)
