"""The predictive distribution of an observation: a mixture over models and states."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import (
    LARGEST_TABLE,
    Autoregressive,
    Categorical,
    Emission,
    Gaussian,
    Stepwise,
    StudentT,
    normal_cdf,
)

TABLE = 1_000  # up to this count quantiles are read from a table of all counts


@dataclass(frozen=True, eq=False)
class Predictive:
    """A mixture sum_i p_i b_i of distributions of one or several families."""

    # For each family the shares of its states, and the emission with these states. The shares sum
    # to one over all families. An empty list means that nothing is known yet.
    parts: list[tuple[Floats, Emission]]
    previous: Floats  # the last observation, which autoregressive states need

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        """The shares of all states, and mean and variance in each of them, n x d."""
        if len(self.previous) == 1 and not isinstance(self.parts[0][1], Stepwise):
            normals, students = self._rows
            share, mean, variance = np.concatenate([normals, students[:3]], axis=1)
            variance[normals.shape[1] :] *= students[3] / (students[3] - 2.0)
            return share, mean[:, np.newaxis], variance[:, np.newaxis]
        shares, means, variances = [], [], []
        for share, emission in self.parts:
            mean, variance = emission.moments_after(self.previous[np.newaxis])
            shares.append(share)
            means.append(mean[0])
            variances.append(variance[0])
        return np.concatenate(shares), np.concatenate(means), np.concatenate(variances)

    @property
    def mean(self) -> Any:
        """The mean: a number, or an array with one for each column; NaN if nothing is known."""
        if not self.parts:
            return _plain(np.full(len(self.previous), np.nan))
        shares, means, _ = self._moments
        return _plain(shares @ means)

    @property
    def variance(self) -> Any:
        """The variance, of each column; infinite if nothing is known."""
        if not self.parts:
            return _plain(np.full(len(self.previous), np.inf))
        shares, means, variances = self._moments
        return _plain(shares @ (variances + np.square(means - shares @ means)))

    def log_density(self, y: npt.ArrayLike) -> float:
        """Return ln p(y); NaN if nothing is known."""
        if not self.parts:
            return float("nan")
        row = np.reshape(inputs.numbers_array("y", y).astype(np.float64), (1, -1))
        both = np.concatenate([self.previous[np.newaxis], row])
        logs = np.concatenate([emission.log_density(both)[1] for _, emission in self.parts])
        shares = np.concatenate([share for share, _ in self.parts])
        most = logs.max()
        return float(np.log(shares @ np.exp(logs - most)) + most)

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """Return P(y <= x); for one column only."""
        return self.share_below(inputs.numbers_array("x", x).astype(np.float64))

    def share_below(self, x: Floats) -> Floats:
        """Return P(y <= x) for numbers that need no check."""
        total = np.zeros(np.shape(x)) if self.parts else np.full(np.shape(x), np.nan)
        for share, emission in self.parts:
            if not hasattr(emission, "cdf"):
                raise ValueError("a distribution function needs observations of one column")
            previous = (self.previous[0],) if isinstance(emission, Autoregressive) else ()
            total = total + emission.cdf(x, *previous) @ share
        return np.asarray(total)

    @property
    def symbols(self) -> Floats:
        """The probability of each symbol; for symbols only."""
        if not self.parts:
            return np.empty(0)
        probabilities = np.zeros(1)
        for share, emission in self.parts:
            if not isinstance(emission, Categorical):
                raise ValueError("probabilities of symbols need observations that are symbols")
            probabilities = probabilities + share @ emission.probabilities
        return np.asarray(probabilities / probabilities.sum())

    def quantile(self, level: float) -> float:
        """Return the smallest x with P(y <= x) >= level."""
        return float(self._quantiles(np.array([inputs.number("level", level, 0.0, 1.0)]))[0])

    def interval(self, level: float = 0.9) -> Any:
        """Return the central interval of this probability, or more for counts.

        With several columns there is one interval for each, d x 2.
        """
        tail = 0.5 * (1.0 - inputs.number("level", level, 0.0, 1.0))
        tails = np.array([tail, 1.0 - tail])
        if len(self.previous) > 1:
            return self._intervals(tails)
        low, high = self._quantiles(tails).tolist()
        return low, high

    def _intervals(self, tails: Floats) -> Floats:
        """Return the quantiles of each column, d x 2: in each state a column is normal."""
        result = np.full((len(self.previous), len(tails)), np.nan)
        if not self.parts:
            return result
        shares, means, variances = self._moments
        for column, quantiles in enumerate(result):
            normals = np.stack([shares, means[:, column], variances[:, column]])
            _core.mixed_quantiles(normals, np.empty((4, 0)), tails, quantiles)
        return result

    def columns(self) -> "list[Predictive]":
        """Return the distribution of each column."""
        if len(self.previous) == 1 or not self.parts:
            return [self] * len(self.previous)
        moments = [(share, *emission.moments()) for share, emission in self.parts]
        return [
            Predictive(
                [
                    (share, Gaussian.from_core(np.stack([means[:, k], variances[:, k]])))
                    for share, means, variances in moments
                ],
                self.previous[k : k + 1],
            )
            for k in range(len(self.previous))
        ]

    def _quantiles(self, levels: Floats) -> Floats:
        """Return quantiles by search in a bracket, which Chebyshev's inequality gives."""
        if not self.parts:
            return np.full(len(levels), np.nan)
        if not isinstance(self.parts[0][1], Stepwise):
            result = np.empty(len(levels))
            _core.mixed_quantiles(*self._rows, levels, result)
            return result
        centre, width = float(self.mean), math.sqrt(self.variance)
        far = width * (np.sqrt(1.0 / np.minimum(levels, 1.0 - levels)) + 1.0)
        low, high = centre - far, centre + far
        low, high = np.maximum(np.floor(low), -1.0), np.minimum(np.ceil(high), LARGEST_TABLE)
        most = float(high.max())
        if most < TABLE:
            table = self.share_below(np.arange(most + 1.0))
            return np.minimum(np.searchsorted(table, levels), most).astype(np.float64)
        while (high - low > 1.0).any():
            middle = np.floor(0.5 * (low + high))
            enough = self.share_below(middle) >= levels
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.asarray(high)

    @cached_property
    def _rows(self) -> tuple[Floats, Floats]:
        """Shares and parameters of normal distributions, 3 x n, and of Student's, 4 x n."""
        rows = [np.empty((3, 0)), np.empty((4, 0))]
        for share, emission in self.parts:
            parameters: tuple[Floats, ...]
            if isinstance(emission, StudentT):
                parameters = emission.locations, emission.scales**2, emission.degrees
            elif isinstance(emission, Gaussian):
                parameters = emission.means, emission.deviations**2
            else:
                mean, variance = emission.moments_after(self.previous[np.newaxis])
                parameters = mean[0, :, 0], variance[0, :, 0]
            place, part = len(parameters) - 2, np.array([share, *parameters])
            rows[place] = np.concatenate([rows[place], part], axis=1)
        return rows[0], rows[1]

    def crps(self, y: float) -> float:
        """Return the continuous ranked probability score, exact if all states are normal.

        Otherwise it is computed by the trapezoidal rule with 2,001 points over 12 deviations on
        both sides.
        """
        if not self.parts:
            return float("nan")
        if all(isinstance(emission, Gaussian) for _, emission in self.parts):
            shares, means, variances = self._moments
            return mixed_normals_crps(shares, means[:, 0], variances[:, 0], y)
        centre, width = float(self.mean), 12.0 * float(np.sqrt(self.variance))
        low, high = min(y, centre - width), max(y, centre + width)
        below, above = np.linspace(low, y, 1001), np.linspace(y, high, 1001)
        left = np.trapezoid(np.square(self.share_below(below)), below)
        return float(left + np.trapezoid(np.square(1.0 - self.share_below(above)), above))

    def __repr__(self) -> str:
        if not self.parts:
            return "<Predictive: nothing is known yet>"
        if np.ndim(self.mean):
            return f"<Predictive: mean {np.round(self.mean, 4)}>"
        return f"<Predictive: mean {self.mean:.4g}, variance {self.variance:.4g}>"


def _plain(values: Floats) -> Any:
    return float(values[0]) if len(values) == 1 else values


def mixed_normals_crps(shares: Floats, means: Floats, variances: Floats, y: float) -> float:
    """Return the continuous ranked probability score of a mixture of normal distributions.

    It is the integral of (F(x) - [x >= y])^2, in the units of y; smaller is better:

        sum_i p_i A(y - m_i, s_i^2) - 1/2 sum_ij p_i p_j A(m_i - m_j, s_i^2 + s_j^2)
        A(m, v) = 2 sqrt(v) phi(m / sqrt(v)) + m (2 Phi(m / sqrt(v)) - 1)

    References
    ----------
    Grimit, Gneiting, Berrocal and Johnson (2006).

    Examples
    --------
    >>> one = np.ones(1)
    >>> round(mixed_normals_crps(one, 0.0 * one, one, 0.0), 4)
    0.2337
    """
    apart = _distance(means[:, np.newaxis] - means, variances[:, np.newaxis] + variances)
    return float(shares @ _distance(y - means, variances) - 0.5 * shares @ apart @ shares)


def _distance(mean: Floats, variance: Floats) -> Floats:
    """Return E|x| of a normal x."""
    deviation = np.sqrt(variance)
    z = mean / deviation
    density = np.exp(-0.5 * np.square(np.clip(z, -40.0, 40.0))) / math.sqrt(2.0 * math.pi)
    return np.asarray(2.0 * deviation * density + mean * (2.0 * normal_cdf(z) - 1.0))
