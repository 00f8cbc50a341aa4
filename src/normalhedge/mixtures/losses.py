"""Losses: what a forecast costs once the outcome is known.

Of a forecast x, or of class probabilities p, when the outcome is y:

    square      (x - y)^2
    absolute    |x - y|
    pinball     level (y - x) where x < y, else (1 - level) (x - y)
    log         -ln max(p_y, 1e-6)       clipped: one confident error cannot cost more than 13.8
    l1          1 - p_y                  half the L1 distance of p to the outcome; Section 5
    zero-one    1 where x, or the most probable class, is not y; else 0

Gains, which hedgers live on, are made of losses in `normalhedge.mixtures._play`, and nowhere else.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel

SQUARE, ABSOLUTE, PINBALL, LOG, L1, ZERO_ONE, OWN = range(7)

LEAST_PROBABILITY = 1e-6
"""A probability below this costs as much as this, in the log loss."""

LossFunction = Callable[[Floats, float], Floats]
"""Forecasts (one for each expert, or experts x classes) and an outcome in, losses out."""


@dataclass(frozen=True)
class Loss:
    """A loss, by what it is called and what the kernels need of it.

    Attributes
    ----------
    name
        What it is called.
    code
        What the kernels call it.
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
    code: int = OWN
    of_classes: bool = False
    width: float = 0.0
    levels: tuple[float, ...] = ()
    function: LossFunction | None = field(default=None, compare=False)
    slope: Callable[[float, float], float] | None = field(default=None, compare=False)

    @property
    def median(self) -> bool:
        """Whether forecasts are combined by their median unless told otherwise."""
        return self.code in {ABSOLUTE, PINBALL}

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
    return Loss("pinball", PINBALL, levels=levels)


LOSSES: dict[str, Callable[..., Loss]] = {
    "absolute": lambda: Loss("absolute", ABSOLUTE),
    "square": lambda: Loss("square", SQUARE),
    "pinball": pinball,
    "l1": lambda: Loss("l1", L1, of_classes=True, width=1.0),
    "log": lambda: Loss("log", LOG, of_classes=True),
    "zero-one": lambda: Loss("zero-one", ZERO_ONE, width=1.0),
    "zero-one-classes": lambda: Loss("zero-one-classes", ZERO_ONE, of_classes=True, width=1.0),
}
"""Every loss by the name it has on the command line."""


@kernel(VECTOR, inline=False)
def write_losses(  # noqa: C901, PLR0912 -- one branch for each loss
    forecasts: Floats, outcome: float, code: int, level: float, losses: Floats
) -> None:
    """Write the loss of each expert; ``forecasts`` is classes (one where there are none) x experts.

    The losses of experts that sleep are whatever comes out of their forecasts.
    """
    n = losses.size
    if code == SQUARE:
        for i in range(n):
            losses[i] = (forecasts[0, i] - outcome) * (forecasts[0, i] - outcome)
    elif code == ABSOLUTE:
        for i in range(n):
            losses[i] = abs(forecasts[0, i] - outcome)
    elif code == PINBALL:
        for i in range(n):
            over = forecasts[0, i] - outcome
            losses[i] = (1.0 - level) * over if over > 0.0 else -level * over
    elif code == LOG:
        for i in range(n):
            losses[i] = -math.log(max(forecasts[int(outcome), i], LEAST_PROBABILITY))
    elif code == L1:
        for i in range(n):
            losses[i] = 1.0 - forecasts[int(outcome), i]
    elif len(forecasts) == 1:
        for i in range(n):
            losses[i] = 0.0 if forecasts[0, i] == outcome else 1.0
    else:
        for i in range(n):
            losses[i] = 0.0 if np.argmax(forecasts[:, i]) == int(outcome) else 1.0


@kernel(STRICT)
def loss_of(value: Floats, outcome: float, code: int, level: float) -> float:
    """Return the loss of one prediction; ``value`` has a number for each class."""
    x = value[0]
    if code == SQUARE:
        return float((x - outcome) * (x - outcome))
    if code == ABSOLUTE:
        return float(abs(x - outcome))
    if code == PINBALL:
        return float((1.0 - level) * (x - outcome) if x > outcome else level * (outcome - x))
    if code == LOG:
        return -math.log(max(value[int(outcome)], LEAST_PROBABILITY))
    if code == L1:
        return float(1.0 - value[int(outcome)])
    right = x == outcome if value.size == 1 else np.argmax(value) == int(outcome)
    return 0.0 if right else 1.0


@kernel(STRICT)
def slope_at(prediction: float, outcome: float, code: int, level: float) -> float:
    """Return the derivative of the loss at a prediction (of the outcome's class, for classes)."""
    if code == SQUARE:
        return 2.0 * (prediction - outcome)
    if code == ABSOLUTE:
        return float(np.sign(prediction - outcome))
    if code == PINBALL:
        if prediction > outcome:
            return 1.0 - level
        return -level if prediction < outcome else 0.0
    if code == LOG:
        return -1.0 / max(prediction, LEAST_PROBABILITY)
    return -1.0
