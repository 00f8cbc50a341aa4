"""Panels of real forecasters: teams, pollsters, weather models and price models.

The files of the hubs, of the weather models and of the prices are not part of this project (see
DATA). A hub's own models are left out: they are what to compare with. Outcomes become known by
date, not by a number of rows:

- EU deaths: a forecast h weeks ahead is made in the week that ends 7 h days before its target, and
  the outcome counts from the forecasts made in the target's week on.
- FluSight: forecasts of a reference date are handed in when the truth of 7 days before is out, so
  that of horizon h the outcome is known h + 1 dates later.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from normalhedge.boundary.inputs import Floats

DATA = Path(__file__).parents[3] / "shared" / "data"
"""Where the files of the hubs are: beside this project."""

CLASSES = ("large_decrease", "decrease", "stable", "increase", "large_increase")
FLUSIGHT_KEYS = ["reference_date", "location"]
HUB, BASELINE = "EuroCOVIDhub-ensemble", "EuroCOVIDhub-baseline"


def eu_deaths(horizon: int, *, hub: bool = False) -> pd.DataFrame:
    """Return median forecasts of weekly deaths in 32 countries: the teams', or the hub's own."""
    data = pd.read_parquet(DATA / "covid_eu_incdeath_median.parquet")
    data = data[data["horizon"] == horizon]
    data = data[data["model"].astype(str).str.startswith("EuroCOVIDhub-") == hub]
    wide = data.pivot_table(
        index=["location", "target_end_date", "truth"],
        columns="model",
        values="forecast",
        observed=True,
    )
    wide = wide.astype(float).reset_index()
    wide.columns = ["series", "time", "y", *map(str, wide.columns[3:])]
    wide["series"], wide["y"] = wide["series"].astype(str), wide["y"].astype(float)
    wide.insert(2, "cutoff", wide["time"] - pd.Timedelta(weeks=horizon))
    return wide


def flusight(horizon: int) -> pd.DataFrame:
    """Return the teams' probabilities of five classes in 53 places, a row for each team."""
    data = pd.read_parquet(DATA / "flusight_ratechange_pmf.parquet")
    data = data[data["horizon"] == horizon]
    data = data[~data["model"].astype(str).str.startswith("FluSight-")]
    kept = {"location": "series", "model": "model", "truth_cat": "y"}
    long = data[[*kept, *CLASSES]].rename(columns=kept)
    long = long.astype({"series": str, "model": str, "y": float})
    long.insert(0, "time", data["reference_date"] + pd.Timedelta(weeks=horizon))
    long.insert(0, "cutoff", data["reference_date"] - pd.Timedelta(weeks=1))
    return long.reset_index(drop=True)


class QuantilePanel(NamedTuple):
    """Quantile forecasts of teams, a row for each place and date.

    Attributes
    ----------
    levels, experts
        The levels, and the names of the teams.
    forecasts
        Rows x levels x teams; NaN where a team sleeps.
    outcomes, series
        The outcome and the place of each row.
    made, known
        The number of the day up to which outcomes were known when the forecasts were made, and the
        day of the outcome.
    """

    levels: tuple[float, ...]
    experts: tuple[str, ...]
    forecasts: Floats
    outcomes: Floats
    series: np.ndarray
    made: np.ndarray
    known: np.ndarray

    def only(self, rows: np.ndarray) -> "QuantilePanel":
        """Return some of the rows."""
        parts = (self.forecasts, self.outcomes, self.series, self.made, self.known)
        return QuantilePanel(self.levels, self.experts, *(part[rows] for part in parts))


SEASONS = {"2022-23": range(1, 5), "2023-24": range(4)}
"""The seasons of FluSight with quantiles, and their horizons."""


def flusight_quantiles(horizon: int, season: str = "2023-24") -> QuantilePanel:
    """Return the teams' quantiles of hospital admissions in 53 places, or 54 in 2022-23."""
    data, columns = _flusight_season(horizon, season)
    teams = data[~data["model"].str.startswith("FluSight-")]
    names, who = np.unique(teams["model"].to_numpy(str), return_inverse=True)
    rows = _flusight_rows(data)
    forecasts = np.full((len(rows), len(columns), len(names)), np.nan)
    forecasts[rows.get_indexer(pd.MultiIndex.from_frame(teams[FLUSIGHT_KEYS])), :, who] = teams[
        columns
    ].to_numpy()
    truths = data.groupby(FLUSIGHT_KEYS)["truth"].first().reindex(rows).to_numpy(float)
    days = rows.get_level_values(0).to_numpy("datetime64[D]").astype(np.int64)
    levels = tuple(float(name[1:]) for name in columns)
    place = rows.get_level_values(1).to_numpy(str)
    return QuantilePanel(
        levels, tuple(names.tolist()), forecasts, truths, place, days - 7, days + 7 * horizon
    )


def flusight_ensembles(horizon: int, season: str = "2023-24") -> dict[str, Floats]:
    """Return the quantiles of the hub's own models, in the rows of `flusight_quantiles`."""
    data, columns = _flusight_season(horizon, season)
    rows = _flusight_rows(data)
    theirs = data[data["model"].str.startswith("FluSight-")]
    return {
        str(name): part.set_index(FLUSIGHT_KEYS)[columns].reindex(rows).to_numpy()
        for name, part in theirs.groupby("model")
    }


def _flusight_season(horizon: int, season: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the forecasts of one horizon, and the columns of quantiles."""
    data = pd.read_parquet(DATA / f"flusight_quantiles_{season.replace('-', '_')}.parquet")
    data = data[data["horizon"] == horizon]
    data = data.astype({"model": str, "location": str})
    return data, [name for name in data.columns if name.startswith("q0")]


def _flusight_rows(data: pd.DataFrame) -> pd.MultiIndex:
    """Return the dates and places that teams forecast."""
    teams = data[~data["model"].str.startswith("FluSight-")]
    return pd.MultiIndex.from_frame(teams[FLUSIGHT_KEYS].drop_duplicates()).sort_values()


def residual_quantiles(
    panel: pd.DataFrame,
    levels: tuple[float, ...] = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975),
    *,
    horizon: int,
    width: float = 1.0,
) -> QuantilePanel:
    """Return quantiles of point forecasts, made of the last 80 known errors of each model.

    The errors of each model are centred at their median, and count ``width`` times.
    """
    fixed = {"series", "time", "cutoff", "y"}
    names = tuple(name for name in panel.columns if name not in fixed)
    parts = []
    for series, rows in panel.groupby("series", sort=True, observed=True):
        ordered = rows.sort_values("time")
        x, y = ordered[list(names)].to_numpy(float), ordered["y"].to_numpy(float)
        said = np.full((len(y), len(levels), len(names)), np.nan)
        for t in range(20 + horizon, len(y)):
            errors = (y[:, np.newaxis] - x)[: t - horizon + 1][-80:]
            for i, known in enumerate(errors.T):
                past = known[~np.isnan(known)]
                if len(past) >= 15:
                    said[t, :, i] = x[t, i] + width * np.quantile(past - np.median(past), levels)
        made = np.flatnonzero(~np.isnan(said[:, 0]).all(axis=1) & ~np.isnan(y))
        where = np.full(len(made), str(series))
        parts.append((said[made], y[made], where, made, made + horizon))
    return QuantilePanel(levels, names, *map(np.concatenate, zip(*parts, strict=True)))


def deaths_as_quantiles(horizon: int) -> QuantilePanel:
    """Return the median forecasts of deaths in Europe as quantiles of one level."""
    wide = eu_deaths(horizon)
    names = tuple(name for name in wide.columns if name not in {"series", "time", "cutoff", "y"})
    days = [wide[name].to_numpy("datetime64[D]").astype(np.int64) for name in ("cutoff", "time")]
    forecasts = wide[list(names)].to_numpy()[:, np.newaxis]
    outcomes, series = wide["y"].to_numpy(), wide["series"].to_numpy(str)
    return QuantilePanel((0.5,), names, forecasts, outcomes, series, *days)


def trump_approval() -> pd.DataFrame:
    """Return what five pollsters said on 1001 days, and FiveThirtyEight's consensus."""
    from river import datasets  # noqa: PLC0415 -- slow to import

    polls: Any = datasets.TrumpApproval  # river has no types
    days = pd.DataFrame([{"series": "US", "y": y} | x for x, y in polls()])
    return days.rename(columns={"ordinal_date": "time"})


def stations() -> pd.DataFrame:
    """Return 48-hour temperature forecasts of eight weather models at 749 stations."""
    return _as_float(pd.read_parquet(DATA / "weather_temperature_stations.parquet"))


def innsbruck() -> pd.DataFrame:
    """Return 24-hour temperature forecasts of the eleven members of an ensemble for Innsbruck."""
    days = pd.read_parquet(DATA / "weather_temperature_innsbruck.parquet")
    return _as_float(days.rename(columns={"valid": "time"}))


def prices(country: str) -> pd.DataFrame:
    """Return day-ahead electricity prices of eight models; the hours of a day are the series."""
    return _as_float(pd.read_parquet(DATA / f"electricity_price_{country}.parquet"))


def _as_float(frame: pd.DataFrame) -> pd.DataFrame:
    singles = frame.select_dtypes("float32").columns
    return frame.astype(dict.fromkeys(singles, float))


READERS: dict[str, dict[int, Callable[[], pd.DataFrame]]] = {
    "eu-deaths": {horizon: partial(eu_deaths, horizon) for horizon in (1, 2, 3, 4)},
    "flusight": {horizon: partial(flusight, horizon) for horizon in (0, 1, 2, 3)},
    "trump-approval": {1: trump_approval},
    "stations": {2: stations},
    "innsbruck": {1: innsbruck},
    "prices-be": {1: partial(prices, "BE")},
    "prices-de": {1: partial(prices, "DE")},
}
"""The panels of each source, by their horizon."""
