"""The L1 loss of class probabilities."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._class_losses import ClassLoss


@dataclass(frozen=True)
class L1(ClassLoss):
    """1 - p_y: half the L1 distance of p to the outcome; Section 5 of the paper."""

    name = kind = "l1"
    width = 1.0
    convex = linear = True

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return what is missing to one."""
        del y, setting
        return 1.0 - x

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return -1."""
        del y, setting
        return np.full_like(x, -1.0)
