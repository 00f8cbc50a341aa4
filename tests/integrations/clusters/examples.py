"""Tables for tests of clusters: series of different lengths, their rows in no order."""

from typing import Any

import numpy as np
import pandas as pd

from tests.tables.examples import cross_validation, wide

SETTINGS: dict[str, dict[str, Any]] = {
    "a single rule": {"hedger": "normal-hedge"},
    "late outcomes": {"hedger": "squint", "lag": 3, "weights": True},
    "auto": {"pooled": False},
    "intervals with a season": {"pooled": False, "interval": [0.5, 0.8], "season": 7},
    "absolute loss": {"hedger": "hedge", "loss": "absolute", "include": "median"},
}
"""Settings under which series do not depend on each other."""


def table(series: int = 17, rounds: int = 40) -> pd.DataFrame:
    """Return a wide table; each series begins and ends at a time of its own."""
    rng = np.random.default_rng(1)
    whole = pd.DataFrame(wide(rounds, series))
    number = whole["unique_id"].str[1:].astype(int)
    inside = (whole["ds"] >= number % 9) & (whole["ds"] < rounds - number % 7)
    whole = whole[inside & (rng.random(len(whole)) < 0.9)]
    return whole.sample(frac=1.0, random_state=0).reset_index(drop=True)


def long_table() -> pd.DataFrame:
    """Return a table with a row for each model, of which some forecast a few series only."""
    whole = table(9, 25)
    columns = ["ds", "unique_id", "y"]
    rows = whole.melt(columns, ["gam", "ar", "naive"], var_name="model", value_name="forecast")
    few = (rows["model"] != "gam") | rows["unique_id"].isin(["s3", "s5"])
    return rows[few].sample(frac=1.0, random_state=3).reset_index(drop=True)


def steps_ahead() -> pd.DataFrame:
    """Return forecasts several steps ahead, of which some are missing for some series."""
    rows = cross_validation()[0]
    kept = np.random.default_rng(4).random(len(rows)) < 0.7
    return rows[kept].reset_index(drop=True)


def quantile_rows() -> pd.DataFrame:
    """Return a long table of quantiles; one series has fewer levels."""
    rows = long_table()
    parts = [
        rows.assign(level=level, forecast=rows["forecast"] + shift)
        for level, shift in ((0.1, -2.0), (0.5, 0.0), (0.75, 1.0), (0.9, 2.0))
    ]
    whole = pd.concat(parts)
    few = (whole["level"] != 0.75) | (whole["unique_id"] == "s3")
    return whole[few].dropna().sample(frac=1.0, random_state=3).reset_index(drop=True)


def ordered(frame: Any) -> pd.DataFrame:
    """Return a result in an order of its own, with plain types."""
    keys = [n for n in ("region", "unique_id", "cutoff", "ds", "level") if n in frame.columns]
    found = pd.DataFrame(frame).sort_values(keys).reset_index(drop=True)
    names = [n for n in ("region", "unique_id", "model") if n in found.columns]
    return found.astype(dict.fromkeys(names, object))


def assert_same(found: Any, expected: Any) -> None:
    """Check that two results have the same numbers, to the bit."""
    assert len(found)
    pd.testing.assert_frame_equal(
        ordered(found), ordered(expected), check_exact=True, check_dtype=False
    )
