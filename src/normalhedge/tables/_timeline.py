"""The weights and losses of a blend over time, in stretches, for the plots of a report."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import sum_rows
from normalhedge.tables._blending import Blend
from normalhedge.tables.frames import as_dates

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
        The cumulative loss of each of these experts, and then of uniform weights, minus that of the
        blend in the same rows.
    wild
        Whether the curve of each of these experts, and then of uniform weights, is so far away that
        the scale would hide the other curves.
    awake
        The share of rows in which each expert was awake; experts x stretches.
    everybody
        The names of all experts, in the order of `awake`: those awake most often come first.
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


def timeline(blend: Blend) -> Timeline:
    """Return the timeline of a blend."""
    sums, totals, names = blend.sums, blend.totals, blend.mixture.names
    rows = totals[:, sum_rows.ROWS]
    predicted = rows - totals[:, sum_rows.SILENT]
    order = np.argsort(-np.nansum(sums[:, sum_rows.WEIGHT], axis=0), kind="stable")
    top = order[:SHOWN]
    settled = totals[:, sum_rows.SETTLED]
    behind = np.cumsum(sums[:, sum_rows.LOSS] - sums[:, sum_rows.BLEND_LOSS], axis=0)
    plain = np.cumsum(totals[:, sum_rows.UNIFORM] - totals[:, sum_rows.BLEND])
    awake = _over(sums[:, sum_rows.AWAKE], rows[:, np.newaxis]).T
    often = np.argsort(-np.nanmean(awake, axis=1), kind="stable")
    width = max(round(ROLLING * len(sums)), 1)
    weights = _around(sums[:, sum_rows.WEIGHT], predicted[:, np.newaxis], width)
    rounds = float(np.ptp(blend.starts) / max(len(blend.starts) - 1, 1)) or 1.0
    return Timeline(
        when=_when(blend.when, blend.columns.forecast_time),
        rounds=rounds,
        window=rounds * width,
        names=[names[i] for i in top],
        weights=weights[:, top],
        others=weights[:, order[SHOWN:]].sum(axis=1),
        blend=_rolling(totals[:, sum_rows.BLEND], settled, width),
        uniform=_rolling(totals[:, sum_rows.UNIFORM], settled, width),
        losses=_rolling(sums[:, sum_rows.LOSS], sums[:, sum_rows.SCORED], width)[:, top],
        behind=np.column_stack([behind[:, top], plain]),
        wild=_wild(np.abs(np.column_stack([behind[:, top], plain])).max(axis=0)),
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


def _wild(distances: Floats) -> np.ndarray:
    """Return whether distances are more than `FAR` times the median distance."""
    return np.asarray(distances > FAR * np.median(distances))


def _over(total: Floats, count: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _around(total: Floats, count: Floats, width: int) -> Floats:
    """Return means over ``width`` stretches, half of them before and half of them after each."""
    places = np.arange(len(total))
    first = np.maximum(places - width // 2, 0)
    stop = np.minimum(places - width // 2 + width, len(total))
    added = [np.cumsum(np.concatenate([part[:1] * 0.0, part]), axis=0) for part in (total, count)]
    return _over(added[0][stop] - added[0][first], added[1][stop] - added[1][first])


def _rolling(total: Floats, count: Floats, width: int) -> Floats:
    """Return means over the last ``width`` stretches."""
    added = [np.cumsum(part, axis=0) for part in (total, count)]
    before = [
        np.concatenate([np.zeros_like(part[:width]), part[:-width]])[: len(part)] for part in added
    ]
    return _over(added[0] - before[0], added[1] - before[1])
