"""Percentage errors, as shares: 0.1 is 10 %."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Kink, Loss


@dataclass(frozen=True)
class Mape(Loss):
    """``|x - y| / |y|``; its mean is the mean absolute percentage error, divided by 100.

    An outcome of 0 has no percentage errors, and is refused. Small outcomes count much, so that
    forecasts which are too small are cheaper than ones which are too large.
    """

    name = kind = "mape"
    convex = True
    combine = "median"
    outcome_must = (
        "not be 0 with the mape loss, which divides by it",
        "not have 0 with the mape loss, which divides by it",
    )

    def takes(self, outcomes: Floats) -> np.ndarray:
        """Tell which outcomes are not 0."""
        return np.asarray(np.not_equal(outcomes, 0.0))

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the error as a share of the outcome."""
        del setting
        return np.abs(x - y) / _size(y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the sign of the error, divided by the outcome."""
        del setting
        return np.sign(x - y) / _size(y)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        """Return the inverse of the outcome, twice."""
        del setting
        return Kink(1.0 / _size(y), 1.0 / _size(y))


def _size(y: Floats) -> Floats:
    return np.maximum(np.abs(y), 1e-100)


@dataclass(frozen=True)
class Smape(Loss):
    """``2 |x - y| / (|x| + |y|)``, and 0 if x = y = 0: the symmetric percentage error, up to 2.

    A forecast on the other side of 0 costs 2, however far away it is. So the loss is not convex:
    by default there is no gradient trick, and no best convex combination to compare with.
    """

    name = kind = "smape"
    width = 2.0
    combine = "median"

    @property
    def gradient(self) -> bool:
        """False: the gradient trick is for convex losses."""
        return False

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the error as a share of the mean size of forecast and outcome."""
        del setting
        return np.asarray(2.0 * np.abs(x - y) / np.maximum(np.abs(x) + np.abs(y), 1e-300))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the derivative, 0 on the other side of 0."""
        del setting
        size = np.maximum(np.abs(x) + np.abs(y), 1e-100)
        steep = np.where(np.sign(x) * np.sign(y) > 0.0, 4.0 * (np.abs(y) / size) / size, 0.0)
        return np.asarray(steep * np.sign(x - y), dtype=np.float64)
