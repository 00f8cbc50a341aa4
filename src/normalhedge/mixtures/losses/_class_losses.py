# ruff: noqa: ARG002  (all losses have one signature; few need the outcome and the setting)
"""Losses of class probabilities."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import CLASSES
from normalhedge.mixtures.losses._loss import FLOOR, Loss, Parts
from normalhedge.mixtures.losses._number_losses import Square


@dataclass(frozen=True)
class Brier(Square):
    """sum_c (p_c - [c = y])^2, between 0 and 2: the square loss of all class probabilities.

    It is the score as Brier defined it. For two classes it is twice the square error of the
    probability of one class. Its tangents are steeper than its range tells: the range is learned.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability" (1950).
    """

    name = kind = "brier"
    forecasts = CLASSES
    score = ""

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        classes = table.shape[1]
        happened = (np.arange(classes) == outcomes[:, np.newaxis]).astype(float)
        return self._numbers(table, happened, np.zeros_like(happened), float(classes))


class ClassLoss(Loss):
    """A loss of the probability that was given to the class that happened."""

    forecasts = CLASSES

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        numbers = table[np.arange(len(table)), outcomes.astype(int)][:, np.newaxis]
        zeros = np.zeros(numbers.shape[:2])
        return Parts(numbers, zeros, zeros, zeros)

    def gradient_of(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None
    ) -> Floats:
        slopes = np.zeros_like(forecasts)
        classes = np.broadcast_to(outcomes, len(forecasts)).astype(int)
        by_outcome = super().gradient_of(forecasts, outcomes, items)[:, 0]
        slopes[np.arange(len(slopes)), classes] = by_outcome
        return slopes


@dataclass(frozen=True)
class Log(ClassLoss):
    """-ln max(p_y, 1e-6); convex where it is not clipped."""

    name = kind = "log"
    convex_in_part = True
    # The logarithm punishes small probabilities, which medians make smaller.
    prior = (("median", 0.05), ("trimmed mean", 0.05), ("mean", 0.9))

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        parts = super().parts(table, outcomes, items)
        return parts._replace(numbers=np.maximum(parts.numbers, FLOOR))

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return -np.log(np.maximum(x, FLOOR))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return -1.0 / np.maximum(x, FLOOR)


@dataclass(frozen=True)
class L1(ClassLoss):
    """1 - p_y: half the L1 distance of p to the outcome; Section 5 of the paper."""

    name = kind = "l1"
    width = 1.0
    convex = linear = True

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return 1.0 - x

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        return np.full_like(x, -1.0)


@dataclass(frozen=True)
class ZeroOneClasses(ClassLoss):
    """1 where the most probable class, the first if several tie, is not y; else 0."""

    name = "zero-one-classes"
    kind = "zero-one"
    width = 1.0
    continuous = False

    def value(self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None) -> Floats:
        return np.asarray(forecasts.argmax(axis=1) != outcomes, dtype=float)
