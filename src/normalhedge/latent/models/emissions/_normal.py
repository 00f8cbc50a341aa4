"""Real numbers: normal, Student's t, autoregressive, and several normal columns."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions._emission import Path, RealEmission


@dataclass(frozen=True, eq=False)
class IndependentNormals(RealEmission):
    """One column of normal numbers or several, independent within a state."""

    means: Floats
    deviations: Floats

    family: ClassVar[str] = "gaussian"
    positive: ClassVar[tuple[str, ...]] = ("deviations",)
    squared: ClassVar[tuple[str, ...]] = ("deviations",)

    def moments(self) -> tuple[Floats, Floats]:
        return self.means, self.deviations**2

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        return rng.normal(self.means[path], self.deviations[path])

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        return self._of(centre + width * self.means, width * self.deviations)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        d = observations.shape[1]
        return np.concatenate([np.zeros((d, 1)), np.ones((d, 1))])


@dataclass(frozen=True, eq=False)
class Gaussian(IndependentNormals):
    """Normal numbers: y ~ N(mean_s, deviation_s^2) in state s.

    Attributes
    ----------
    means, deviations
        One for each state.
    """

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """Return P(y <= x) in each state; the states are the last axis."""
        places = np.asarray(x, dtype=np.float64)[..., np.newaxis]
        return normal_cdf((places - self.means) / self.deviations)


@dataclass(frozen=True, eq=False)
class StudentT(RealEmission):
    """Numbers with outliers: (y - location_s) / scale_s ~ t(degrees_s) in state s.

    Attributes
    ----------
    locations, scales, degrees
        One for each state; the degrees of freedom are larger than 2, so there is a variance.
    """

    locations: Floats
    scales: Floats
    degrees: Floats

    family: ClassVar[str] = "student"
    positive: ClassVar[tuple[str, ...]] = ("scales",)
    squared: ClassVar[tuple[str, ...]] = ("scales",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.degrees > 2.0).all():
            raise ValueError("degrees must be larger than 2, so that there is a variance")

    def moments(self) -> tuple[Floats, Floats]:
        return self.locations, self.scales**2 * self.degrees / (self.degrees - 2.0)

    def cdf(self, x: npt.ArrayLike) -> Floats:
        """Return P(y <= x) in each state; the states are the last axis."""
        places = np.asarray(x, dtype=np.float64)[..., np.newaxis]
        return student_cdf((places - self.locations) / self.scales, self.degrees)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        return self.locations[path] + self.scales[path] * rng.standard_t(self.degrees[path])

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        return self._of(centre + width * self.locations, width * self.scales, self.degrees.copy())

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:  # noqa: ARG003
        return np.array([[0.0], [1.0], [8.0]])


@dataclass(frozen=True, eq=False)
class Autoregressive(RealEmission):
    """Autoregression within a state: y_t = intercept_s + slope_s y_{t-1} + deviation_s e_t.

    The observation at t - 1 is given, so the first one, and each one after a gap, has the log
    density 0 in all states: it teaches nothing of the state.

    Attributes
    ----------
    intercepts, slopes, deviations
        One for each state; slopes are strictly between -1 and 1, in a fit at most 0.999.
    """

    intercepts: Floats
    slopes: Floats
    deviations: Floats

    family: ClassVar[str] = "autoregressive"
    positive: ClassVar[tuple[str, ...]] = ("deviations",)
    squared: ClassVar[tuple[str, ...]] = ("deviations",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.abs(self.slopes) < 1.0).all():
            raise ValueError("slopes must be strictly between -1 and 1")

    def moments(self) -> tuple[Floats, Floats]:
        return self.intercepts / (1 - self.slopes), self.deviations**2 / (1 - self.slopes**2)

    def means_after(self, previous: npt.ArrayLike) -> Floats:
        """Return the means of the next observation, ... x k; after a gap, as `moments`."""
        last = np.asarray(previous, dtype=np.float64)[..., np.newaxis]
        return np.where(
            np.isnan(last), self.moments()[0], self.intercepts + self.slopes * np.nan_to_num(last)
        )

    def variances_after(self, previous: npt.ArrayLike) -> Floats:
        """Return the variances of the next observation, ... x k; after a gap, as `moments`."""
        last = np.asarray(previous, dtype=np.float64)[..., np.newaxis]
        return np.where(np.isnan(last), self.moments()[1], self.deviations**2)

    def moments_after(self, previous: Floats) -> tuple[Floats, Floats]:
        last = previous[:, 0]
        return (
            self.means_after(last)[..., np.newaxis],
            self.variances_after(last)[..., np.newaxis],
        )

    def cdf(self, x: npt.ArrayLike, previous: npt.ArrayLike) -> Floats:
        """Return P(y_t <= x | y_{t-1}) in each state; the states are the last axis.

        Parameters
        ----------
        x
            Where to evaluate the distribution function.
        previous
            The observation before; NaN where it is missing.
        """
        places = np.asarray(x, dtype=np.float64)[..., np.newaxis]
        deviations = np.sqrt(self.variances_after(previous))
        return normal_cdf((places - self.means_after(previous)) / deviations)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        noise = rng.normal(size=len(path))
        result = np.empty(len(path))
        last = np.nan
        for t, s in enumerate(path):
            deviation = math.sqrt(self.variances_after(last)[s])
            result[t] = last = self.means_after(last)[s] + deviation * noise[t]
        return result

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        intercepts = centre * (1 - self.slopes) + width * self.intercepts
        return self._of(intercepts, self.slopes.copy(), width * self.deviations)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:  # noqa: ARG003
        return np.array([[0.0], [0.0], [1.0]])


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(IndependentNormals):
    """Several normal columns, independent within a state.

    Attributes
    ----------
    means, deviations
        k x d.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.means.ndim != 2 or self.deviations.shape != self.means.shape:
            raise ValueError("means and deviations must be states x columns")

    @property
    def columns(self) -> int:
        return int(self.means.shape[1])

    def parameters(self) -> Floats:
        return np.ascontiguousarray(np.concatenate([self.means.T, self.deviations.T**2]))

    @classmethod
    def from_core(cls, rows: Floats) -> Self:
        means, variances = np.split(rows, 2)
        return cls._of(means.T, np.sqrt(variances.T))


@dataclass(frozen=True, eq=False)
class FullGaussian(RealEmission):
    """Several normal columns, correlated within a state: y ~ N(mean_s, covariance_s).

    Attributes
    ----------
    means
        k x d.
    covariances
        k x d x d, symmetric with positive eigenvalues.
    """

    means: Floats
    covariances: Floats

    family: ClassVar[str] = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.means.ndim != 2 or self.covariances.shape != (*self.means.shape, self.columns):
            raise ValueError("means must be k x d and covariances k x d x d")
        if not np.allclose(self.covariances, self.covariances.mT, rtol=1e-8, atol=0.0):
            raise ValueError("covariances must be symmetric")
        if not (np.linalg.eigvalsh(self.covariances) > 0.0).all():
            raise ValueError("the eigenvalues of covariances must be larger than zero")

    @property
    def columns(self) -> int:
        return int(self.means.shape[1])

    def parameters(self) -> Floats:
        rows = [self.means.T, self.covariances.reshape(self.states, -1).T]
        return np.ascontiguousarray(np.concatenate(rows))

    @classmethod
    def from_core(cls, rows: Floats) -> Self:
        d = round(np.sqrt(len(rows) + 0.25) - 0.5)
        covariances = rows[d:].T.reshape(-1, d, d)
        return cls._of(rows[:d].T, 0.5 * (covariances + covariances.mT))

    def moments(self) -> tuple[Floats, Floats]:
        return self.means, np.diagonal(self.covariances, axis1=1, axis2=2)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        roots = np.linalg.cholesky(self.covariances)[path]
        noise = rng.normal(size=(len(path), self.columns))
        return np.asarray(self.means[path] + np.einsum("tij,tj->ti", roots, noise))

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        squares = width[..., :, np.newaxis] * width[..., np.newaxis, :]
        return self._of(centre + width * self.means, self.covariances * squares)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        d = observations.shape[1]
        return np.concatenate([np.zeros(d), np.eye(d).ravel()])[:, np.newaxis]


def normal_cdf(z: npt.ArrayLike) -> Floats:
    """Return the distribution function of the standard normal distribution."""
    values = np.clip(np.asarray(z, dtype=np.float64), -1e3, 1e3)
    away = np.ascontiguousarray(np.abs(values).ravel() / math.sqrt(2.0))
    tails = np.empty_like(away)
    _core.erfcx(away, tails)
    tails = (0.5 * np.exp(-(away**2)) * tails).reshape(values.shape)
    return np.where(values > 0.0, 1.0 - tails, tails)


def student_cdf(t: Floats, degrees: Floats) -> Floats:
    """Return the distribution function of Student's t: 1 - I(n / (n + t^2); n/2, 1/2) / 2.

    The incomplete beta function I is computed by its continued fraction, for whichever of I(x; a,
    b) and 1 - I(1 - x; b, a) converges fast (DLMF 8.17.22).
    """
    away, n = np.broadcast_arrays(np.asarray(t, dtype=np.float64), degrees)
    away = np.clip(away, -1e100, 1e100)
    x = n / (n + away**2)
    fast = x < (0.5 * n + 1.0) / (0.5 * n + 2.5)
    a, b = np.where(fast, 0.5 * n, 0.5), np.where(fast, 0.5, 0.5 * n)
    rest = away**2 / (n + away**2)
    here, there = np.where(fast, x, rest), np.where(fast, rest, x)
    with np.errstate(divide="ignore"):
        logs = a * np.log(here) + b * np.log(there)
    logs += _log_gamma(a + b) - _log_gamma(a + 1.0) - _log_gamma(b)
    part = np.exp(logs) * _beta_fraction(here, a, b)
    tails = 0.5 * np.where(fast, part, 1.0 - part)
    return np.asarray(np.where(away > 0.0, 1.0 - tails, tails))


def _beta_fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return 1 / (1 + d_1 / (1 + d_2 / (1 + ...))), from its end: sixty terms are enough here."""
    value = np.ones_like(x)
    for m in range(30, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        value = 1.0 + odd / (1.0 + even / value)
    return np.asarray(1.0 / value)


def _log_gamma(x: Floats) -> Floats:
    flat = np.ascontiguousarray(x, dtype=np.float64).ravel()
    result = np.empty_like(flat)
    _core.log_gamma(flat, result)
    return result.reshape(x.shape)
