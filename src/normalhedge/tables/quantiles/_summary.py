"""How quantile forecasts are blended and scored: the loss, and the summary of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses import Loss, crps
from normalhedge.mixtures.summaries import Summary, Table
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables.quantiles._scores import (
    central_intervals,
    crps_scores,
    pinball_losses,
    wis_scores,
)
from normalhedge.tables.quantiles._table import QuantileTable

SHOWN = 20
"""The number of models whose scores are printed."""

CHUNK = 1 << 22
"""About how many forecasts are scored at a time."""


def quantile_options(levels: tuple[float, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a mixture for quantile forecasts: with the loss of their levels."""
    loss = options.get("loss")
    if loss is None or loss in {"pinball", "crps", "wis"}:
        return {**options, "loss": crps(levels)}
    same = isinstance(loss, Loss) and tuple(sorted(loss.levels)) == levels
    if same and loss.name in {"pinball", "crps"}:
        return {**options, "loss": crps(levels)}
    raise ValueError(
        f"this table has quantiles at {_listed(levels)}, so its loss is the pinball loss at these "
        f"levels: leave out loss, got {loss if isinstance(loss, str | Loss) else 'a function'}"
    )


def levels_of_loss(loss: Loss, levels: tuple[float, ...] | None) -> None:
    """Refuse a loss at other levels than those of the table."""
    if levels is None and len(loss.levels) > 1:
        raise ValueError(
            f"loss {loss.name} at several levels needs a table that says the level of each "
            "forecast: name the column of levels with level, or the columns with quantiles"
        )
    if levels is not None and not loss.levels:
        raise ValueError(
            f"this table has quantiles at {_listed(levels)}, but the mixture has none: its loss is "
            f"{loss}"
        )
    if levels is not None and loss.levels != levels:
        raise ValueError(
            "the levels of the table must be those of the mixture, "
            f"{_listed(loss.levels)}; they are {_listed(levels)}"
        )


def _listed(levels: Sequence[float]) -> str:
    return " ".join(f"{level:g}" for level in levels)


@dataclass(frozen=True)
class QuantileScores:
    """Mean scores of quantile forecasts over the settled cells of a table.

    A cell is a time of a series. The plain mean and the plain median are those of the experts
    awake, level by level.

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
        body = [
            [
                self.names[i],
                _number(self.wis[i]),
                _number(self.same[i]),
                _number(self.crps[i]),
                f"{self.cells[i]:,}",
            ]
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
    found = np.full(awake.shape, np.nan)
    found[awake] = way(forecasts[awake], axis=1)
    return found


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
        """Return all tables with their titles, those of the scores first."""
        cells = int(self.scores.cells[0])
        if not cells:
            return super().tables()
        found = [
            ("mean scores over cells: a time of a series", self.scores.score_table()),
            ("by level", self.scores.level_table()),
        ]
        covered = [
            f"{content:.0%}: {share:.1%}" for content, share in self.scores.coverage().items()
        ]
        if covered:
            title = f"intervals of the blend cover, of outcomes: {', '.join(covered)}"
            found[1] = (f"by level; {title}", found[1][1])
        return [*found, *super().tables()]


def cells_of(rounds: TableRounds, count: int) -> tuple[Floats, Floats, Floats]:
    """Return predictions, forecasts and outcomes by cell, in the order of the table's result.

    That is cells x levels, cells x levels x experts, and cells.
    """
    order = np.argsort(rounds.row_of, kind="stable")[np.count_nonzero(rounds.row_of < 0) :]
    return rounds.values[order, :count], rounds.forecasts[order], rounds.outcomes[order]


def summarise_quantiles(
    found: Summary, quantiles: QuantileTable, rounds: TableRounds, experts: Sequence[str]
) -> QuantileSummary:
    """Return a summary with the scores of the quantiles of a table."""
    values, forecasts, outcomes = cells_of(rounds, len(quantiles.levels))
    scores = score_quantiles(values, forecasts, outcomes, quantiles.levels, experts)
    own = {part.name: getattr(found, part.name) for part in fields(found)}
    return QuantileSummary(**own, scores=scores)
