"""Losses: what a forecast costs once the outcome is known.

Of a forecast x, or of class probabilities p, when the outcome is y:

    square      (x - y)^2
    absolute    |x - y|
    pinball     level (y - x) where x < y, else (1 - level) (x - y)
    log         -ln max(p_y, 1e-6)       clipped: one confident error cannot cost more than 13.8
    l1          1 - p_y                  half the L1 distance of p to the outcome; Section 5
    log-wealth  -ln max(x / y, 1e-6)     of price relatives x; y is a benchmark's, or 1
    zero-one    1 where x, or the most probable class, is not y; else 0

The log wealth is for portfolios. An expert is an asset, or a portfolio of its own, and says by
what its price was multiplied: x = 1.02 is a gain of 2 %. The weighted mean of price relatives is
that of the portfolio with these weights, bought anew each round, so its wealth is
``exp(-sum of losses)`` times that of the benchmark, or of cash where y is 1. A relative at or below
zero, a ruin, costs 13.8. Relatives are known only after the round, weights before it:
`Mixture.next_weights` says what to buy.

The core computes them, as one table (``src/core/losses.hpp``). Gains, which hedgers live on, are
made of losses in ``src/core/mixture.hpp``, and nowhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from normalhedge import _inputs
from normalhedge._inputs import Floats

LossFunction = Callable[[Floats, float], Floats]
"""Forecasts (one for each expert, or experts x classes) and an outcome in, losses out."""


@dataclass(frozen=True)
class Loss:
    """A loss, by what it is called and what the core needs of it.

    Attributes
    ----------
    name
        What it is called.
    kind
        What the core calls it; none for one of your own.
    of_classes
        Whether forecasts are class probabilities and outcomes classes 0, 1, ...
    width
        The largest difference of two losses, where it is known beforehand; else 0: it is learned.
    levels
        The levels of the pinball loss: one, or one for each component of a vector.
    function
        Your own: see `LossFunction`.
    slope
        The derivative of your own at a prediction, ``slope(prediction, outcome)``; only the
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
        """Whether forecasts are combined by their median unless told otherwise."""
        return self.kind in {"absolute", "pinball"}

    @property
    def of_labels(self) -> bool:
        """Whether forecasts are labels, which have no middle."""
        return self.kind == "zero-one" and not self.of_classes

    @property
    def differentiable(self) -> bool:
        """Whether it has a slope to go by."""
        return self.slope is not None if self.kind is None else self.kind != "zero-one"

    @property
    def of_wealth(self) -> bool:
        """Whether forecasts and outcomes are price relatives."""
        return self.kind == "log-wealth"

    @property
    def linear(self) -> bool:
        """Whether the loss of a mean is the mean of the losses."""
        return self.kind == "l1"

    def __str__(self) -> str:
        """Return the name, and the levels where there are any."""
        return self.name + "".join(f":level={level:g}" for level in self.levels[:1])


def pinball(level: float | Sequence[float] = 0.5) -> Loss:
    """Return the loss whose best constant forecast is the quantile of this level.

    Parameters
    ----------
    level
        Strictly between 0 and 1; or one for each component of vectors of quantiles.
    """
    given = [level] if isinstance(level, int | float) else list(level)
    if not given:
        raise ValueError("level must be a number or one number for each component, got none")
    levels = tuple(_inputs.number("level", one, 0.0, 1.0) for one in given)
    return Loss("pinball", "pinball", levels=levels)


LOSSES: dict[str, Callable[..., Loss]] = {
    "absolute": lambda: Loss("absolute", "absolute"),
    "square": lambda: Loss("square", "square"),
    "pinball": pinball,
    "l1": lambda: Loss("l1", "l1", of_classes=True, width=1.0),
    "log": lambda: Loss("log", "log", of_classes=True),
    "log-wealth": lambda: Loss("log-wealth", "log-wealth"),
    "zero-one": lambda: Loss("zero-one", "zero-one", width=1.0),
    "zero-one-classes": lambda: Loss("zero-one-classes", "zero-one", of_classes=True, width=1.0),
}
"""Every loss by the name it has on the command line."""
