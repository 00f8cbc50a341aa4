"""The square loss."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Loss


@dataclass(frozen=True)
class Square(Loss):
    """(x - y)^2. Its best constant forecast is the mean."""

    name = kind = "square"
    convex = of_errors = quadratic = True
    score = "RMSE"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the square of the error."""
        del setting
        return np.square(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return twice the error."""
        del setting
        return 2.0 * (x - y)
