"""Forecasts and weights -> one prediction, always inside the hull of the forecasts heard.

    mean      sum_i q_i x_i
    median    the weighted median: half of the weight on either side; midway where it is a tie
    vote      the forecast with the largest weight: for labels, which have no middle

A mean of wild forecasts is wild. The median is not, as long as the wild ones have less than half of
the weight. The core computes them (``src/core/combining.hpp``).
"""

import numpy as np
import numpy.typing as npt

from normalhedge import _core

WAYS = ("mean", "median", "vote")
"""Every way to combine forecasts, by name."""


def combine(forecasts: npt.ArrayLike, weights: npt.ArrayLike, way: str = "mean") -> float:
    """Return the combination of the forecasts with weight; NaN where none has any.

    Parameters
    ----------
    forecasts, weights
        A number for each expert; what an expert without weight says is not looked at.
    way
        One of `WAYS`.

    Examples
    --------
    >>> combine([1.0, 2.0, 1000.0], [0.5, 0.3, 0.2], "median")
    1.5
    """
    values = np.ascontiguousarray(forecasts, dtype=np.float64)
    shares = np.ascontiguousarray(weights, dtype=np.float64)
    return _core.combine(values, shares, way)
