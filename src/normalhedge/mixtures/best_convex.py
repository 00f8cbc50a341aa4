"""The fixed convex combination of experts with the least mean loss, chosen in hindsight."""

from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge._inputs import LARGEST, Floats
from normalhedge.mixtures.convex import least_loss

SAMPLE = 1 << 22
"""The default number of forecasts to which the weights are fitted; larger tables are sampled."""


class Convex(NamedTuple):
    """Fixed weights of least mean loss, with a bound on the error of the search.

    Attributes
    ----------
    weights
        One for each expert.
    loss
        Their mean loss; NaN if no row can be used.
    gap
        An upper bound on how much smaller the loss of other weights could be.
    """

    weights: Floats
    loss: float
    gap: float


def mean_loss(
    values: Floats, outcomes: Floats, items: np.ndarray, levels: Floats, kind: str
) -> float:
    """Return the mean loss of predictions.

    Parameters
    ----------
    values
        The predictions: a number for each row, or one for each class of each row.
    outcomes, items
        The outcome and the item of each row.
    levels, kind
        The levels of the pinball loss, and the name of the loss in the core.
    """
    losses = np.empty((len(values), 1))
    column = np.ascontiguousarray(values.reshape(len(values), -1, 1))
    _core.write_loss_table(column, outcomes, items, levels, kind, "mean", losses)
    return float(losses.mean())


def best_convex(
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    kind: str,
    way: str = "mean",
    sample: int | None = None,
) -> Convex:
    """Return the fixed weights whose weighted mean of the forecasts has the least mean loss.

    The forecast of a sleeping expert is replaced by that of uniform weights over the experts awake.
    So uniform weights and each expert by itself are among the combinations, as for the other
    yardsticks in hindsight, and the problem is convex. (It would not be if the weight of sleeping
    experts went to the others, as it does in a hedger.) ``mixtures/interior.py`` solves it until
    the gap is proved to be less than 1e-6 of the loss, or less than 1e-9 of the loss of the best
    expert if the least loss is zero. The gap can be larger only if the errors of one expert are
    1e9 times those of another. A table of more than ``sample`` forecasts is sampled, except for the
    square loss; the loss and the gap are always those of the whole table.

    Parameters
    ----------
    forecasts
        Rows x classes x experts; NaN where an expert sleeps.
    outcomes
        The outcome of each row; NaN if unknown.
    items, levels, kind
        The item of each row, the levels of the pinball or crps loss, and the name of the loss in
        the core.
    way
        How uniform weights combine the forecasts of the experts awake.
    sample
        The number of forecasts to which the weights are fitted; None for about four million.
    """
    if kind == "crps":
        found = best_convex(*_by_level(forecasts, outcomes, levels), levels, "pinball", way, sample)
        return Convex(found.weights, 2.0 * found.loss, 2.0 * found.gap)
    n = forecasts.shape[2]
    filled = np.empty((len(outcomes), n))
    _core.fill_sleepers(forecasts, outcomes, items, levels, kind, way, filled)
    known = ~np.isnan(filled[:, 0])
    filled, outcomes, items = filled[known], outcomes[known], items[known]
    if not len(filled):
        return Convex(np.full(n, 1.0 / n), np.nan, np.nan)
    level = levels[items % len(levels)]
    weights, bound = least_loss(
        filled, outcomes, level, kind, max(filled.size // (sample or SAMPLE), 1)
    )
    loss = mean_loss(filled @ weights, outcomes, items, levels, kind)
    return Convex(weights, loss, max(loss - bound, 0.0))


def _by_level(
    forecasts: Floats, outcomes: Floats, levels: Floats
) -> tuple[Floats, Floats, np.ndarray]:
    """Return quantiles as rows of one number each; the items are the levels.

    Rows of one level stand together, so that every sample has rows of all levels.
    """
    rows, count, n = forecasts.shape
    asleep = ~(np.abs(forecasts) < LARGEST).all(axis=1, keepdims=True)
    numbers = np.where(asleep, np.nan, forecasts).swapaxes(0, 1).reshape(rows * count, 1, n)
    items = np.repeat(np.arange(len(levels), dtype=np.int32), rows)
    return np.ascontiguousarray(numbers), np.tile(outcomes, count), items
