"""The losses of the rows of a blend, and the errors they make as a whole and by groups of rows."""

from collections.abc import Sequence
from math import nan

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.summaries import OFTEN, plain_means, plain_medians, plain_votes
from normalhedge.reports.analysis._blended import BlendedRows
from normalhedge.reports.analysis._errors import (
    BLEND,
    MEAN,
    MEDIAN,
    VOTE,
    Errors,
    Lead,
    Measure,
    Worst,
)
from normalhedge.tables.frames import Grouping

CHUNK = 1 << 20
"""About how many forecasts are compared at a time."""


class Scores:
    """The losses of the rows of a blend."""

    def __init__(
        self,
        rows: BlendedRows,
        loss: Loss,
        levels: Sequence[float] | None = None,
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
        loss = self.loss
        both = (Measure("RMSE", "square"), Measure("MAE", "absolute"))
        if self.levels is not None:
            return (Measure("WIS", "levels"), both[1], both[0])
        if not self.numbers:
            return (Measure(f"{loss} loss", "own"),)
        if loss.score:
            return tuple(sorted(both, key=lambda measure: measure.name != loss.score))
        return (Measure(f"{loss} loss", "own"), both[1], both[0])

    def overall(self) -> Errors:
        """Return the errors of the blend, of plain combinations and of all models, over all rows.

        Plain combinations and models follow the blend.
        """
        names = [BLEND, *self.plain, *self.rows.models]
        shape = (len(self.measures), 1, len(names))
        sums, beside, counts = np.zeros(shape), np.zeros(shape), np.zeros(shape[1:])
        bias = np.zeros(shape[1:])
        self._combined = []
        size = max(CHUNK // max(self.rows.forecasts[:1].size, 1), 1)
        for start in range(0, len(self.known), size):
            part = self.known[start : start + size]
            combined = self._combinations(part)
            self._combined.append(combined)
            table = np.concatenate([combined, self.rows.forecasts[part]], axis=2)
            there = self._there(table)
            counts[0] += there.sum(axis=0)
            for m, measure in enumerate(self.measures):
                losses = self._losses(measure, table, part)
                sums[m, 0] += np.where(there, losses, 0.0).sum(axis=0)
                beside[m, 0] += np.where(there, losses[:, :1], 0.0).sum(axis=0)
            bias[0] += np.where(there, self._errors(table, part), 0.0).sum(axis=0)
        return self._finished(names, [""], sums, beside, counts, bias)

    def best_model(self, errors: Errors) -> str | None:
        """Return the model with the smallest error relative to the blend over the same rows.

        Models that made a forecast in less than half of the rows do not count. None without one.
        """
        first = 1 + len(self.plain)
        often = errors.counts[0, first:] >= OFTEN * max(len(self.known), 1)
        if not often.any() or not len(self.known):
            return None
        if self.loss.of_wealth:  # its losses may be negative
            gap = errors.values[0, 0, first:] - errors.blend[0, 0, first:]
        else:
            gap = errors.above_blend[first:]
        return self.rows.models[int(np.where(often, gap, np.inf).argmin())]

    def table_with(self, model: str | None) -> Floats:
        """Return the forecasts of the blend, of plain combinations and of a model, if given.

        The rows are the known ones; `overall` must have been called before.
        """
        shape = (0, self.rows.forecasts.shape[1], 1 + len(self.plain))
        combined = np.concatenate(self._combined) if self._combined else np.zeros(shape)
        if model is None:
            return combined
        own = self.rows.forecasts[self.known, :, self.rows.models.index(model)]
        return np.concatenate([combined, own[:, :, np.newaxis]], axis=2)

    def by(self, grouping: Grouping, table: Floats, names: Sequence[str]) -> Errors:
        """Return the errors of some forecasters in groups of rows."""
        codes, size = grouping.codes[self.known], len(grouping.labels)

        def added(cells: Floats) -> Floats:
            columns = (np.bincount(codes, cells[:, k], size) for k in range(cells.shape[1]))
            return np.stack(list(columns), axis=1)

        there = self._there(table)
        sums, beside = [], []
        for measure in self.measures:
            losses = self._losses(measure, table, self.known)
            sums.append(added(np.where(there, losses, 0.0)))
            beside.append(added(np.where(there, losses[:, :1], 0.0)))
        bias = added(np.where(there, self._errors(table, self.known), 0.0))
        counts = added(there.astype(np.float64))
        return self._finished(
            list(names), grouping.labels, np.array(sums), np.array(beside), counts, bias
        )

    def worst(self, table: Floats) -> Worst | None:
        """Return the row in which the blend lost most; None if it lost nothing."""
        losses = self._losses(self.measures[0], table[:, :, :1], self.known)[:, 0]
        total = float(losses.sum())
        if not self.numbers or not total > 0.0:
            return None
        k = int(losses.argmax())
        row = int(self.known[k])
        forecast, outcome = table[k, self.middle, 0], self.rows.outcomes[row]
        return Worst(float(losses[k]) / total, row, float(forecast), float(outcome))

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
        rows = self.rows
        forecasts = rows.forecasts[part]
        awake = rows.awake_in(part)
        some = awake.any(axis=1)
        columns = [rows.values[part][:, :, np.newaxis]]
        for name in self.plain:
            made = np.full(forecasts.shape[:2], nan)
            how = {MEAN: plain_means, MEDIAN: plain_medians, VOTE: plain_votes}[name]
            if self.levels is not None and name == MEDIAN:  # of each level by itself
                levels = range(forecasts.shape[1])
                used = [how(forecasts[some][:, [k]], awake[some]) for k in levels]
                made[some] = np.concatenate(used, axis=1)
            elif some.any():
                made[some] = how(forecasts[some], awake[some])
            columns.append(made[:, :, np.newaxis])
        return np.concatenate(columns, axis=2)

    @staticmethod
    def _there(table: Floats) -> np.ndarray:
        return np.asarray((np.abs(table) < LARGEST).all(axis=1))

    def _errors(self, table: Floats, part: np.ndarray) -> Floats:
        """Return forecast minus outcome."""
        return np.asarray(table[:, self.middle] - self.rows.outcomes[part][:, np.newaxis])

    def _losses(self, measure: Measure, table: Floats, part: np.ndarray) -> Floats:
        """Return the loss of each forecast; rows x forecasters."""
        outcomes = self.rows.outcomes[part]
        if measure.kind == "levels":
            assert self.levels is not None
            above = outcomes[:, np.newaxis, np.newaxis] - table
            slope = self.levels[:, np.newaxis] - (above < 0.0)
            weighted: Floats = 2.0 * (slope * above).mean(axis=1)
            return weighted
        if measure.kind != "own":
            errors = self._errors(table, part)
            return errors**2 if measure.kind == "square" else np.abs(errors)
        return self.loss.table(table, outcomes, self.rows.items[part])

    def _finished(
        self,
        names: list[str],
        labels: list[str],
        sums: Floats,
        beside: Floats,
        counts: Floats,
        bias: Floats,
    ) -> Errors:
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = list(zip(self.measures, sums, beside, strict=True))
            values = np.array([measure.of(total / counts) for measure, total, _ in pairs])
            blend = np.array([measure.of(total / counts) for measure, _, total in pairs])
            mean = bias / counts if self.numbers else np.full_like(bias, nan)
        return Errors(self.measures, names, labels, values, blend, counts.astype(np.int64), mean)
