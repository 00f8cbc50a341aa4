"""The next horizon: forecasts without outcomes, blended with the weights of today."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
from tests.rules import either
from tests.tables.examples import values, wide
from tests.torture.snapshot import difference, snapshot


@either
def test_the_future_is_blended_as_the_next_rows_would_be(hedger: str | None) -> None:
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    past, future = table.iloc[:200], table.iloc[200:]
    found = blend(past, "y", hedger=hedger)
    before = snapshot(found.mixture)
    unknown = blend(table.assign(y=table["y"].where(table.index < 200)), "y", hedger=hedger)
    expected = values(unknown)[200:]
    for frame in (future, future.drop(columns=["y"])):
        result = found.predict(frame)
        np.testing.assert_array_equal(result["blend"], expected)
        assert list(result.columns) == ["unique_id", "ds", "blend"]
    assert difference(snapshot(found.mixture), before) is None
    weights = found.predict(pa.Table.from_pandas(future), weights=True)
    total = sum(np.array(weights[name]) for name in weights.column_names if "weight_" in name)
    np.testing.assert_allclose(total, 1.0)


@either
def test_with_a_cutoff_the_future_needs_none(hedger: str | None) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"unique_id": s, "cutoff": t, "ds": t + h, "y": float(np.sin(t + h)), "a": np.sin(t + h),
         "b": rng.normal(), "c": float(h)}
        for t in range(40) for h in (1, 2, 3) for s in ("u", "v")
    ]  # fmt: skip
    past = pd.DataFrame(rows)
    found = blend(past, "y", hedger=hedger)
    future = pd.DataFrame(
        [
            {"unique_id": s, "ds": 42 + h, "a": 1.0, "b": 5.0, "c": 9.0}
            for h in (1, 2, 3)
            for s in "uv"
        ]
    )
    result = found.predict(future)
    given = found.predict(future.assign(cutoff=42))
    np.testing.assert_array_equal(result["blend"], given["blend"])
    assert (result["blend"] < 2.0).all()  # a is always right


@either
def test_a_new_series_starts_from_the_pooled_weights(hedger: str | None) -> None:
    table = pd.DataFrame(wide(series=3, asleep=0.0))
    known, new = table[table["unique_id"] != "s2"], table[table["unique_id"] == "s2"]
    found = blend(known, "y", hedger=hedger, pooled=False)
    frame = found.predict(new.assign(ds=new["ds"] + 1000).head(1), weights=True)
    pooled = found.mixture.weights[:2].mean(axis=0) if hedger else None
    weights = frame.filter(like="weight_").to_numpy()[0]
    if pooled is not None:
        assert np.argmax(weights) == np.argmax(pooled)
    assert weights.max() > 1.5 / 3
    later = blend(new.assign(ds=new["ds"] + 1000), "y", mixture=found.mixture)
    assert "1 new series started from the pooled weights: s2" in later.notes


def test_wrong_futures_get_a_sentence_each() -> None:
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    found = blend(table, "y", hedger="auto:inside=true")
    later = table.assign(ds=table["ds"] + 500).drop(columns=["y"])
    for frame, match in (
        (later.drop(columns=["ds"]), "the future table has no column ds"),
        (later.drop(columns=["unique_id"]), "no column unique_id"),
        (later[["unique_id", "ds"]].assign(x=1.0), "none of the experts: gam, ar, naive"),
        (table, "it must come after them"),
        (later.head(0), "no rows"),
    ):
        with pytest.raises(ValueError, match=match):
            found.predict(frame)
    alone = found.predict(later.drop(columns=["ar", "naive"]).head(4))
    np.testing.assert_allclose(alone["blend"], later["gam"].head(4))


def test_rows_that_wait_have_the_forecast_that_was_made() -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    known = table.assign(y=table["y"].where(table.index < 100))
    found = blend(known, "y")
    result = found.predict(table.iloc[100:].drop(columns=["y"]))
    np.testing.assert_array_equal(result["blend"], values(found)[100:])


@pytest.mark.parametrize("pooled", [False, True])
def test_a_series_whose_outcomes_are_late_has_a_future_of_its_own(pooled: bool) -> None:
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    last = table["ds"].max()
    late = (table["unique_id"] == "s1") & (table["ds"] > last - 5)
    found = blend(table[~late], "y", pooled=pooled)
    result = found.predict(table[late].drop(columns=["y"]))
    assert len(result) == late.sum() == 5
    assert result["blend"].notna().all()
    with pytest.raises(ValueError, match=f"{last} of s0, but outcomes are known until {last}"):
        found.predict(table[late | (table["ds"] == last)])


def test_forecasts_that_were_revised_are_blended_again() -> None:
    """So are rows of a new series, at a time that other series have had."""
    table = pd.DataFrame(wide(series=2, asleep=0.0))
    ahead = table["ds"] > table["ds"].max() - 3
    known = table.assign(y=table["y"].where(~ahead))
    found = blend(known, "y", hedger="auto:inside=true")
    future = table[ahead].drop(columns=["y"])
    revised = future.assign(**{name: future[name] + 100.0 for name in ("gam", "ar", "naive")})
    both = found.predict(future)["blend"] + 100.0
    np.testing.assert_allclose(found.predict(revised)["blend"], both)
    new = future[future["unique_id"] == "s0"].assign(unique_id="new")
    assert len(found.predict(pd.concat([future, new]))) == len(future) + 3


def test_futures_of_another_kind_get_a_sentence_each() -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    dated = table.assign(ds=pd.Timestamp("2024-01-01") + pd.to_timedelta(table["ds"], unit="D"))
    past, later = dated.head(100), dated.iloc[100:103].drop(columns=["y"])
    found = blend(past, "y")
    with pytest.raises(
        ValueError, match="column ds of the future table has words, and in the past"
    ):
        found.predict(later.assign(ds="next week"))
    with pytest.raises(TypeError, match="column gam must hold numbers"):
        found.predict(later.assign(gam="high"))
    for dates in (later["ds"].dt.date, later["ds"].astype(str)):
        days = found.predict(later.assign(ds=dates))
        np.testing.assert_array_equal(days["blend"], found.predict(later)["blend"])
    unknown = blend(past.assign(y=np.nan, cutoff=past["ds"] - pd.Timedelta(days=1)), "y")
    with pytest.raises(ValueError, match="needs the column cutoff: no outcome is known yet"):
        unknown.predict(later)
