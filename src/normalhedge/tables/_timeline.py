"""The weights and losses of a blend over time, in stretches, for the plots of a report."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state import sum_rows
from normalhedge.tables.frames import Columns, as_dates

SHOWN = 10
"""The number of experts with curves of their own."""

FAR = 20.0
"""Curves that end this many times the median distance away are hidden at first."""

ROLLING = 1 / 25
"""The length of rolling means, as a share of the whole time."""


@dataclass(frozen=True)
class Timeline:
    """Means over stretches of time, of the blend and of the experts that matter most.

    Attributes
    ----------
    when
        The time of the first round of each stretch: a date, a number or a word; without times, its
        number.
    rounds
        The mean number of rounds of a stretch.
    window
        The number of rounds of rolling means, and of the means of weights around each time.
    names
        The experts with the largest mean weight.
    weights, others
        Their mean weights around each time, and the total weight of all other experts; stretches x
        experts, and stretches.
    blend, uniform, losses
        Mean losses of the blend, of uniform weights and of these experts over the last ``window``
        rounds; NaN where no row was settled.
    behind
        The cumulative loss of each of these experts, and then of uniform weights, minus the loss of
        the blend in the same rows.
    wild
        Whether the curve of each of these experts, and then of uniform weights, is so far away that
        the scale would hide the other curves.
    awake
        The share of rows in which each expert was awake; experts x stretches.
    everybody
        The names of all experts, in the order of `awake`: the ones awake most often come first.
    regret
        The largest regret in each stretch, in units of the loss, discounted as the hedger forgets.
    """

    when: np.ndarray
    rounds: float
    window: float
    names: list[str]
    weights: Floats
    others: Floats
    blend: Floats
    uniform: Floats
    losses: Floats
    behind: Floats
    wild: np.ndarray
    awake: Floats
    everybody: list[str]
    regret: Floats


class Stretches(Protocol):
    """The part of a `normalhedge.tables.Blend` from which its timeline is computed."""

    mixture: Mixture
    starts: np.ndarray
    when: list[Any]
    sums: Floats
    totals: Floats
    columns: Columns


def timeline(blend: Stretches) -> Timeline:
    """Return the timeline of a blend."""
    sums, totals, names = blend.sums, blend.totals, blend.mixture.names
    rows = totals[:, sum_rows.ROWS]
    predicted = rows - totals[:, sum_rows.SILENT]
    order = np.argsort(-np.nansum(sums[:, sum_rows.WEIGHT], axis=0), kind="stable")
    top = order[:SHOWN]
    settled = totals[:, sum_rows.SETTLED]
    ahead = sums[:, sum_rows.LOSS] - sums[:, sum_rows.BLEND_LOSS]
    uniform = totals[:, sum_rows.UNIFORM] - totals[:, sum_rows.BLEND]
    behind = np.cumsum(np.column_stack([ahead[:, top], uniform]), axis=0)
    distances = np.abs(behind).max(axis=0)
    awake = _over(sums[:, sum_rows.AWAKE], rows[:, np.newaxis]).T
    often = np.argsort(-np.nanmean(awake, axis=1), kind="stable")
    width = max(round(ROLLING * len(sums)), 1)
    around = width - width // 2 - 1  # the stretches after each time, half of them
    weights = _means(sums[:, sum_rows.WEIGHT], predicted[:, np.newaxis], width, after=around)
    rounds = float(np.ptp(blend.starts) / max(len(blend.starts) - 1, 1)) or 1.0
    return Timeline(
        when=_when(blend.when, blend.columns.forecast_time),
        rounds=rounds,
        window=rounds * width,
        names=[names[i] for i in top],
        weights=weights[:, top],
        others=weights[:, order[SHOWN:]].sum(axis=1),
        blend=_means(totals[:, sum_rows.BLEND], settled, width),
        uniform=_means(totals[:, sum_rows.UNIFORM], settled, width),
        losses=_means(sums[:, sum_rows.LOSS], sums[:, sum_rows.SCORED], width)[:, top],
        behind=behind,
        wild=distances > FAR * np.median(distances),
        awake=awake[often],
        everybody=[names[i] for i in often],
        regret=totals[:, sum_rows.REGRET].copy(),
    )


def _when(times: list[Any], name: str | None) -> np.ndarray:
    """Return times as dates, if they are dates, or else as numbers or words."""
    if any(isinstance(time, str) for time in times):
        plain = np.array([str(time) for time in times], dtype=object)
    else:
        plain = np.array(times)
    dates = as_dates(extras.require("pyarrow").array(times), name)
    return plain if dates is None else dates


def _over(total: Floats, count: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _means(total: Floats, count: Floats, width: int, *, after: int = 0) -> Floats:
    """Return means over ``width`` stretches up to each, with some of them after it."""
    places = np.arange(len(total))
    stop = np.minimum(places + 1 + after, len(total))
    first = np.maximum(places + 1 + after - width, 0)
    totals, counts = (
        np.cumsum(np.concatenate([part[:1] * 0.0, part]), axis=0) for part in (total, count)
    )
    return _over(totals[stop] - totals[first], counts[stop] - counts[first])
