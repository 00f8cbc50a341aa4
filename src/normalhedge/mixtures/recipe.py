"""How a mixture is made: everything that is configured, checked once."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from normalhedge import _inputs, _names
from normalhedge._inputs import LARGEST, Floats
from normalhedge.hedgers import AnyHedger, NormalHedge, named
from normalhedge.hedgers._native import hands
from normalhedge.mixtures._play import Settings, fill_plain
from normalhedge.mixtures.combining import WAYS
from normalhedge.mixtures.losses import L1, LOSSES, OWN, ZERO_ONE, Loss, LossFunction

MEMORY = 20.0
"""The memory, in rounds, of the hedger that is used when none is given."""

LARGEST_LOSS = LARGEST * LARGEST
"""What a loss of your own stays below, as those of the package do."""

PLAIN = {"mean": "(mean)", "median": "(median)"}
"""What the plain combinations are called among the experts."""


@dataclass(frozen=True)
class Recipe:
    """What `Mixture` is told; see there."""

    hedger: AnyHedger
    loss: Loss
    combine: str
    gradient: bool
    shared: bool
    even: float
    include: tuple[str, ...]

    @classmethod
    def of(
        cls,
        hedger: AnyHedger | str | None,
        loss: str | Loss | LossFunction,
        combine: str | None,
        gradient: bool | None,  # noqa: FBT001
        shared: bool,  # noqa: FBT001
        even: float,
        include: str | Iterable[str],
    ) -> "Recipe":
        """Check what was given and choose what was not."""
        loss = _loss(loss)
        combine = _way(loss, combine)
        plain = (include,) if isinstance(include, str) else tuple(include)
        for name in plain:
            if name not in PLAIN:
                raise _names.nearest("plain combination", str(name), PLAIN)
            if name == "median" and loss.of_classes:
                raise ValueError("include must not name the median of class probabilities")
        return cls(
            hedger_of(hedger),
            loss,
            combine,
            _gradient(loss, combine, gradient),
            bool(shared),
            _inputs.number("even", even, 0.0, 1.0, closed=True),
            tuple(dict.fromkeys(plain)),
        )

    def settings(self) -> Settings:
        """Return what the kernels need of it; those of the hedger are compiled if need be."""
        loss = self.loss
        way = WAYS[self.combine]
        return (loss.code, way, self.gradient, loss.width, self.even, *hands(self.hedger))

    def own_losses(self, table: Floats, values: Floats, outcomes: Floats) -> tuple[Floats, Floats]:
        """Return the losses of a function of your own (experts, blend, uniform), and its slopes."""
        loss = self.loss
        assert loss.function is not None
        rows, _, n = table.shape
        losses, slopes = np.full((rows, n + 2), np.nan), np.zeros(rows)
        for row in np.flatnonzero(~np.isnan(outcomes) & ~np.isnan(values[:, 0])):
            plain = np.full((1, 1, n + 1), np.nan)
            plain[0, 0, 1:] = table[row, 0]
            fill_plain(plain, np.array([WAYS[self.combine]]), np.empty(0))
            asked = np.array([*table[row, 0], values[row, 0], plain[0, 0, 0]])
            awake = np.abs(asked) < LARGEST
            given = np.asarray(loss.function(asked[awake], float(outcomes[row])), dtype=float)
            if given.shape != (awake.sum(),) or not (np.abs(given) < LARGEST_LOSS).all():
                raise ValueError(
                    f"loss {loss.name} must return a finite number within ±{LARGEST_LOSS:g} for "
                    f"each of {awake.sum()} forecasts, got {given}"
                )
            losses[row, awake] = given
            if self.gradient:
                assert loss.slope is not None
                slope = float(loss.slope(float(values[row, 0]), float(outcomes[row])))
                if not abs(slope) < LARGEST:
                    raise ValueError(
                        f"the slope of loss {loss.name} must be a finite number within "
                        f"±{LARGEST:g}, got {slope}"
                    )
                slopes[row] = slope
        return losses, slopes

    def to_plain(self) -> dict[str, Any]:
        """Return it in words and numbers."""
        hedger = {f.name: getattr(self.hedger, f.name) for f in fields(self.hedger)}  # type: ignore[arg-type]
        own = self.loss.code == OWN
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


def hedger_of(given: object, experts: int | None = None) -> AnyHedger:
    """Return the hedger; some names are tuned by the number of experts."""
    if given is None:
        return NormalHedge(memory=MEMORY)
    if isinstance(given, str):
        return named(given, experts, alpha=1.0 / MEMORY)
    if not isinstance(given, AnyHedger):
        raise TypeError(
            "hedger must be a hedger of this package, such as NormalHedge(memory=20), or a name; "
            f"got {type(given).__name__}"
        )
    return given


def _loss(given: str | Loss | LossFunction) -> Loss:
    if isinstance(given, Loss):
        if given.code == OWN and (given.function is None or given.of_classes):
            raise ValueError("a loss of your own needs a function of numbers, not of classes")
        return given
    if isinstance(given, str):
        return _names.make("loss", given, LOSSES)
    if not callable(given):
        raise TypeError(f"loss must be a name, a Loss or a function, got {type(given).__name__}")
    return Loss(getattr(given, "__name__", "own"), OWN, function=given)


def _way(loss: Loss, given: str | None) -> str:
    labels = loss.code == ZERO_ONE and not loss.of_classes
    if given is None:
        return "vote" if labels else "median" if loss.median else "mean"
    if given not in WAYS:
        raise _names.nearest("way to combine", str(given), WAYS)
    if loss.of_classes and given != "mean":
        raise ValueError(f"combine must be 'mean' for class probabilities, got {given!r}")
    return given


def _gradient(loss: Loss, combine: str, given: bool | None) -> bool:  # noqa: FBT001
    possible = combine == "mean" and loss.code != ZERO_ONE
    possible = possible and (loss.code != OWN or loss.slope is not None)
    if given is None:
        return possible and loss.code != L1
    if given and not possible:
        raise ValueError(
            "gradient needs combine='mean' and a loss with a slope: "
            f"not {loss} combined by {combine}"
        )
    return bool(given)
