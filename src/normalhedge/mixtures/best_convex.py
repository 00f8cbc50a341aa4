"""The fixed convex combination of experts with the least mean loss, chosen in hindsight."""

from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge._inputs import Floats
from normalhedge.mixtures.convex import least_loss

SAMPLE = 1 << 22
"""How many forecasts the weights are fitted to, unless told otherwise; of more some are taken."""


class Convex(NamedTuple):
    """Fixed weights of least mean loss, and how sure that is.

    Attributes
    ----------
    weights
        One for each expert.
    loss
        Their mean loss; NaN where there is no row to go by.
    gap
        By how much, at most, some other weights would be better.
    """

    weights: Floats
    loss: float
    gap: float


def mean_loss(
    values: Floats, outcomes: Floats, items: np.ndarray, levels: Floats, kind: str
) -> float:
    """Return the mean loss of predictions, one for each row, or one for each class of each."""
    losses = np.empty((len(values), 1))
    alone = np.ascontiguousarray(values.reshape(len(values), -1, 1))
    _core.write_loss_table(alone, outcomes, items, levels, kind, "mean", losses)
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
    """Return the fixed weights whose mean of the forecasts has the least mean loss.

    An expert that sleeps is taken to say what even weights over those awake say. So even weights
    and each expert by itself are among the combinations, as they are elsewhere in hindsight, and
    the problem is convex. (Weights that are shared among those awake, as a hedger's are, make one
    that is not.) It is solved, by ``mixtures/interior.py``, until the gap is proved to be less than
    1e-6 of the loss, or 1e-9 of that of the best expert where the least loss is zero; it can be
    larger only where an expert is off by 1e9 times as much as another. Of more forecasts than
    ``sample`` some are taken, but for the square loss; the loss and the gap are those of all.

    Parameters
    ----------
    forecasts, outcomes
        Rows x classes x experts, and of each row; NaN where missing.
    items, levels, kind
        The item of each row, the levels of the pinball loss, and what the core calls the loss.
    way
        How even weights combine those awake.
    sample
        How many forecasts the weights are fitted to; four million unless told otherwise.
    """
    n = forecasts.shape[2]
    said = np.empty((len(outcomes), n))
    _core.fill_sleepers(forecasts, outcomes, items, levels, kind, way, said)
    known = ~np.isnan(said[:, 0])
    said, outcomes, items = said[known], outcomes[known], items[known]
    if not len(said):
        return Convex(np.full(n, 1.0 / n), np.nan, np.nan)
    level = levels[items % len(levels)]
    weights, bound = least_loss(
        said, outcomes, level, kind, max(said.size // (sample or SAMPLE), 1)
    )
    loss = mean_loss(said @ weights, outcomes, items, levels, kind)
    return Convex(weights, loss, max(loss - bound, 0.0))
