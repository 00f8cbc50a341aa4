"""The zero-one loss of labels and of classes."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._class_losses import ClassLoss
from normalhedge.mixtures.losses._forecast_kinds import LABELS
from normalhedge.mixtures.losses._loss import Loss


@dataclass(frozen=True)
class ZeroOne(Loss):
    """1 where x is not y, else 0; x and y are labels."""

    name = kind = "zero-one"
    forecasts = LABELS
    width = 1.0
    continuous = False
    combine = "vote"
    prior = (("vote", 1.0),)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Tell which labels are wrong."""
        del setting
        return np.not_equal(x, y).astype(float)


@dataclass(frozen=True)
class ZeroOneClasses(ClassLoss):
    """1 where the most probable class, the first of those that tie, is not y; else 0."""

    name = "zero-one-classes"
    kind = "zero-one"
    width = 1.0
    continuous = False

    def value(self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None) -> Floats:
        """Return the loss of each forecast, in Python."""
        del items
        return np.asarray(forecasts.argmax(axis=1) != outcomes, dtype=float)
