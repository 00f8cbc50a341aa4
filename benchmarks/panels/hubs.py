"""Panels of real forecasters: European Covid deaths, CDC's FluSight, and Trump's approval.

The files of the two hubs are not part of this project (see DATA). A hub's own models are left out:
they are what to compare with. Outcomes become known by date, not by a number of rows:

- EU deaths: a forecast h weeks ahead is made in the week that ends 7 h days before its target, and
  the outcome counts from the forecasts made in the target's week on.
- FluSight: forecasts of a reference date are handed in when the truth of 7 days before is out, so
  that of horizon h the outcome is known h + 1 dates later.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

DATA = Path(__file__).parents[3] / "shared" / "data"
"""Where the files of the hubs are: beside this project."""

CLASSES = ("large_decrease", "decrease", "stable", "increase", "large_increase")
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


def trump_approval() -> pd.DataFrame:
    """Return what five pollsters said on 1001 days, and FiveThirtyEight's consensus."""
    from river import datasets  # noqa: PLC0415 -- slow to import

    polls: Any = datasets.TrumpApproval  # river has no types
    days = pd.DataFrame([{"series": "US", "y": y} | x for x, y in polls()])
    return days.rename(columns={"ordinal_date": "time"})


READERS: dict[str, dict[int, Callable[[], pd.DataFrame]]] = {
    "eu-deaths": {horizon: partial(eu_deaths, horizon) for horizon in (1, 2, 3, 4)},
    "flusight": {horizon: partial(flusight, horizon) for horizon in (0, 1, 2, 3)},
    "trump-approval": {1: trump_approval},
}
"""The panels of each source, by their horizon."""
