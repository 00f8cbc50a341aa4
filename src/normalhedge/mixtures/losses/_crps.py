"""The loss of quantile forecasts at several levels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses._forecast_kinds import QUANTILES
from normalhedge.mixtures.losses._loss import Parts, exactly
from normalhedge.mixtures.losses._pinball import Pinball, as_number

FEW = 5
"""The largest number of levels that `Crps.brief` lists."""


@dataclass(frozen=True)
class Crps(Pinball):
    """Twice the pinball loss, its mean over the levels: see `crps`."""

    name = kind = "crps"
    forecasts = QUANTILES
    combine = "mean"

    def parts(self, table: Floats, outcomes: Floats, items: np.ndarray) -> Parts:
        """Return a number for each level."""
        del items
        y = np.broadcast_to(outcomes[:, np.newaxis], table.shape[:2])
        return self._numbers(table, y, np.broadcast_to(self.levels, y.shape), 2.0)

    @property
    def brief(self) -> str:
        """The name, and the levels where there are few of them."""
        if len(self.levels) <= FEW:
            return str(self)
        low, high = self.levels[0], self.levels[-1]
        return f"{self.name}, {len(self.levels)} levels from {low:g} to {high:g}"

    def __str__(self) -> str:
        """Return the name and the levels."""
        return f"{self.name}:levels={'/'.join(map(exactly, self.levels))}"


def crps(levels: str | float | Sequence[float]) -> Crps:
    r"""Return the loss of quantile forecasts: twice the pinball loss, its mean over the levels.

    .. math::

        \frac1L \sum_{l=1}^{L} 2 \left(1[y < x_l] - \tau_l\right) (x_l - y)

    If the levels are symmetric and include 0.5, this is the weighted interval score (WIS) of
    forecast hubs. It tends to the continuous ranked probability score (CRPS) as the levels become
    dense. Each forecast is a sequence with a quantile for each level, or a mapping of levels to
    quantiles; quantiles that cross are sorted, which never increases the loss.

    Parameters
    ----------
    levels
        Numbers strictly between 0 and 1 that rise; or a text of them, as in ``"0.1/0.5/0.9"``.

    Examples
    --------
    >>> str(crps([0.1, 0.5, 0.9]))
    'crps:levels=0.1/0.5/0.9'
    """
    given = levels.split("/") if isinstance(levels, str) else levels
    if not isinstance(given, int | float | Iterable):
        raise TypeError(f"levels must be numbers, as in [0.1, 0.5, 0.9], got {given!r}")
    parts = [given] if isinstance(given, int | float) else list(given)
    if not parts:
        raise ValueError("levels must be numbers between 0 and 1, got none")
    found = tuple(inputs.number("level", as_number(one), 0.0, 1.0) for one in parts)
    for low, high in pairwise(found):
        if not low < high:
            raise ValueError(f"levels must rise, got {low:g} before {high:g}")
    return Crps(found)
