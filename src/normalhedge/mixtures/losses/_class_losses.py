"""What losses of class probabilities have in common that look at the class of the outcome alone."""

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import CLASSES
from normalhedge.mixtures.losses._loss import Loss, Parts


class ClassLoss(Loss):
    """A loss of the probability that was given to the class that happened."""

    forecasts = CLASSES

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        """Return the probability of the outcome's class."""
        del items
        said = table[np.arange(len(table)), outcomes.astype(int)][:, np.newaxis]
        zeros = np.zeros(said.shape[:2])
        return Parts(said, zeros, zeros, zeros)

    def gradient_of(
        self, forecasts: Floats, outcomes: Floats, items: np.ndarray | None = None
    ) -> Floats:
        """Return the derivative by the probability of the outcome's class; 0 by the others."""
        slopes = np.zeros_like(forecasts)
        classes = np.broadcast_to(outcomes, len(forecasts)).astype(int)
        slopes[np.arange(len(slopes)), classes] = super().gradient_of(forecasts, outcomes, items)[
            :, 0
        ]
        return slopes
