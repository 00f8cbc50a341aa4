"""The Brier score of class probabilities."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import CLASSES
from normalhedge.mixtures.losses._loss import Parts
from normalhedge.mixtures.losses._square import Square


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
        """Return the probabilities of all classes; the outcome is 1 for one of them."""
        del items
        classes = table.shape[1]
        happened = (np.arange(classes) == outcomes[:, np.newaxis]).astype(float)
        return self._numbers(table, happened, np.zeros_like(happened), float(classes))
