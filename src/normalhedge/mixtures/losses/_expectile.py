"""The asymmetric square loss, whose best constant forecast is an expectile."""

from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Loss


@dataclass(frozen=True)
class Expectile(Loss):
    """level (x - y)^2 where x < y, else (1 - level) (x - y)^2.

    Level 0.5 is half of the square loss. A higher level makes it dearer to forecast too little.

    Parameters
    ----------
    level
        A number strictly between 0 and 1.

    References
    ----------
    Newey and Powell, "Asymmetric least squares estimation and testing" (1987).
    """

    level: float = 0.5

    name = kind = "expectile"
    convex = of_errors = True

    def __post_init__(self) -> None:
        """Check the setting."""
        object.__setattr__(self, "level", inputs.number("level", self.level, 0.0, 1.0))

    @property
    def settings(self) -> tuple[float, ...]:
        """The level."""
        return (self.level,)

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the square of the error, by the side on which it is."""
        return np.where(x > y, 1.0 - setting, setting) * np.square(x - y)

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return twice the error, by the side on which it is."""
        return 2.0 * np.where(x > y, 1.0 - setting, setting) * (x - y)
