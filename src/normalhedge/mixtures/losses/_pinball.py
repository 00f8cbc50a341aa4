"""The pinball loss of one quantile, or of one quantile for each item."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._loss import Kink, Loss, exactly


@dataclass(frozen=True)
class Pinball(Loss):
    """level (y - x) where x < y, else (1 - level) (x - y).

    Its best constant forecast is the quantile of the level. With several levels, a forecast has
    a number for each, and each of these is an item.
    """

    levels: tuple[float, ...] = (0.5,)

    name = kind = "pinball"
    convex = of_errors = True
    combine = "median"

    def number_loss(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return the pinball loss."""
        return np.maximum((1.0 - setting) * (x - y), -setting * (x - y))

    def number_slope(self, x: Floats, y: Floats, setting: Floats) -> Floats:
        """Return 1 - level above y, and -level below."""
        return np.where(x > y, 1.0 - setting, np.where(x < y, -setting, 0.0))

    def kink(self, y: Floats, setting: Floats) -> Kink:
        """Return the level, and 1 - level."""
        del y
        return Kink(setting, 1.0 - setting)

    def __str__(self) -> str:
        """Return the name and the levels."""
        return f"{self.name}:level={'/'.join(map(exactly, self.levels))}"

    def written_settings(self) -> dict[str, Any]:
        """Return the levels."""
        return {"level": self.levels}


def pinball(level: str | float | Sequence[float] = 0.5) -> Pinball:
    """Return the loss whose best constant forecast is the quantile of this level.

    Parameters
    ----------
    level
        A number strictly between 0 and 1, or one for each component of vectors of quantiles; or a
        text of these, as in ``"0.1/0.9"``.
    """
    given = level.split("/") if isinstance(level, str) else level
    parts = [given] if isinstance(given, int | float) else list(given)
    if not parts:
        raise ValueError("level must be a number or one number for each component, got none")
    return Pinball(tuple(inputs.number("level", as_number(one), 0.0, 1.0) for one in parts))


def as_number(level: object) -> object:
    """Return a level that was given as text as a number."""
    if not isinstance(level, str):
        return level
    try:
        return float(level)
    except ValueError:
        raise ValueError(f"levels must be numbers, as in 0.1/0.5/0.9, got {level!r}") from None
