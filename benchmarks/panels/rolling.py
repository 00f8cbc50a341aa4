"""Standard models as experts: each forecasts a series from every origin, once, by statsforecast.

A model sees the past only. Some are good for a series and some are bad, and nobody chooses: the
same models run on every series, but for those that need a season.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels.sources import Source

LONGEST_SEASON = 12
"""A seasonal ARIMA model of a longer season takes too long to fit."""


class Asleep:
    """What a model forecasts where it cannot be fitted: nothing."""

    alias = "asleep"

    def new(self) -> "Asleep":
        """Return another one; statsforecast gives it the name of the model that failed."""
        return Asleep()

    def fit(self, **_past: Any) -> "Asleep":
        """Learn nothing."""
        return self

    def forecast(self, *, h: int, **_past: Any) -> dict[str, np.ndarray]:
        """Forecast nothing for h steps."""
        return {"mean": np.full(h, np.nan)}

    forward = forecast


def panels(source: Source) -> dict[int, pd.DataFrame]:
    """Return the panel of each horizon: ``series``, ``time``, ``y`` and a column for each model.

    The time is that of the outcome. Of horizon h, the outcome is known h rounds later.
    """
    found: dict[int, list[pd.DataFrame]] = {horizon: [] for horizon in source.horizons}
    for name, values in source.read().items():
        rows = _forecasts(source, values.dropna().to_numpy(float))
        for horizon, parts in found.items():
            part = rows[rows["time"] - rows["cutoff"] == horizon].drop(columns="cutoff")
            part.insert(0, "series", str(name))
            parts.append(part)
    return {
        horizon: distinct(pd.concat(parts, ignore_index=True)) for horizon, parts in found.items()
    }


def distinct(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out experts that say what another one says: naive ones, a whole season ahead."""
    kept: list[str] = []
    for name in frame.columns[3:]:
        same = (np.allclose(frame[name], frame[other], equal_nan=True) for other in kept)
        if not any(same):
            kept.append(name)
    return frame[[*frame.columns[:3], *kept]]


def _forecasts(source: Source, values: np.ndarray) -> pd.DataFrame:
    """Return the forecasts of all models at all origins and steps, by ``time`` and ``cutoff``."""
    from statsforecast import StatsForecast  # noqa: PLC0415 -- an extra

    steps = max(source.horizons)
    frame = pd.DataFrame({"unique_id": "", "ds": np.arange(len(values)), "y": values})
    made: pd.DataFrame | None = None
    for models, refit, memory in _groups(source):
        rows = StatsForecast(models, freq=1, fallback_model=Asleep()).cross_validation(
            df=frame,
            h=steps,
            n_windows=len(values) - source.start - steps + 1,
            refit=refit,
            input_size=memory,
        )
        made = rows if made is None else made.merge(rows.drop(columns="y"))
    assert made is not None
    return made.drop(columns="unique_id").rename(columns={"ds": "time"})


def _groups(source: Source) -> Iterator[tuple[Sequence[Any], bool | int, int | None]]:
    """Yield models that are fitted alike: how often, and to how many rows."""
    from statsforecast import models as m  # noqa: PLC0415 -- an extra

    season, window = source.period, max(source.period, 6)
    simple = [
        m.Naive(),
        m.RandomWalkWithDrift(alias="drift"),
        m.HistoricAverage(),
        m.WindowAverage(window),
        m.SimpleExponentialSmoothingOptimized(alias="SES"),
    ]
    fitted = [
        m.Holt(),
        m.AutoETS(season),
        m.DynamicOptimizedTheta(season, alias="Theta"),
        m.ARIMA(order=(1, 1, 1), alias="ARIMA111"),
        m.ARIMA(order=(3, 0, 0), alias="AR3"),
    ]
    if season > 1:
        simple += [m.SeasonalNaive(season), m.SeasonalWindowAverage(season, 2)]
        fitted += [m.AutoCES(season)]
    # ARIMA by maximum likelihood: method="CSS" of statsforecast 2.1.1 forecasts zeros or the mean.
    if 1 < season <= LONGEST_SEASON:
        seasonal = {"season_length": season, "seasonal_order": (0, 1, 1)}
        fitted += [m.ARIMA(order=(0, 1, 1), alias="SARIMA", **seasonal)]
    yield simple, True, None
    yield fitted, True if source.refit == 1 else source.refit, source.memory
