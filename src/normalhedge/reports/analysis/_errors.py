r"""Errors of the blend, of plain combinations and of the models, as a whole and by groups of rows.

Each error is a mean over the rows in which the forecaster made a forecast, beside the error of the
blend over the same rows. With the forecast x and the outcome y,

    MAE = mean |x - y|,   RMSE = sqrt(mean (x - y)^2),   bias = mean (x - y),

and, for quantiles, WIS is the mean of `normalhedge.tables.wis_scores` (Bracher et al. 2021).
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.summaries import OFTEN, plain_means, plain_medians, plain_votes
from normalhedge.reports.analysis._rows import BlendedRows, Grouping
from normalhedge.tables import wis_scores

BLEND, MEAN, MEDIAN, VOTE = "blend", "plain mean", "plain median", "plain vote"

CHUNK = 1 << 20
"""About how many forecasts are compared at a time."""


class Measure(NamedTuple):
    """A measure of errors."""

    name: str  # its name, such as ``MAE``
    # the losses: ``absolute``, ``square``, ``levels`` (WIS) or ``own``, the loss of the mixture
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

    def excess(self, name: str) -> Floats:
        """Return, for each group, the error of the blend relative to a forecaster, minus 1."""
        k = self.names.index(name)
        return _ratio(self.blend[0, :, k], self.values[0, :, k])

    @property
    def above_blend(self) -> Floats:
        """The error of each forecaster over all rows, relative to the blend, minus 1."""
        return _ratio(self.values[0, 0], self.blend[0, 0])


def _ratio(errors: Floats, others: Floats) -> Floats:
    """Return errors divided by others, minus 1; 0 if they are the same, even if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == others, 0.0, errors / others - 1.0)


class Lead(NamedTuple):
    """The difference of the mean losses of the blend and of another forecaster, and its error."""

    # the mean over rounds of the loss of the blend minus the other loss; negative if the blend is
    # better
    difference: float
    error: float  # its standard error; NaN with fewer than two rounds

    @property
    def clear(self) -> bool:
        """Whether the difference is more than two standard errors."""
        return bool(abs(self.difference) > 2.0 * self.error)


class Worst(NamedTuple):
    """The row in which the blend lost most."""

    share: float  # its share of the losses of the blend
    # time, series: the time and the series of the row
    time: Any
    series: str
    # forecast, outcome: the forecast of the blend, and the outcome
    forecast: float
    outcome: float


class Scores:
    """The losses of the rows of a blend."""

    def __init__(
        self, rows: BlendedRows, loss: Loss, levels: Sequence[float] | None = None
    ) -> None:
        self.rows, self.loss = rows, loss
        self.levels = None if levels is None else np.asarray(levels, dtype=np.float64)
        self.known = np.flatnonzero(rows.settled)
        self.plain = list(loss.forecasts.plain)
        self.middle = 0 if self.levels is None else int(np.abs(self.levels - 0.5).argmin())
        self.numbers = loss.forecasts.numeric
        self.measures = self._measures()
        self._combined: list[Floats] = []

    def _measures(self) -> tuple[Measure, ...]:
        loss = Measure(f"{self.loss} loss", "own")
        rmse, mae = Measure("RMSE", "square"), Measure("MAE", "absolute")
        if self.levels is not None:
            return (Measure("WIS", "levels"), mae, rmse)
        if not self.numbers:
            return (loss,)
        if self.loss.score:
            return (mae, rmse) if self.loss.score == "MAE" else (rmse, mae)
        return (loss, mae, rmse)

    def without(self, places: np.ndarray) -> "Scores":
        """Return the losses of the rows with an outcome but for some places among them."""
        rest = copy(self)
        rest.known, rest._combined = np.delete(self.known, places), []
        return rest

    def losses_of(self, models: slice, part: np.ndarray) -> Floats:
        """Return the losses of models in some rows, by the first measure; NaN if asleep."""
        return self._losses_or_nan(self.rows.forecasts[part][:, :, models], part)

    def losses_in(self, table: Floats) -> Floats:
        """Return the losses of a table of all rows with an outcome; NaN without a forecast."""
        return self._losses_or_nan(table, self.known)

    def _losses_or_nan(self, table: Floats, part: np.ndarray) -> Floats:
        losses = self._losses(self.measures[0], table, part)
        return np.where(self._there(table), losses, nan)

    def overall(self) -> Errors:
        """Return the errors of the blend, of plain combinations and of all models, over all rows.

        Plain combinations and models follow the blend.
        """
        names = [BLEND, *self.plain, *self.rows.models]
        totals = np.zeros((2 * len(self.measures) + 2, len(names)))
        self._combined = []
        size = max(CHUNK // max(self.rows.forecasts[:1].size, 1), 1)
        for start in range(0, len(self.known), size):
            part = self.known[start : start + size]
            self._combined.append(self._combinations(part))
            table = np.concatenate([self._combined[-1], self.rows.forecasts[part]], axis=2)
            totals += self._terms(table, part).sum(axis=1)
        return self._errors_of(names, [""], totals[:, np.newaxis])

    def by(self, grouping: Grouping, table: Floats, names: Sequence[str]) -> Errors:
        """Return the errors of some forecasters in groups of rows."""
        codes, size = grouping.codes[self.known], len(grouping.labels)
        terms = self._terms(table, self.known)
        totals = [[np.bincount(codes, column, size) for column in term.T] for term in terms]
        return self._errors_of(list(names), grouping.labels, np.array(totals).swapaxes(1, 2))

    def _terms(self, table: Floats, part: np.ndarray) -> Floats:
        """Return the terms of the errors of some rows; terms x rows x forecasters.

        They are the losses by each measure, the losses of the blend beside them, a one, and the
        error; all of them 0 where a forecaster made no forecast.
        """
        there = self._there(table)
        losses = [self._losses(measure, table, part) for measure in self.measures]
        beside = [np.broadcast_to(loss[:, :1], loss.shape) for loss in losses]
        return np.where(there, np.stack([*losses, *beside, there, self._errors(table, part)]), 0.0)

    def _errors_of(self, names: list[str], labels: list[str], totals: Floats) -> Errors:
        """Return errors from the sums of terms; terms x groups x forecasters."""
        count, counts = len(self.measures), totals[-2]
        with np.errstate(divide="ignore", invalid="ignore"):
            means = totals / counts
        values, blend = (
            np.array([m.of(mean) for m, mean in zip(self.measures, part, strict=True)])
            for part in (means[:count], means[count:-2])
        )
        bias = means[-1] if self.numbers else np.full_like(counts, nan)
        return Errors(self.measures, names, labels, values, blend, counts.astype(np.int64), bias)

    def best_model(self, errors: Errors) -> str | None:
        """Return the model with the smallest error relative to the blend over the same rows.

        Models that made a forecast in less than half of the rows do not count. None without one.
        """
        first = 1 + len(self.plain)
        often = errors.counts[0, first:] >= OFTEN * max(len(self.known), 1)
        if not often.any() or not len(self.known):
            return None
        gap = errors.above_blend[first:]
        if self.loss.of_wealth:  # its losses may be negative
            gap = errors.values[0, 0, first:] - errors.blend[0, 0, first:]
        return self.rows.models[int(np.where(often, gap, np.inf).argmin())]

    def table_with(self, model: str | None) -> Floats:
        """Return the forecasts of the blend, of plain combinations and of a model, if given.

        The rows are the known ones; `overall` must have been called before.
        """
        shape = (0, self.rows.forecasts.shape[1], 1 + len(self.plain))
        combined = np.concatenate(self._combined) if self._combined else np.zeros(shape)
        if model is None:
            return combined
        forecasts = self.rows.forecasts[self.known, :, self.rows.models.index(model)]
        return np.concatenate([combined, forecasts[:, :, np.newaxis]], axis=2)

    def worst(self, table: Floats) -> Worst | None:
        """Return the row in which the blend lost most; None if it lost nothing."""
        losses = self._losses(self.measures[0], table[:, :, :1], self.known)[:, 0]
        total = float(losses.sum())
        if not self.numbers or not total > 0.0:
            return None
        k, rows = int(losses.argmax()), self.rows
        row = int(self.known[k])
        time, series = rows.times[row], rows.series.labels[int(rows.series.codes[row])]
        forecast, outcome = float(table[k, self.middle, 0]), float(rows.outcomes[row])
        return Worst(float(losses[k]) / total, time, series, forecast, outcome)

    def lead(self, table: Floats, other: int) -> Lead:
        """Return the lead of the blend over another forecaster, over the rounds.

        Rounds are not independent. The variance of the mean of n differences d_t with
        autocovariances g_k is estimated as (g_0 + 2 sum_k (1 - k / (K + 1)) g_k) / n, k <= K
        (Newey and West 1987), with K the cube root of n.
        """
        there = self._there(table)[:, other]
        pair = np.ascontiguousarray(table[there][:, :, [0, other]])
        known = self.known[there]
        losses = self._losses(self.measures[0], pair, known)
        rounds = np.unique(self.rows.rounds[known], return_inverse=True)[1]
        count = np.bincount(rounds)
        gap = np.bincount(rounds, losses[:, 0] - losses[:, 1]) / np.maximum(count, 1)
        n = len(gap)
        if n < 2:
            return Lead(float(gap.mean()) if n else nan, nan)
        centred, depth = gap - gap.mean(), round(n ** (1 / 3))
        spread = centred @ centred
        for k in range(1, depth + 1):
            spread += 2.0 * (1.0 - k / (depth + 1)) * (centred[k:] @ centred[:-k])
        return Lead(float(gap.mean()), float(np.sqrt(max(spread, 0.0))) / n)

    def _combinations(self, part: np.ndarray) -> Floats:
        """Return the forecasts of the blend and of plain combinations; rows x parts x columns."""
        forecasts, awake = self.rows.forecasts[part], self.rows.awake_in(part)
        some = awake.any(axis=1)
        columns = [self.rows.values[part]]
        for name in self.plain:
            column = np.full(forecasts.shape[:2], nan)
            if some.any() and name == MEDIAN:
                classes = self.levels is None
                column[some] = plain_medians(forecasts[some], awake[some], of_classes=classes)
            elif some.any():
                combine = {MEAN: plain_means, VOTE: plain_votes}[name]
                column[some] = combine(forecasts[some], awake[some])
            columns.append(column)
        return np.stack(columns, axis=2)

    @staticmethod
    def _there(table: Floats) -> np.ndarray:
        return np.asarray((np.abs(table) < LARGEST).all(axis=1))

    def _errors(self, table: Floats, part: np.ndarray) -> Floats:
        """Return forecast minus outcome."""
        return np.asarray(table[:, self.middle] - self.rows.outcomes[part][:, np.newaxis])

    def _losses(self, measure: Measure, table: Floats, part: np.ndarray) -> Floats:
        """Return the loss of each forecast; rows x forecasters."""
        outcomes = self.rows.outcomes[part]
        if self.levels is not None and measure.kind == "levels":
            return wis_scores(table, outcomes, self.levels.tolist())
        if measure.kind == "own":
            return self.loss.table(table, outcomes, self.rows.items[part])
        errors = self._errors(table, part)
        return errors**2 if measure.kind == "square" else np.abs(errors)
