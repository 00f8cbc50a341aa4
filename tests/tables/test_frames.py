"""Tables of pandas, polars and pyarrow, kinds of times, and times as dates."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.tables.frames import as_dates
from tests.rules import either
from tests.tables.examples import ROUNDS, values, wide


@either
def test_all_kinds_of_tables_give_the_same(hedger: str | None) -> None:
    table = wide(series=2)
    table["naive"] = np.nan_to_num(table["naive"])  # somebody is awake in every row of a long table
    expected = values(blend(pa.table(table), "y", hedger=hedger))
    from_pandas = blend(pd.DataFrame(table), "y", hedger=hedger).frame
    from_polars = blend(pl.DataFrame(table), "y", hedger=hedger).frame
    assert isinstance(from_pandas, pd.DataFrame)
    assert isinstance(from_polars, pl.DataFrame)
    np.testing.assert_array_equal(from_pandas["blend"].to_numpy(), expected)
    np.testing.assert_array_equal(from_polars["blend"].to_numpy(), expected)
    shuffled = pd.DataFrame(table).sample(frac=1.0, random_state=0)
    back = blend(shuffled, "y", hedger=hedger).frame
    np.testing.assert_array_equal(back["y"].to_numpy(), shuffled["y"].to_numpy())
    order = np.argsort(shuffled.index.to_numpy())
    # rows of a time in another order are added up in another order
    np.testing.assert_allclose(back["blend"].to_numpy()[order], expected, rtol=1e-12)
    long = pd.DataFrame(table).melt(
        ["ds", "unique_id", "y"], ["gam", "ar", "naive"], "model", "forecast"
    )
    found = blend(long.dropna(subset="forecast"), "y", hedger=hedger).frame
    both = pd.DataFrame({**table, "wide": expected}).merge(found, on=["ds", "unique_id"])
    np.testing.assert_allclose(both["wide"], both["blend"], rtol=1e-12)


def test_dates_words_and_numbers_are_times() -> None:
    table = wide()
    expected = values(blend(pa.table(table), "y"))
    days = pd.date_range("2024-01-01", periods=ROUNDS)
    for times in (days, days.strftime("%Y-%m-%d").tolist(), np.arange(ROUNDS) * 0.5):
        found = blend(pd.DataFrame({**table, "ds": times}), "y")
        np.testing.assert_array_equal(values(found), expected)
    without = {name: column for name, column in table.items() if name not in {"ds", "unique_id"}}
    np.testing.assert_array_equal(values(blend(pa.table(without), "y")), expected)


def test_the_index_of_pandas_is_kept() -> None:
    frame = pd.DataFrame(wide(20)).sample(frac=1.0, random_state=1)
    assert blend(frame, "y").frame.index.equals(frame.index)


@pytest.mark.parametrize(
    ("times", "name", "first"),
    [
        ([date(2024, 2, 29)], "ds", "2024-02-29"),
        ([datetime(2024, 2, 29, 13, 30)], "ds", "2024-02-29T13:30"),
        ([20240229, 20240301], "day", "2024-02-29"),
        (["2024-02-29", "2024-03-01"], "day", "2024-02-29"),
        ([date(2024, 2, 29).toordinal()], "ordinal_date", "2024-02-29"),
    ],
)
def test_dates_are_found(times: list[Any], name: str, first: str) -> None:
    found = as_dates(pa.array(times), name)
    assert found is not None
    assert found[0] == np.datetime64(first)


@pytest.mark.parametrize(
    ("times", "name"),
    [([1, 2], "ds"), ([20240231], "ds"), ([20241301], "ds"), (["week 1"], "ds"), ([0.5], "ds"),
     ([738945], "day"), ([20240229], None)],
)  # fmt: skip
def test_other_times_are_not_dates(times: list[Any], name: str | None) -> None:
    assert as_dates(pa.array(times), name) is None


def test_hours_are_those_of_the_clock_on_the_wall() -> None:
    noon = datetime(2024, 7, 1, 10, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin"))
    column = pa.array([noon], pa.timestamp("us", tz="Europe/Berlin"))
    found = as_dates(column, "ds")
    assert found is not None
    assert found[0] == np.datetime64("2024-07-01T12:00")
