r"""The empirical likelihood of the mean of importance-weighted gains.

.. math::

    R(v) = \sup_{\gamma, \tau} \sum_t \ln(1 + \gamma (w_t - 1) + \tau (w_t g_t - v))

is the logarithm of the largest likelihood of any distribution of (w, g), less the one of the
distributions with mean weight one and mean weighted gain v. The logarithm must exist at the corners
of the possible values: w = 0, and w at its largest with g = 0 or 1.
"""

import math
from collections.abc import Callable

import numpy as np

from normalhedge.boundary.inputs import Floats

BARRIER = 1e-3
"""The number of gains that each corner counts as, so that the logarithms there exist."""

STEPS = 60


def likely_means(weights: Floats, gains: Floats, most: float) -> tuple[float, float]:
    """Return the ends of the interval of v in [0, 1] with R(v) - min R at most `most`.

    Parameters
    ----------
    weights
        The importance weights, whose mean should be one.
    gains
        The gains, in [0, 1].
    most
        The largest difference; half the quantile of chi-squared.
    """
    if not weights.any():
        return 0.0, 1.0
    rows, repeats = np.unique(np.stack([weights, weights * gains], 1), axis=0, return_counts=True)
    largest = max(float(weights.max()), 1.0 + 1e-9)
    corners = np.array([[0.0, 0.0], [largest, 0.0], [largest, largest]])
    rows = np.concatenate([rows, corners])
    counts = np.concatenate([repeats, np.full(3, BARRIER)])

    def ratio(v: float) -> float:
        return _largest(rows - [1.0, v], counts)

    tilt = _tilt(rows[:, :1] - 1.0, counts)
    masses = counts / (1.0 + (rows[:, :1] - 1.0) @ tilt)
    best = float(masses @ rows[:, 1] / masses.sum())
    limit = _largest(rows[:, :1] - 1.0, counts) + most
    return _end(ratio, best, 0.0, limit), _end(ratio, best, 1.0, limit)


def _end(ratio: Callable[[float], float], inside: float, outside: float, limit: float) -> float:
    """Return where the ratio exceeds its limit, between two means."""
    if ratio(abs(outside - 1e-9)) <= limit:  # at the end itself the ratio may be infinite
        return outside
    for _ in range(30):
        middle = 0.5 * (inside + outside)
        if ratio(middle) <= limit:
            inside = middle
        else:
            outside = middle
    return inside


def _largest(moments: Floats, counts: Floats) -> float:
    """Return the largest sum of counts times ln(1 + theta . moments)."""
    return float(counts @ np.log1p(moments @ _tilt(moments, counts)))


def _tilt(moments: Floats, counts: Floats) -> Floats:
    """Return the theta of the largest sum, by Newton's method with halved steps."""
    width = moments.shape[1]
    theta, value = np.zeros(width), 0.0
    for _ in range(STEPS):
        inverse = 1.0 / (1.0 + moments @ theta)
        slope = (counts * inverse) @ moments
        curve = (moments * (counts * inverse**2)[:, np.newaxis]).T @ moments
        ridge = (1e-12 * float(curve.trace()) + 1e-300) * np.eye(width)
        step = np.linalg.solve(curve + ridge, slope)
        size = 1.0
        while size > 1e-10:
            there = moments @ (theta + size * step)
            rise = float(counts @ np.log1p(there)) - value if (there > -1.0).all() else -math.inf
            if rise >= 0.0:
                break
            size *= 0.5
        else:
            break
        theta, value = theta + size * step, value + rise
        if rise < 1e-9:
            break
    return np.asarray(theta)
