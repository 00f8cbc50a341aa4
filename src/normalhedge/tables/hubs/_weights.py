"""Weights of a hub's models with a cap on the largest, and forecasts combined by them."""

import numpy as np

from normalhedge.boundary.inputs import Floats

FAR = 10.0
"""A forecast is absurd if it lies this many times as far from the median as the others do."""


def capped(weights: Floats, awake: np.ndarray, cap: float) -> Floats:
    r"""Return weights of which none exceeds a cap.

    The excess goes to the other models awake, in proportion to their weights:

    .. math::

        w'_i = \min(c, \lambda w_i), \qquad \sum_i w'_i = 1, \qquad c = \max(\text{cap}, 1 / N)

    where N models are awake. If the other models have no weight, they share the excess evenly.

    Parameters
    ----------
    weights
        Weights that sum to one, zero for models asleep.
    awake
        Which models are awake.
    cap
        The cap.

    Examples
    --------
    >>> capped(np.array([0.7, 0.2, 0.1, 0.0]), np.array([True, True, True, False]), 0.5).round(3)
    array([0.5  , 0.333, 0.167, 0.   ])
    """
    count = int(awake.sum())
    if not count:
        return weights.copy()
    limit = max(cap, 1.0 / count)
    order = np.flatnonzero(awake)[np.argsort(-weights[awake], kind="stable")]
    sorted_ = weights[order]
    rest = np.append(np.cumsum(sorted_[::-1])[::-1], 0.0)
    result = np.zeros_like(weights)
    for full in range(count + 1):  # the number of models at the cap
        left = max(1.0 - full * limit, 0.0)
        if rest[full] > 0.0:
            shares = sorted_[full:] * (left / rest[full])
        else:
            shares = np.full(count - full, left / max(count - full, 1))
        if (shares <= limit * (1.0 + 1e-12)).all():
            result[order] = np.concatenate([np.full(full, limit), np.minimum(shares, limit)])
            break
    return result


def combine(forecasts: Floats, weights: Floats, *, guard: bool = True) -> Floats:
    """Return the weighted means of forecasts, with absurd ones moved nearer to the others.

    With m the median of the models awake, and d the median of their distances to it, at the level
    where that is largest, forecasts are moved to within m - 10 d and m + 10 d.
    """
    awake = ~np.isnan(forecasts)
    near = _clip(forecasts, awake) if guard else forecasts
    shares = np.where(awake, weights[:, np.newaxis, :], 0.0)
    total = shares.sum(axis=2, keepdims=True)
    even = awake / np.maximum(awake.sum(axis=2, keepdims=True), 1)
    shares = np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), even)
    means = np.where(awake, shares * np.where(awake, near, 0.0), 0.0).sum(axis=2)
    return np.asarray(np.where(awake.any(axis=2), means, np.nan))


def _clip(forecasts: Floats, awake: np.ndarray) -> Floats:
    """Clip absurd forecasts to the range of the others, where three are awake."""
    result = forecasts.copy()
    enough = awake.sum(axis=2) >= 3
    middle, spread = np.full(enough.shape, np.nan), np.full(enough.shape, np.nan)
    middle[enough] = np.nanmedian(forecasts[enough], axis=1)
    distances = np.abs(forecasts[enough] - middle[enough][:, np.newaxis])
    spread[enough] = np.nanmedian(distances, axis=1)
    room = FAR * np.broadcast_to(np.fmax.reduce(spread, axis=1)[:, np.newaxis], enough.shape)
    low, high = (middle - room)[enough][:, np.newaxis], (middle + room)[enough][:, np.newaxis]
    result[enough] = np.clip(forecasts[enough], low, high)
    return result
