"""Losses: the cost of a forecast once the outcome is known.

The loss of a forecast x, or of class probabilities p, if the outcome is y:

    square      (x - y)^2
    absolute    |x - y|
    pinball     level (y - x) where x < y, else (1 - level) (x - y)
    huber       (x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2)
    expectile   level (x - y)^2 where x < y, else (1 - level) (x - y)^2
    mape        |x - y| / |y|            an outcome of 0 is refused
    smape       2 |x - y| / (|x| + |y|)  0 where both are 0
    crps        the mean over levels of 2 pinball(x_level, y); x has a quantile for each level
    log         -ln max(p_y, 1e-6)       clipped: one confident error cannot cost more than 13.8
    l1          1 - p_y                  half the L1 distance of p to the outcome; Section 5
    brier       sum_c (p_c - [c = y])^2
    log-wealth  -ln max(x / y, 1e-6)     x is a price relative, y a benchmark's, or 1
    zero-one    1 where x, or the most probable class, is not y; else 0

Each loss is a class with its values and slopes, its kind of forecasts, its range, whether it is
convex, how forecasts are combined by default and which plain combinations to compare a blend with.
No other module depends on a particular loss. `normalhedge.checks.check_loss` checks these facts.

The core computes the losses. Hedgers learn from gains, which it makes of losses in one place.
"""

from collections.abc import Callable, Mapping
from typing import Any

from normalhedge.boundary import specs
from normalhedge.mixtures.losses._class_losses import L1, Brier, Log, ZeroOneClasses
from normalhedge.mixtures.losses._forecast_kinds import (
    CLASSES as CLASSES,
    LABELS as LABELS,
    NUMBERS as NUMBERS,
    PLAIN_MEAN as PLAIN_MEAN,
    PLAIN_MEDIAN as PLAIN_MEDIAN,
    PLAIN_VOTE as PLAIN_VOTE,
    QUANTILES as QUANTILES,
    WEALTH as WEALTH,
)
from normalhedge.mixtures.losses._loss import Kink, Loss, LossFunction, OwnLoss
from normalhedge.mixtures.losses._number_losses import (
    Absolute,
    Crps,
    Expectile,
    Huber,
    LogWealth,
    Mape,
    Pinball,
    Smape,
    Square,
    ZeroOne,
    crps,
    pinball,
)

__all__ = [
    "L1",
    "LOSSES",
    "Absolute",
    "Brier",
    "Crps",
    "Expectile",
    "Huber",
    "Kink",
    "Log",
    "LogWealth",
    "Loss",
    "LossFunction",
    "Mape",
    "OwnLoss",
    "Pinball",
    "Smape",
    "Square",
    "ZeroOne",
    "ZeroOneClasses",
    "crps",
    "loss_of",
    "pinball",
    "restored_loss",
]

LOSSES: dict[str, Callable[..., Loss]] = {
    "absolute": Absolute,
    "square": Square,
    "pinball": pinball,
    "huber": Huber,
    "expectile": Expectile,
    "mape": Mape,
    "smape": Smape,
    "crps": crps,
    "l1": L1,
    "log": Log,
    "brier": Brier,
    "log-wealth": LogWealth,
    "zero-one": ZeroOne,
    "zero-one-classes": ZeroOneClasses,
}
"""Every loss by its name on the command line."""

CLASS_LOSS = "brier"
"""The loss of class probabilities if none is named. It is proper: no expert gains by saying what it
does not believe. It is bounded and convex: one certain error does not decide for long, and the
bound of the default blend has no gap."""

SCORES = {"mae": "absolute", "mse": "square", "rmse": "square"}
"""Names of scores that people know, and the losses that they are means of."""


def loss_of(given: str | Loss | LossFunction) -> Loss:
    """Return a loss, given itself, by its name or as a function of your own.

    Parameters
    ----------
    given
        A loss; a text such as ``"huber:delta=2"``, which ``str(loss)`` returns; or a function.

    Examples
    --------
    >>> loss_of("huber:delta=2")
    Huber(delta=2.0)
    >>> loss_of(str(crps([0.1, 0.9]))) == crps([0.1, 0.9])
    True
    """
    if isinstance(given, Loss):
        if given.own and (given.function is None or given.of_classes):
            raise ValueError("a loss of your own needs a function of numbers, not of classes")
        return given
    if isinstance(given, str):
        return specs.make("loss", SCORES.get(given.lower(), given), LOSSES)
    if not callable(given):
        raise TypeError(f"loss must be a name, a Loss or a function, got {type(given).__name__}")
    return Loss(getattr(given, "__name__", "own"), function=given)


def restored_loss(written: Mapping[str, Any], given: Loss | LossFunction | None) -> Any:
    """Return the loss that a file names.

    Parameters
    ----------
    written
        The result of `Loss.to_plain`.
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
    if levels:
        return LOSSES[name](levels)
    return LOSSES[name](**written.get("settings", {}))
