"""The absolute loss."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Kink, Loss


@dataclass(frozen=True)
class Absolute(Loss):
    """``|x - y|``. Its best constant forecast is the median.

    Its slope is only a sign, and that of the square loss tells more.
    """

    name = kind = "absolute"
    convex = of_errors = True
    combine = "median"
    slope_from = "square"
    score = "MAE"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the size of the error."""
        del setting
        return np.abs(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the sign of the error."""
        del setting
        return np.sign(x - y)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        """Return slopes of one."""
        del setting
        return Kink(np.ones_like(y), np.ones_like(y))
