r"""Errors of the blend, of plain combinations and of the models, as a whole and by groups of rows.

Each error is a mean over the rows in which the forecaster made a forecast, beside the error of the
blend over the same rows. With the forecast x and the outcome y,

    MAE = mean |x - y|,   RMSE = sqrt(mean (x - y)^2),   bias = mean (x - y),

and, for quantiles x_1, ..., x_L of levels q_1, ..., q_L (Bracher et al. 2021, equation 2, if the
levels are symmetric and the median is one of them),

    WIS = mean over rows and levels of 2 (q_l - [y < x_l]) (y - x_l).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

BLEND, MEAN, MEDIAN, VOTE = "blend", "plain mean", "plain median", "plain vote"


class Measure(NamedTuple):
    """A measure of errors."""

    name: str  # its name, such as ``MAE``
    # what is averaged: ``absolute``, ``square``, ``levels`` (WIS) or ``own``, the loss of the
    # mixture
    kind: str

    def of(self, means: Floats) -> Floats:
        """Return errors from means of losses."""
        return np.sqrt(means) if self.kind == "square" else means


@dataclass(frozen=True)
class Errors:
    """Errors of several forecasters in several groups of rows."""

    # the measures; the first is the one that the mixture was asked to make small
    measures: tuple[Measure, ...]
    names: list[str]  # the forecasters; the blend comes first
    labels: list[str]  # the groups of rows; one without a name for all rows
    # values, blend: The error of each forecaster, and of the blend over the same rows; measures x
    # groups x forecasters. NaN where a forecaster has no row.
    values: Floats
    blend: Floats
    counts: np.ndarray  # the number of rows of each forecaster; groups x forecasters
    # the mean of forecast minus outcome; groups x forecasters, NaN if it has no meaning
    bias: Floats

    def excess(self, name: str, measure: int = 0) -> Floats:
        """Return, for each group, the error of the blend relative to a forecaster, minus 1."""
        k = self.names.index(name)
        return _above(self.blend[measure, :, k], self.values[measure, :, k])

    @property
    def above_blend(self) -> Floats:
        """The error of each forecaster over all rows divided by that of the blend, minus 1."""
        return _above(self.values[0, 0], self.blend[0, 0])


def _above(errors: Floats, others: Floats) -> Floats:
    """Return errors divided by others, minus 1; 0 if they are the same, even if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == others, 0.0, errors / others - 1.0)


class Lead(NamedTuple):
    """The difference of the mean losses of the blend and of another forecaster, and its error."""

    # the mean over rounds of the loss of the blend minus that of the other; negative if the blend
    # is better
    difference: float
    error: float  # its standard error; NaN with fewer than two rounds

    @property
    def clear(self) -> bool:
        """Whether the difference is more than two standard errors."""
        return bool(abs(self.difference) > 2.0 * self.error)


class Worst(NamedTuple):
    """The row in which the blend lost most."""

    share: float  # its share of the losses of the blend
    row: int  # its place among the rows
    # forecast, outcome: the forecast of the blend, and the outcome
    forecast: float
    outcome: float
