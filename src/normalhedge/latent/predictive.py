"""The distribution of an observation that is still to come: a mixture over models and states."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.latent import scores
from normalhedge.latent.emissions import Autoregressive, Emission, Gaussian
from normalhedge.latent.emissions.counts import Stepwise

BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class Predictive:
    """A mixture sum_i p_i b_i of distributions of one family or of several.

    Attributes
    ----------
    parts
        For each family the shares of its states, which sum to one over all families, and the
        emission of these states. No parts: nothing is known yet.
    previous
        The last observation, for autoregressive states.
    """

    parts: list[tuple[Floats, Emission]]
    previous: Floats

    def _moments(self) -> tuple[Floats, Floats, Floats]:
        shares, means, variances = [], [], []
        for share, emission in self.parts:
            mean, variance = emission.moments()
            if isinstance(emission, Autoregressive):
                last = self.previous[0]
                mean, variance = emission.means_after(last), emission.variances_after(last)
            shares.append(share)
            means.append(mean.reshape(len(share), -1))
            variances.append(variance.reshape(len(share), -1))
        return np.concatenate(shares), np.concatenate(means), np.concatenate(variances)

    @property
    def mean(self) -> Any:
        """The mean: a number, or an array of one for each column; NaN where nothing is known."""
        if not self.parts:
            return _plain(np.full(len(self.previous), np.nan))
        shares, means, _ = self._moments()
        return _plain(shares @ means)

    @property
    def variance(self) -> Any:
        """The variance, of each column; infinite where nothing is known."""
        if not self.parts:
            return _plain(np.full(len(self.previous), np.inf))
        shares, means, variances = self._moments()
        return _plain(shares @ (variances + np.square(means - shares @ means)))

    def log_density(self, y: npt.ArrayLike) -> float:
        """Return ln p(y); NaN where nothing is known."""
        if not self.parts:
            return float("nan")
        given = np.reshape(_inputs.numbers_array("y", y).astype(np.float64), (1, -1))
        both = np.concatenate([self.previous[np.newaxis], given])
        logs = np.concatenate([emission.log_density(both)[1] for _, emission in self.parts])
        shares = np.concatenate([share for share, _ in self.parts])
        most = logs.max()
        return float(np.log(shares @ np.exp(logs - most)) + most)

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """Return P(y <= x), of one column."""
        places = _inputs.numbers_array("x", x).astype(np.float64)
        total = np.zeros(places.shape) if self.parts else np.full(places.shape, np.nan)
        for share, emission in self.parts:
            if not hasattr(emission, "cdf"):
                raise ValueError("there is a distribution function of one column only")
            given = (
                (places, self.previous[0]) if isinstance(emission, Autoregressive) else (places,)
            )
            total = total + emission.cdf(*given) @ share
        return np.asarray(total)

    def quantile(self, level: float) -> float:
        """Return the least x with P(y <= x) >= level, by bisection."""
        level = _inputs.number("level", level, 0.0, 1.0)
        if not self.parts:
            return float("nan")
        centre, width = float(self.mean), float(np.sqrt(self.variance))
        far = width * (np.sqrt(1.0 / min(level, 1.0 - level)) + 1.0)  # Chebyshev
        low, high = centre - far, centre + far
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if float(self.cdf(middle)) >= level:
                high = middle
            else:
                low = middle
        return float(np.ceil(low)) if isinstance(self.parts[0][1], Stepwise) else high

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the central interval that has this probability (at least, of counts)."""
        tail = 0.5 * (1.0 - _inputs.number("level", level, 0.0, 1.0))
        return self.quantile(tail), self.quantile(1.0 - tail)

    def crps(self, y: float) -> float:
        """Return the continuous ranked probability score: exact where all states are normal.

        Otherwise by the trapezoidal rule with 2,001 points over 12 deviations on both sides.
        """
        if not self.parts:
            return float("nan")
        if all(isinstance(emission, Gaussian) for _, emission in self.parts):
            shares, means, variances = self._moments()
            return scores.crps(shares, means[:, 0], np.sqrt(variances[:, 0]), y)
        centre, width = float(self.mean), 12.0 * float(np.sqrt(self.variance))
        low, high = min(y, centre - width), max(y, centre + width)
        below, above = np.linspace(low, y, 1001), np.linspace(y, high, 1001)
        left = np.trapezoid(np.square(self.cdf(below)), below)
        return float(left + np.trapezoid(np.square(1.0 - self.cdf(above)), above))

    def __repr__(self) -> str:
        if not self.parts:
            return "<Predictive: nothing is known yet>"
        return (
            f"<Predictive: mean {self.mean:.4g}, variance {self.variance:.4g}>"
            if (np.ndim(self.mean) == 0)
            else f"<Predictive: mean {np.round(self.mean, 4)}>"
        )


def _plain(values: Floats) -> Any:
    return float(values[0]) if len(values) == 1 else values
