r"""Scores of quantile forecasts: pinball loss, weighted interval score, CRPS and coverage.

Let x_k be the forecast of the quantile of level tau_k, k = 1 .. K, and y the outcome.

.. math::

    \rho_k &= \tau_k (y - x_k)_+ + (1 - \tau_k) (x_k - y)_+ \\
    \mathrm{WIS} &= \frac1K \sum_k 2 \rho_k \\
    \mathrm{CRPS} &\approx \sum_k v_k 2 \rho_k, \qquad
    v_k = \tfrac12 (\tau_{k+1} + \tau_k) - \tfrac12 (\tau_k + \tau_{k-1})

where the first and the last cell of the CRPS reach to 0 and to 1. If the levels belong to the
median and to J central intervals with contents 1 - alpha_j, this is the usual form

.. math::

    \mathrm{WIS} = \frac{1}{J + 1/2} \left(\tfrac12 |y - m| + \sum_j \tfrac{\alpha_j}{2}
    \left(u_j - l_j + \tfrac{2}{\alpha_j} ((l_j - y)_+ + (y - u_j)_+)\right)\right).

The CRPS is the integral of 2 rho over all levels; equally spaced levels give WIS and CRPS the same
meaning. Bracher et al., "Evaluating epidemic forecasts in an interval format" (2021).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.summaries import Summary, Table
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables.quantiles._table import QuantileTable

SHOWN = 20
"""The number of models whose scores are printed."""

CHUNK = 1 << 22
"""About how many forecasts are scored at a time."""


def pinball_losses(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the pinball loss of each forecast; NaN where forecast or outcome is missing.

    Parameters
    ----------
    forecasts
        Quantiles: cells x levels, or cells x levels x experts.
    outcomes
        The outcome of each cell.
    levels
        The level of each column of forecasts.

    Examples
    --------
    >>> pinball_losses(np.array([[1.0, 3.0]]), np.array([2.0]), [0.1, 0.9])
    array([[0.1, 0.1]])
    """
    shape = (1, -1) + (1,) * (forecasts.ndim - 2)
    tau = np.asarray(levels, dtype=np.float64).reshape(shape)
    below = outcomes.reshape((-1,) + (1,) * (forecasts.ndim - 1)) - forecasts
    return np.asarray(np.where(below > 0.0, tau * below, (tau - 1.0) * below))


def wis_scores(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the weighted interval score of each cell; NaN where a level is missing.

    Parameters
    ----------
    forecasts, outcomes, levels
        As for `pinball_losses`.

    Examples
    --------
    >>> wis_scores(np.array([[1.0, 2.0, 4.0]]), np.array([5.0]), [0.25, 0.5, 0.75]).round(4)
    array([2.1667])
    """
    return np.asarray(2.0 * pinball_losses(forecasts, outcomes, levels).mean(axis=1))


def crps_scores(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the continuous ranked probability score of each cell, by a sum over the levels.

    Parameters
    ----------
    forecasts, outcomes, levels
        As for `pinball_losses`.
    """
    losses = pinball_losses(forecasts, outcomes, levels)
    return np.asarray(2.0 * np.tensordot(cell_widths(levels), losses, axes=(0, 1)))


def cell_widths(levels: Sequence[float]) -> Floats:
    """Return the part of (0, 1) that each level stands for; they sum to one.

    Examples
    --------
    >>> cell_widths([0.05, 0.5, 0.95])
    array([0.275, 0.45 , 0.275])
    """
    tau = np.asarray(levels, dtype=np.float64)
    middles = 0.5 * (tau[1:] + tau[:-1])
    return np.diff(np.concatenate([[0.0], middles, [1.0]]))


def central_intervals(levels: Sequence[float]) -> list[tuple[float, int, int]]:
    """Return the central intervals that levels make: content, place of the lower and upper end.

    Examples
    --------
    >>> central_intervals([0.05, 0.25, 0.5, 0.75, 0.95])
    [(0.5, 1, 3), (0.9, 0, 4)]
    """
    return sorted(
        (round(levels[high] - levels[low], 9), low, high)
        for low, high in permutations(range(len(levels)), 2)
        if levels[low] < levels[high] and abs(levels[low] + levels[high] - 1.0) < 1e-9
    )


@dataclass(frozen=True)
class QuantileScores:
    """Mean scores of quantile forecasts over the settled cells of a table.

    A cell is a time of a series. The plain mean and the plain median combine the experts awake,
    level by level.

    Attributes
    ----------
    levels
        The levels.
    names
        The blend, the plain mean, the plain median and the experts.
    pinball
        The mean pinball loss of each of them at each level, over the cells in which it has one.
    wis, crps
        The mean weighted interval score and CRPS of each, over the cells in which it has all
        levels; NaN without any.
    same
        The mean weighted interval score of the blend over the same cells.
    cells
        The number of these cells.
    below
        The share of outcomes at or below the quantile of the blend, for each level.
    """

    levels: tuple[float, ...]
    names: list[str]
    pinball: Floats
    wis: Floats
    crps: Floats
    same: Floats
    cells: np.ndarray
    below: Floats

    def coverage(self) -> dict[float, float]:
        """Return the share of outcomes in each central interval of the blend, by its content."""
        return {
            content: float(self.below[high] - self.below[low])
            for content, low, high in central_intervals(self.levels)
        }

    def score_table(self) -> Table:
        """Return the scores of the blend, the plain combinations and the best experts as text."""
        experts = np.arange(3, len(self.names))
        ratio = self.wis[3:] / np.where(self.same[3:] > 0.0, self.same[3:], np.nan)
        order = [0, 1, 2, *experts[np.argsort(ratio, kind="stable")][:SHOWN]]
        scores = (self.wis, self.same, self.crps)
        body = [
            [self.names[i], *(_number(score[i]) for score in scores), f"{self.cells[i]:,}"]
            for i in order
        ]
        return ["", "WIS", "WIS of the blend, same cells", "CRPS", "cells"], body

    def level_table(self) -> Table:
        """Return the pinball losses at each level, and the share of outcomes below, as text."""
        body = [
            [
                f"{level:g}",
                *(_number(self.pinball[i, k]) for i in range(3)),
                "" if np.isnan(self.below[k]) else f"{self.below[k]:.3f}",
            ]
            for k, level in enumerate(self.levels)
        ]
        heads = [f"pinball, {name}" for name in self.names[:3]]
        return ["level", *heads, "outcomes below the blend"], body


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def score_quantiles(
    values: Floats,
    forecasts: Floats,
    outcomes: Floats,
    levels: tuple[float, ...],
    experts: Sequence[str],
) -> QuantileScores:
    """Return the mean scores of a blend and of its experts."""
    known = np.flatnonzero(~np.isnan(outcomes))
    length = max(CHUNK // max(forecasts[:1].size, 1), 1)
    starts = range(0, max(len(known), 1), length)
    pieces = [known[start : start + length] for start in starts]
    sums = [_sums(values[k], forecasts[k], outcomes[k], levels) for k in pieces]
    totals = [np.sum(part, axis=0) for part in zip(*sums, strict=True)]
    with np.errstate(invalid="ignore"):
        pinball, wis, crps, same, below = (total[0] / total[1] for total in totals)
    cells = totals[1][1].astype(np.int64)
    names = ["blend", "plain mean", "plain median", *experts]
    return QuantileScores(levels, names, pinball.T, wis, crps, same, cells, below)


def _sums(
    values: Floats, forecasts: Floats, outcomes: Floats, levels: tuple[float, ...]
) -> list[Floats]:
    """Return the sums and counts of the scores of some cells, as in `QuantileScores`."""
    plain = [plain_combination(forecasts, way) for way in (np.nanmean, np.nanmedian)]
    every = np.concatenate([np.stack([values, *plain], axis=2), forecasts], axis=2)
    scores = wis_scores(every, outcomes, levels)
    scores = np.where(np.isnan(scores[:, :1]), np.nan, scores)
    integrals = np.where(np.isnan(scores), np.nan, crps_scores(every, outcomes, levels))
    below = np.where(np.isnan(values), np.nan, outcomes[:, np.newaxis] <= values)
    same = np.where(np.isnan(scores), np.nan, scores[:, :1])
    parts = (pinball_losses(every, outcomes, levels), scores, integrals, same, below)
    return [np.stack([np.nansum(part, axis=0), (~np.isnan(part)).sum(axis=0)]) for part in parts]


def plain_combination(forecasts: Floats, way: Callable[..., Any]) -> Floats:
    """Return the mean or the median of the experts awake; NaN where none is."""
    missing = np.isnan(forecasts)
    if not missing.any():
        plain: Any = {np.nanmean: np.mean, np.nanmedian: np.median}[way]
        return np.asarray(plain(forecasts, axis=2))
    awake = ~missing.all(axis=2)
    result = np.full(awake.shape, np.nan)
    result[awake] = way(forecasts[awake], axis=1)
    return result


@dataclass(frozen=True)
class QuantileSummary(Summary):
    """The summary of a table of quantile forecasts: with scores of whole cells.

    Attributes
    ----------
    scores
        The scores.
    """

    scores: QuantileScores

    def tables(self) -> list[tuple[str, Table]]:
        """Return all tables with their titles, first the tables of the scores."""
        if not self.scores.cells[0]:
            return super().tables()
        shares = self.scores.coverage().items()
        covered = ", ".join(f"{content:.0%}: {share:.1%}" for content, share in shares)
        levels = f"by level; intervals of the blend cover, of outcomes: {covered}"
        return [
            ("mean scores over cells: a time of a series", self.scores.score_table()),
            (levels if covered else "by level", self.scores.level_table()),
            *super().tables(),
        ]


def cells_of(rounds: TableRounds, count: int) -> tuple[Floats, Floats, Floats]:
    """Return predictions, forecasts and outcomes by cell, in the order of the table's result.

    That is cells x levels, cells x levels x experts, and cells.
    """
    order = rounds.new_rows()
    return rounds.values[order, :count], rounds.forecasts[order], rounds.outcomes[order]


def summarise_quantiles(
    summary: Summary, quantiles: QuantileTable, rounds: TableRounds, experts: Sequence[str]
) -> QuantileSummary:
    """Return a summary with the scores of the quantiles of a table."""
    values, forecasts, outcomes = cells_of(rounds, len(quantiles.levels))
    scores = score_quantiles(values, forecasts, outcomes, quantiles.levels, experts)
    parts = {part.name: getattr(summary, part.name) for part in fields(summary)}
    return QuantileSummary(**parts, scores=scores)
