"""Several columns of real numbers, jointly normal in each state."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions._normal import IndependentNormals
from normalhedge.latent.models.emissions._protocol import Path, RealEmission, positive


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
        """The number of columns of an observation."""
        return int(self.means.shape[1])

    def parameters(self) -> Floats:
        """Return means and variances, 2 d x k."""
        return np.ascontiguousarray(np.concatenate([self.means.T, self.deviations.T**2]))

    @classmethod
    def from_parameters(cls, rows: Floats) -> Self:
        """Return the emission with these means and variances, 2 d x k."""
        means, variances = np.split(rows, 2)
        return cls(means.T, np.sqrt(variances.T))


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
        given = self.covariances
        if not np.allclose(given, given.mT, rtol=1e-8, atol=0.0):
            raise ValueError("covariances must be symmetric")
        positive("the eigenvalues of covariances", np.asarray(np.linalg.eigvalsh(given)))

    @property
    def columns(self) -> int:
        """The number of columns of an observation."""
        return int(self.means.shape[1])

    def parameters(self) -> Floats:
        """Return means and covariances, (d + d^2) x k."""
        rows = [self.means.T, self.covariances.reshape(self.states, -1).T]
        return np.ascontiguousarray(np.concatenate(rows))

    @classmethod
    def from_parameters(cls, rows: Floats) -> Self:
        """Return the emission with these means and covariances, (d + d^2) x k."""
        d = round(np.sqrt(len(rows) + 0.25) - 0.5)
        covariances = rows[d:].T.reshape(-1, d, d)
        return cls(rows[:d].T, 0.5 * (covariances + covariances.mT))

    def moments(self) -> tuple[Floats, Floats]:
        """Return means and variances in each state, k x d."""
        return self.means, np.diagonal(self.covariances, axis1=1, axis2=2)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:
        roots = np.linalg.cholesky(self.covariances)[path]
        noise = rng.normal(size=(len(path), self.columns))
        return np.asarray(self.means[path] + np.einsum("tij,tj->ti", roots, noise))

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        return type(self)(centre + width * self.means, self.covariances * np.outer(width, width))

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        """Return standard normal columns."""
        d = observations.shape[1]
        return np.concatenate([np.zeros(d), np.eye(d).ravel()])[:, np.newaxis]
