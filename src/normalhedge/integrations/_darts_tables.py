"""Series of Darts as rows of forecasts, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from darts import TimeSeries
from darts.utils.utils import n_steps_between

from normalhedge.boundary.inputs import Floats
from normalhedge.integrations._steps_ahead import Round, StepsAhead, step_item


class ForecastTable:
    """The forecasts of several models as rows: a time at which they were made, and a step."""

    def __init__(
        self,
        series: TimeSeries,
        forecasts: Mapping[str, Sequence[TimeSeries]],
        levels: Sequence[float],
        ahead: int,
        *,
        last_points: bool,
        number: int = 0,
        before: int = 0,
    ) -> None:
        self.series, self.last_points = series, last_points
        self.number, self.before = number, before
        self.freq: Any = series.freq
        rows: dict[tuple[int, int], dict[str, Any]] = {}
        for name, many in forecasts.items():
            for forecast in many:
                _check(name, forecast, series)
                values, self.freq = _numbers(forecast, levels), forecast.freq
                for j, place in enumerate(self._places(forecast)):
                    step = ahead + (0 if last_points else j)
                    rows.setdefault((place - step, step), {})[name] = values[j]
        self.rows = dict(sorted(rows.items()))

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each row and component."""
        for (made, step), forecasts in self.rows.items():
            for c, part in enumerate(parts_of(self.series)):
                due = (self.number, c, self.before + made + step)
                row = {name: values[c] for name, values in forecasts.items()}
                yield Round(self.before + made, step_item(step, [step], part), due, row)

    def shape_series(self, values: Floats, levels: Sequence[float]) -> Any:
        """Return numbers of the rows, in the form in which the forecasts came."""
        made = np.array([cutoff for cutoff, _ in self.rows])
        places = np.array([cutoff + step for cutoff, step in self.rows])
        parts = [slice(None)] if self.last_points else [made == time for time in np.unique(made)]
        series = []
        for part in parts:
            start, freq = self.series.start_time(), self.series.freq
            times = _index([start + int(place) * freq for place in places[part]], self.freq)
            series.append(as_series(times, values[part], self.series, levels, self.freq))
        return series[0] if self.last_points else series

    def _places(self, forecast: TimeSeries) -> range:
        """Return how many steps the times of a forecast are after the start of the series."""
        start, freq = self.series.start_time(), self.series.freq
        first, second = (
            int(n_steps_between(end=time, start=start, freq=freq))
            for time in (forecast.start_time(), forecast.start_time() + forecast.freq)
        )
        return range(first, first + len(forecast) * (second - first), second - first)


def _check(name: str, forecast: TimeSeries, series: TimeSeries) -> None:
    """Refuse a forecast of another series."""
    if not isinstance(forecast, TimeSeries):
        kind = type(forecast).__name__
        raise TypeError(f"forecasts of {name} must be series of Darts, got {kind}")
    if forecast.n_components != series.n_components:
        raise ValueError(
            f"forecasts of {name} have {forecast.n_components} components, the series has "
            f"{series.n_components}"
        )


def outcomes_of(
    series: TimeSeries, number: int, before: int
) -> Iterator[tuple[int, tuple[int, int, int], float]]:
    """Yield the time of each outcome, what it settles, and the outcome."""
    for place, row in enumerate(series.values(copy=False).tolist(), before):
        for c, outcome in enumerate(row):
            yield place, (number, c, place), outcome


def _numbers(forecast: TimeSeries, levels: Sequence[float]) -> Any:
    """Return the forecasts of each time and component: a number, or a list of quantiles."""
    values = forecast.all_values(copy=False)
    if levels:
        return np.moveaxis(np.quantile(values, levels, axis=2), 0, 2).tolist()
    return values.mean(axis=2).tolist()


def parts_of(series: TimeSeries) -> list[str]:
    """Return the names of components; one has no name."""
    return [""] if series.n_components == 1 else [str(name) for name in series.components]


def read_levels(quantiles: Sequence[float] | None) -> list[float]:
    levels = sorted({float(level) for level in quantiles or ()})
    if any(not 0.0 < level < 1.0 for level in levels):
        raise ValueError(f"quantiles must lie between 0 and 1, got {list(quantiles or ())}")
    return levels


def coverage_of(levels: Sequence[float]) -> list[float]:
    """Return the coverage of the interval that ends at each quantile; of some interval at 0.5."""
    return [abs(1.0 - 2.0 * level) or 0.5 for level in levels]


def from_bounds(centers: Floats, bounds: Floats, levels: Sequence[float]) -> Floats:
    """Return quantiles from intervals: rows x levels."""
    columns = [
        centers if level == 0.5 else bounds[:, k, int(level > 0.5)]
        for k, level in enumerate(levels)
    ]
    return np.stack(columns, axis=1)


def past_quantiles(
    ahead: StepsAhead,
    table: ForecastTable,
    values: Floats,
    levels: Sequence[float],
    season: int | None,
) -> Floats:
    """Return quantiles around the blends of a table, each as it was known at its time."""
    quantiles = np.empty((*values.shape, len(levels)))
    steps = np.array([step for _, step in table.rows])
    for step in np.unique(steps).tolist():
        for c, part in enumerate(parts_of(table.series)):
            item, here = step_item(step, [step], part), steps == step
            bounds = ahead.past_bounds(coverage_of(levels), item, season)
            quantiles[here, c] = from_bounds(values[here, c], bounds, levels)
    return quantiles


def _index(times: list[Any], freq: Any) -> Any:
    """Return an index of Darts."""
    if isinstance(times[0], pd.Timestamp):
        return pd.DatetimeIndex(times)
    step = int(freq) if len(times) < 2 else times[1] - times[0]
    return pd.RangeIndex(times[0], times[-1] + step, step)


def as_series(
    times: Any, values: Floats, like: TimeSeries, levels: Sequence[float], freq: Any = None
) -> TimeSeries:
    """Return a series with the components of another."""
    names = list(like.components)
    if levels:
        names = [f"{name}_q{level:.3f}" for name in names for level in levels]
        return TimeSeries.from_times_and_values(
            times, values.reshape(len(values), -1), columns=names, freq=freq
        )
    return TimeSeries.from_times_and_values(
        times, values, columns=names, freq=freq, static_covariates=like.static_covariates,
        hierarchy=like.hierarchy,
    )  # fmt: skip
