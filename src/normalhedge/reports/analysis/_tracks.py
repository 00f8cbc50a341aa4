"""Forecasts beside outcomes over time, for the largest series: the end in detail, the rest thin."""

from dataclasses import dataclass, replace

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.reports.analysis._coverage import IntervalBands
from normalhedge.reports.analysis._rows import BlendedRows

MOST, DETAIL, POINTS = 12, 200, 1200
"""The largest numbers of series, of rows in detail, and of points over the whole time."""

BAND_LEVELS = 3
"""The largest number of intervals in one plot."""


@dataclass(frozen=True)
class SeriesCurves:
    """Outcomes and forecasts of one series at some times."""

    # times, actual, forecast, plain: the times, the outcomes, the forecasts of the blend and the
    # plain mean; NaN where there is none
    times: np.ndarray
    actual: Floats
    forecast: Floats
    plain: Floats
    bands: IntervalBands | None = None  # the intervals; None if there are none

    def at(self, rows: np.ndarray) -> "SeriesCurves":
        """Return the curves at some of the times."""
        bands = None if self.bands is None else self.bands.at(rows)
        times, actual, forecast = self.times[rows], self.actual[rows], self.forecast[rows]
        return SeriesCurves(times, actual, forecast, self.plain[rows], bands)


@dataclass(frozen=True)
class SeriesTrack:
    """One series: its last rows, and its whole time."""

    name: str  # the name of the series
    last: SeriesCurves  # the last rows, in detail
    # means over stretches of time, or all rows if these are few; None if ``last`` has all rows
    whole: SeriesCurves | None
    each: int  # the number of rows of a point of ``whole``


def tracks(rows: BlendedRows, bands: IntervalBands | None, middle: int = 0) -> list[SeriesTrack]:
    """Return the tracks of the series with the largest outcomes, the largest first.

    Of forecasts several steps ahead, the ones with the fewest steps are taken.
    """
    codes, count = rows.series.codes, len(rows.series.labels)
    size = np.bincount(codes, np.nan_to_num(np.abs(rows.outcomes)), count)
    chosen = np.argsort(-size, kind="stable")[:MOST]
    return [_track(rows, bands, middle, int(k)) for k in chosen]


def _track(rows: BlendedRows, bands: IntervalBands | None, middle: int, series: int) -> SeriesTrack:
    place = np.flatnonzero(rows.series.codes == series)
    if rows.steps is not None:
        step = rows.steps.codes[place]
        place = place[step == step.min()]
    place = place[np.argsort(rows.rounds[place], kind="stable")]
    forecasts = rows.forecasts[place, middle]
    awake = rows.awake_in(place)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(awake, forecasts, 0.0).sum(axis=1) / awake.sum(axis=1)
    if bands is not None:
        keep = np.unique(np.linspace(0, len(bands.levels) - 1, BAND_LEVELS).round().astype(int))
        bands = IntervalBands(bands.levels[keep], *(side[keep][:, place] for side in bands[1:]))
    every = SeriesCurves(
        rows.times[place], rows.outcomes[place], rows.values[place, middle], plain, bands
    )
    last = every.at(np.arange(len(place))[-DETAIL:])
    whole, each = (None, 1) if len(place) <= DETAIL else _thin(every)
    return SeriesTrack(rows.series.labels[series], last, whole, each)


def _thin(curves: SeriesCurves) -> tuple[SeriesCurves, int]:
    """Return means over stretches of settled rows, and the number of rows of a stretch."""
    known = ~np.isnan(curves.actual) & ~np.isnan(curves.forecast)
    settled = replace(curves, bands=None).at(known)
    each = max(-(-len(settled.times) // POINTS), 1)
    starts = np.arange(0, len(settled.times), each)
    if not len(starts):
        return settled, 1
    count = np.diff(np.append(starts, len(settled.times)))
    parts = (settled.actual, settled.forecast, settled.plain)
    actual, forecast, plain = (np.add.reduceat(part, starts) / count for part in parts)
    return SeriesCurves(settled.times[starts], actual, forecast, plain), each
