"""Real numbers that depend on covariates: a regression within each state."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models.emissions._emission import Path, RealEmission
from normalhedge.latent.models.emissions._normal import DiagonalGaussian


@dataclass(frozen=True, eq=False)
class Regression(RealEmission):
    """A regression within a state: y = intercept_s + slopes_s x + deviation_s e, given x.

    An observation is a row of y and its covariates x. Where one of them is missing, the row teaches
    nothing.

    Attributes
    ----------
    intercepts, deviations
        One for each state.
    slopes
        k x p, for p covariates.
    """

    intercepts: Floats
    slopes: Floats
    deviations: Floats

    family: ClassVar[str] = "regression"
    positive: ClassVar[tuple[str, ...]] = ("deviations",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slopes.ndim != 2 or self.intercepts.ndim != 1:
            raise ValueError("intercepts must be k numbers, and slopes states x covariates")

    @property
    def columns(self) -> int:
        return 1 + int(self.slopes.shape[1])

    def parameters(self) -> Floats:
        rows = [self.intercepts, *self.slopes.T, self.deviations**2]
        return np.ascontiguousarray(np.stack(rows))

    @classmethod
    def from_core(cls, rows: Floats) -> Self:
        return cls._of(rows[0].copy(), rows[1:-1].T.copy(), np.sqrt(rows[-1]))

    @property
    def predicted(self) -> int:
        return 1

    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and variance in each state, where all covariates are 0."""
        return self.intercepts, self.deviations**2

    def compared(self, centre: Floats, width: Floats) -> DiagonalGaussian:
        """Return the mean at the centre of the covariates, and the change by a unit of each.

        Parameters
        ----------
        centre, width
            The location and the scale of each covariate.
        """
        plain = self._rescaled(-centre / width, 1.0 / width)
        means = np.column_stack([plain.intercepts, plain.slopes])
        deviations = np.repeat(plain.deviations[:, np.newaxis], self.columns, axis=1)
        return DiagonalGaussian.from_core(np.concatenate([means.T, deviations.T**2]))

    def means_given(self, given: Floats) -> Floats:
        """Return the mean of y in each state, T x k, given covariates, T x p."""
        return np.asarray(self.intercepts + given @ self.slopes.T)

    def _draw(self, path: Path, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        raise ValueError("a regression cannot be sampled without covariates")

    def _rescaled(self, centre: Floats, width: Floats) -> Self:
        slopes = self.slopes * width[..., :1] / width[..., 1:]
        away = (slopes * centre[..., 1:]).sum(axis=-1)
        intercepts = centre[..., 0] + width[..., 0] * self.intercepts - away
        return self._of(intercepts, slopes, width[..., 0] * self.deviations)

    @classmethod
    def starting_parameters(cls, observations: Floats) -> Floats:
        return np.concatenate([np.zeros(observations.shape[1]), [1.0]])[:, np.newaxis]


def join_given(observations: npt.ArrayLike, given: npt.ArrayLike) -> Floats:
    """Return rows of an observation and its covariates, T x (1 + p), with checked covariates."""
    y = inputs.numbers_array("observations", observations).astype(np.float64)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"observations must have shape T where there is given, got {y.shape}")
    return np.column_stack([y, check_given(given, len(y))])


def check_given(given: npt.ArrayLike, rounds: int, columns: int | None = None) -> Floats:
    """Return covariates as rounds x p, checked; p may be known."""
    x = inputs.numbers_array("given", given).astype(np.float64)
    x = x[:, np.newaxis] if x.ndim == 1 else x
    if x.ndim != 2 or len(x) != rounds or not x.shape[1] or columns not in {None, x.shape[1]}:
        row = "a row of covariates" if columns is None else counted(columns, "covariate")
        raise ValueError(
            f"given must have {row} for each of {counted(rounds, 'round')}, "
            f"got shape {np.shape(given)}"
        )
    known = ~np.isnan(x)
    if not (np.abs(x[known]) <= inputs.LARGEST).all():
        raise ValueError(f"given must be finite numbers within ±{inputs.LARGEST:g}, or NaN")
    return x


def residuals(table: Floats) -> Floats:
    """Return what the covariates do not explain in the first column, T x 1; NaN where missing."""
    known = ~np.isnan(table).any(axis=1)
    result = np.full((len(table), 1), np.nan)
    design = np.column_stack([np.ones(known.sum()), table[known, 1:]])
    fitted = np.linalg.lstsq(design, table[known, 0])[0]
    result[known, 0] = table[known, 0] - design @ fitted
    return result
