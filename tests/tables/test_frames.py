"""Tables of pandas, polars and pyarrow, and kinds of times."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from normalhedge import blend
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
    np.testing.assert_array_equal(back["blend"].to_numpy()[order], expected)
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
