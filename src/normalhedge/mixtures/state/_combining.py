"""Combine forecasts by their weights into one prediction, always within the range of the forecasts.

    mean      sum_i q_i x_i
    median    the weighted median: half of the weight on either side; midway where it is a tie
    vote      the label with the largest total weight: labels have no middle

One wild forecast makes the mean wild. The median stays sensible as long as wild forecasts have less
than half of the weight. The core computes all three (``src/core/combining.hpp``).
"""

import numpy as np
import numpy.typing as npt

from normalhedge import _core

WAYS = ("mean", "median", "vote")
"""Every way to combine forecasts, by name."""


def combine(forecasts: npt.ArrayLike, weights: npt.ArrayLike, way: str = "mean") -> float:
    """Combine forecasts by their weights; return NaN if no expert has any weight.

    Examples
    --------
    >>> combine([1.0, 2.0, 1000.0], [0.5, 0.3, 0.2], "median")
    1.5
    """
    values = np.ascontiguousarray(forecasts, dtype=np.float64)
    shares = np.ascontiguousarray(weights, dtype=np.float64)
    return _core.combine(values, shares, way)
