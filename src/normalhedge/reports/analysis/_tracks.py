"""Forecasts beside outcomes over time, for the largest series: the end, and the whole time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.reports.analysis._coverage import IntervalBands
from normalhedge.reports.analysis._rows import BlendedRows

MOST, DETAIL, POINTS = 12, 200, 1200
"""The largest numbers of series, of rows at the end, and of means over the whole time."""

ROOM = 320_000
"""A page has room for so many numbers of whole series, about 1.7 MB; others are shown in means."""

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
    models: Floats  # the forecasts of single models, times x models
    bands: IntervalBands | None = None  # the intervals; None if there are none

    def at(self, rows: np.ndarray) -> "SeriesCurves":
        """Return the curves at some of the times."""
        bands = None if self.bands is None else self.bands.at(rows)
        times, actual, forecast = self.times[rows], self.actual[rows], self.forecast[rows]
        return SeriesCurves(times, actual, forecast, self.plain[rows], self.models[rows], bands)


@dataclass(frozen=True)
class SeriesTrack:
    """One series: its last rows, and its whole time."""

    name: str  # the name of the series
    last: SeriesCurves  # the last rows, in detail
    # all rows, or means over stretches of time if there is no room for them; None if ``last`` has
    # all rows
    whole: SeriesCurves | None
    each: int  # the number of rows of a point of ``whole``
    models: list[str]  # the names of the single models


def tracks(
    rows: BlendedRows, bands: IntervalBands | None, models: Sequence[str], middle: int = 0
) -> list[SeriesTrack]:
    """Return the tracks of the series with the largest outcomes, the largest first.

    Of several forecasts of a time, the one with the fewest steps ahead is taken. The whole time has
    all rows, and single models and intervals where there is room for them.
    """
    codes, count = rows.series.codes, len(rows.series.labels)
    size = np.bincount(codes, np.nan_to_num(np.abs(rows.outcomes)), count)
    chosen = np.argsort(-size, kind="stable")[:MOST]
    found, room = list[SeriesTrack](), ROOM
    for k in chosen.tolist():
        every = _curves(rows, bands, models, middle, k)
        last, whole, each = every.at(np.arange(len(every.times))[-DETAIL:]), None, 1
        if _numbers_in(last) > room:
            last = replace(last, models=last.models[:, :0])
        room -= _numbers_in(last)
        if len(every.times) > DETAIL:
            whole, each = _fit(every, room)
            room -= _numbers_in(whole)
        found.append(SeriesTrack(rows.series.labels[k], last, whole, each, list(models)))
    return found


def _curves(
    rows: BlendedRows,
    bands: IntervalBands | None,
    models: Sequence[str],
    middle: int,
    series: int,
) -> SeriesCurves:
    """Return all rows of a series in the order of time."""
    place = np.flatnonzero(rows.series.codes == series)
    place = place[np.argsort(rows.rounds[place], kind="stable")]
    if rows.steps is not None:
        place = place[np.argsort(rows.steps.codes[place], kind="stable")]
        place = place[np.unique(rows.times[place], return_index=True)[1]]
    forecasts = rows.forecasts[place, middle]
    awake = rows.awake_in(place)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(awake, forecasts, 0.0).sum(axis=1) / awake.sum(axis=1)
    single = np.where(awake, forecasts, np.nan)[:, [rows.models.index(name) for name in models]]
    if bands is not None:
        keep = np.unique(np.linspace(0, len(bands.levels) - 1, BAND_LEVELS).round().astype(int))
        bands = IntervalBands(bands.levels[keep], *(side[keep][:, place] for side in bands[1:]))
    outcomes, values = rows.outcomes[place], rows.values[place, middle]
    return SeriesCurves(rows.times[place], outcomes, values, plain, single, bands)


def _numbers_in(curves: SeriesCurves) -> int:
    """Return how many numbers of a page some curves take."""
    bands = 0 if curves.bands is None else 2 * len(curves.bands.levels)
    numbers = len(curves.times) * (3 + bands + curves.models.shape[1])
    gaps = np.diff(curves.times) if curves.times.dtype.kind != "O" else np.arange(2)
    even = bool((gaps == gaps[:1]).all())
    return int(numbers * (1 if even else 3))  # each curve has its times


def _fit(curves: SeriesCurves, room: int) -> tuple[SeriesCurves, int]:
    """Return curves for which there is room, and the number of rows of a point."""
    for part in (curves, _alone(curves)):
        if _numbers_in(part) <= room:
            return part, 1
    return _thin(_alone(curves))


def _alone(curves: SeriesCurves) -> SeriesCurves:
    """Return curves without single models and intervals."""
    return replace(curves, models=curves.models[:, :0], bands=None)


def _thin(curves: SeriesCurves) -> tuple[SeriesCurves, int]:
    """Return means over stretches of settled rows, and the number of rows of a stretch."""
    known = ~np.isnan(curves.actual) & ~np.isnan(curves.forecast)
    settled = curves.at(known)
    each = max(-(-len(settled.times) // POINTS), 1)
    starts = np.arange(0, len(settled.times), each)
    if not len(starts):
        return settled, 1
    count = np.diff(np.append(starts, len(settled.times)))
    parts = (settled.actual, settled.forecast, settled.plain)
    actual, forecast, plain = (np.add.reduceat(part, starts) / count for part in parts)
    return SeriesCurves(
        settled.times[starts], actual, forecast, plain, settled.models[starts]
    ), each
