"""The Huber loss."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Kink, Loss


@dataclass(frozen=True)
class Huber(Loss):
    """``(x - y)^2 / 2`` where ``|x - y| < delta``, else ``delta (|x - y| - delta / 2)``.

    It counts small errors as the square loss does, and large ones as the absolute loss does.

    Parameters
    ----------
    delta
        The error from which on the loss is linear, in units of the outcomes; more than 0.

    References
    ----------
    Huber, "Robust estimation of a location parameter" (1964).
    """

    delta: float = 1.0

    name = kind = "huber"
    convex = of_errors = True

    def __post_init__(self) -> None:
        """Check the setting."""
        object.__setattr__(self, "delta", inputs.number("delta", self.delta, 0.0))

    @property
    def settings(self) -> tuple[float, ...]:
        """Delta."""
        return (self.delta,)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the Huber loss."""
        far = np.abs(x - y)
        return np.where(far < setting, 0.5 * np.square(far), setting * (far - 0.5 * setting))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the error, at most delta in size."""
        return np.clip(x - y, -setting, setting)

    def kink(self, y: Floats, setting: Floats) -> Kink:
        """Return slopes of delta, and a round kink."""
        del y
        return Kink(setting, setting, soft=1.0)
