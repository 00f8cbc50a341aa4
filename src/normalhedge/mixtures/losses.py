"""Losses: the cost of a forecast once the outcome is known.

The loss of a forecast x, or of class probabilities p, if the outcome is y:

    square      (x - y)^2
    absolute    |x - y|
    pinball     level (y - x) where x < y, else (1 - level) (x - y)
    log         -ln max(p_y, 1e-6)       clipped: one confident error cannot cost more than 13.8
    l1          1 - p_y                  half the L1 distance of p to the outcome; Section 5
    log-wealth  -ln max(x / y, 1e-6)     x is a price relative; y that of a benchmark, or 1
    zero-one    1 where x, or the most probable class, is not y; else 0
    crps        the mean over levels of 2 pinball(x_level, y); x has a quantile for each level

The crps loss is for quantile forecasts at several levels: see `crps`.

The log-wealth loss is for portfolios. An expert is an asset or a portfolio, and its forecast is its
price relative, the factor by which its price changed: x = 1.02 is a gain of 2 %. The weighted mean
of price relatives is the relative of the portfolio with these weights, rebalanced each round. So
its wealth is ``exp(-sum of losses)`` times that of the benchmark, or of cash if y is 1. A relative
at or below zero, a ruin, costs 13.8. Relatives are known only after the round, but weights before
it: `Mixture.next_weights` returns the portfolio to buy.

The core computes the losses, as one table (``src/core/losses.hpp``). Hedgers learn from gains,
which are made of losses in ``src/core/mixture.hpp``, and nowhere else.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from normalhedge import _inputs
from normalhedge._inputs import Floats

LossFunction = Callable[[Floats, float], Floats]
"""A function of an array of forecasts and an outcome that returns the loss of each forecast."""


FEW = 5
"""The largest number of levels that `Loss.brief` lists."""


@dataclass(frozen=True)
class Loss:
    """A loss: its name, and the properties that a mixture uses.

    Attributes
    ----------
    name
        Its name.
    kind
        Its name in the core; None for a loss function of your own.
    of_classes
        Whether forecasts are class probabilities and outcomes classes 0, 1, ...
    width
        The largest difference of two losses, if it is known beforehand; 0 if it is to be learned.
    levels
        The levels of the pinball loss: one, or one for each component of a vector; or those of
        the crps loss, rising.
    function
        Your own loss function: see `LossFunction`.
    slope
        The derivative of your own loss at a prediction, ``slope(prediction, outcome)``; only the
        gradient trick needs it.
    """

    name: str
    kind: str | None = None
    of_classes: bool = False
    width: float = 0.0
    levels: tuple[float, ...] = ()
    function: LossFunction | None = field(default=None, compare=False)
    slope: Callable[[float, float], float] | None = field(default=None, compare=False)

    @property
    def median(self) -> bool:
        """Whether forecasts are combined by their median by default."""
        return self.kind in {"absolute", "pinball"}

    @property
    def of_labels(self) -> bool:
        """Whether forecasts are labels, which have no middle."""
        return self.kind == "zero-one" and not self.of_classes

    @property
    def differentiable(self) -> bool:
        """Whether the loss has a slope, which the gradient trick needs."""
        return self.slope is not None if self.kind is None else self.kind != "zero-one"

    @property
    def of_levels(self) -> bool:
        """Whether each forecast is a vector of quantiles, one for each level."""
        return self.kind == "crps"

    @property
    def of_wealth(self) -> bool:
        """Whether forecasts and outcomes are price relatives."""
        return self.kind == "log-wealth"

    @property
    def convex(self) -> bool:
        """Whether the loss is known to be convex; logarithms are not where they are clipped."""
        return self.kind in {"square", "absolute", "pinball", "l1", "crps"}

    @property
    def linear(self) -> bool:
        """Whether the loss of a mean is the mean of the losses."""
        return self.kind == "l1"

    @property
    def brief(self) -> str:
        """The name, and the levels where there are few of them; for tables."""
        if len(self.levels) > FEW and self.of_levels:
            low, high = self.levels[0], self.levels[-1]
            return f"{self.name}, {len(self.levels)} levels from {low:g} to {high:g}"
        return str(self)

    def __str__(self) -> str:
        """Return the name, and the levels where there are any."""
        if self.of_levels:
            return f"{self.name}:levels={'/'.join(f'{level:g}' for level in self.levels)}"
        return self.name + "".join(f":level={level:g}" for level in self.levels[:1])


def pinball(level: float | Sequence[float] = 0.5) -> Loss:
    """Return the loss whose best constant forecast is the quantile of this level.

    Parameters
    ----------
    level
        A number strictly between 0 and 1, or one for each component of vectors of quantiles.
    """
    given = [level] if isinstance(level, int | float) else list(level)
    if not given:
        raise ValueError("level must be a number or one number for each component, got none")
    levels = tuple(_inputs.number("level", one, 0.0, 1.0) for one in given)
    return Loss("pinball", "pinball", levels=levels)


def crps(levels: str | float | Sequence[float]) -> Loss:
    r"""Return the loss of quantile forecasts: twice the pinball loss, its mean over the levels.

    .. math::

        \frac1L \sum_{l=1}^{L} 2 \left(1[y < x_l] - \tau_l\right) (x_l - y)

    If the levels are symmetric and include 0.5, this is the weighted interval score (WIS) of
    forecast hubs. It tends to the continuous ranked probability score (CRPS) as the levels become
    dense. Each forecast is a sequence with a quantile for each level, or a mapping of levels to
    quantiles; quantiles that cross are sorted, which never increases the loss.

    Parameters
    ----------
    levels
        Numbers strictly between 0 and 1 that rise; or a text of them, as in ``"0.1/0.5/0.9"``.

    Examples
    --------
    >>> str(crps([0.1, 0.5, 0.9]))
    'crps:levels=0.1/0.5/0.9'
    """
    given = levels.split("/") if isinstance(levels, str) else levels
    if not isinstance(given, int | float | Iterable):
        raise TypeError(f"levels must be numbers, as in [0.1, 0.5, 0.9], got {given!r}")
    parts = [given] if isinstance(given, int | float) else list(given)
    if not parts:
        raise ValueError("levels must be numbers between 0 and 1, got none")
    found = tuple(_inputs.number("level", _level(one), 0.0, 1.0) for one in parts)
    for low, high in pairwise(found):
        if not low < high:
            raise ValueError(f"levels must rise, got {low:g} before {high:g}")
    return Loss("crps", "crps", levels=found)


def _level(given: object) -> object:
    """Return a level that was given as text as a number."""
    if not isinstance(given, str):
        return given
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"levels must be numbers, as in 0.1/0.5/0.9, got {given!r}") from None


LOSSES: dict[str, Callable[..., Loss]] = {
    "absolute": lambda: Loss("absolute", "absolute"),
    "square": lambda: Loss("square", "square"),
    "pinball": pinball,
    "crps": crps,
    "l1": lambda: Loss("l1", "l1", of_classes=True, width=1.0),
    "log": lambda: Loss("log", "log", of_classes=True),
    "log-wealth": lambda: Loss("log-wealth", "log-wealth"),
    "zero-one": lambda: Loss("zero-one", "zero-one", width=1.0),
    "zero-one-classes": lambda: Loss("zero-one-classes", "zero-one", of_classes=True, width=1.0),
}
"""Every loss by its name on the command line."""


def restored_loss(written: Mapping[str, Any], given: Loss | LossFunction | None) -> Any:
    """Return the loss that a file names.

    Parameters
    ----------
    written
        The name and the levels of the loss, and whether it is a function of the user.
    given
        The loss, if it is a function of the user; None otherwise.
    """
    name, levels = written["name"], written["levels"]
    if bool(written["own"]) != (given is not None):
        raise ValueError(
            f"its loss {name!r} was a function of your own: pass it as loss"
            if given is None
            else f"its loss {name!r} is one of the package: do not pass a loss"
        )
    if given is not None:
        return given
    if name not in LOSSES:
        raise ValueError(f"its loss {name!r} must be one of {', '.join(LOSSES)}")
    return LOSSES[name](levels) if levels else LOSSES[name]()
