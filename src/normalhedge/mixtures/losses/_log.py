"""The logarithmic loss of class probabilities."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._class_losses import ClassLoss
from normalhedge.mixtures.losses._loss import Parts

FLOOR = 1e-6
"""Smaller probabilities count as this: one confident error cannot cost more than 13.8."""


@dataclass(frozen=True)
class Log(ClassLoss):
    """-ln max(p_y, 1e-6); convex where it is not clipped.

    The logarithm punishes small probabilities, which medians make smaller: the mean has most of
    the prior.
    """

    name = kind = "log"
    convex_in_part = True
    prior = (("median", 0.05), ("trimmed mean", 0.05), ("mean", 0.9))

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        """Return the probability of the outcome's class, clipped."""
        parts = super().parts(table, outcomes, items)
        return parts._replace(numbers=np.maximum(parts.numbers, FLOOR))

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return minus the logarithm."""
        del y, setting
        return -np.log(np.maximum(x, FLOOR))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return minus the inverse."""
        del y, setting
        return -1.0 / np.maximum(x, FLOOR)
