"""Forecasts beside outcomes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.reports.analysis import _tracks
from normalhedge.reports.analysis._review import review
from normalhedge.reports.analysis._tracks import DETAIL, MOST, POINTS
from tests.tables.examples import wide


def test_the_largest_series_come_first() -> None:
    table = wide(30, series=20)
    scale = np.tile(np.arange(20.0), 30)
    table["y"] = 1000.0 * scale + table["y"]
    found = review(blend(pa.table(table), "y", ["gam", "ar", "naive"], "unique_id", "ds")).tracks
    assert [track.name for track in found] == [f"s{k}" for k in range(19, 19 - MOST, -1)]


def test_every_row_is_there_with_all_models() -> None:
    table = wide(2 * POINTS + 300)
    result = blend(pa.table(table), "y", ["gam", "ar", "naive"], time="ds")
    (track,) = review(result).tracks
    assert track.whole is not None
    assert track.each == 1
    np.testing.assert_array_equal(track.whole.times, np.arange(2 * POINTS + 300))
    np.testing.assert_array_equal(track.whole.actual, table["y"])
    np.testing.assert_array_equal(track.whole.forecast, result.frame["blend"].to_numpy())
    assert sorted(track.models) == ["ar", "gam", "naive"]
    for name, curve in zip(track.models, track.whole.models.T, strict=True):
        np.testing.assert_array_equal(curve, table[name])  # NaN where it sleeps


def test_models_and_then_rows_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    table = wide(900, series=3)
    result = blend(pa.table(table), "y", ["gam", "ar", "naive"], "unique_id", "ds")
    monkeypatch.setattr(_tracks, "ROOM", 3 * 200 * 6 + 900 * 6 + 900 * 3)
    first, second, third = review(result).tracks
    for track, each, models in ((first, 1, 3), (second, 1, 0), (third, 1, 0)):
        assert track.whole is not None
        assert (track.each, track.whole.models.shape[1]) == (each, models)
    assert [len(track.last.times) for track in (first, second, third)] == [DETAIL] * 3


def test_each_day_of_a_cross_validation_is_shown_once(tmp_path: Path) -> None:
    """A week is forecast each third day; a day shows the forecast that was made last."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=90, freq="D")
    outcomes = rng.normal(size=90)
    rows = [
        ("shop", days[made + step], days[made], outcomes[made + step], *rng.normal(size=2))
        for made in range(0, 81, 3)
        for step in range(1, 8)
    ]
    frame = pd.DataFrame(rows, columns=["unique_id", "ds", "cutoff", "y", "gam", "ar"])
    result = blend(frame.sample(frac=1.0, random_state=0))
    (track,) = review(result).tracks
    joined = result.frame.sort_values("cutoff").groupby("ds").last()
    np.testing.assert_array_equal(track.last.times, joined.index.to_numpy())
    np.testing.assert_array_equal(track.last.forecast, joined["blend"])
    assert len(joined) == 85
    page = tmp_path / "page.html"
    result.report(page)
    assert "Where a time has several forecasts, the one made last" in page.read_text("utf-8")


def test_a_series_too_long_is_thinned_in_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tracks, "ROOM", 5000)
    table = wide(2 * POINTS + 300, asleep=0.0)
    result = blend(pa.table(table), "y", ["gam", "ar", "naive"], time="ds")
    (track,) = review(result).tracks
    assert track.whole is not None
    assert track.each == 3
    assert len(track.whole.times) == (2 * POINTS + 300) // 3
    np.testing.assert_allclose(track.whole.actual, table["y"].reshape(-1, 3).mean(axis=1))
    values = result.frame["blend"].to_numpy()
    np.testing.assert_allclose(track.whole.forecast, values.reshape(-1, 3).mean(axis=1))
    np.testing.assert_array_equal(track.last.actual, table["y"][-DETAIL:])
    plain = np.mean([table[name] for name in ("gam", "ar", "naive")], axis=0)
    np.testing.assert_allclose(track.last.plain, plain[-DETAIL:])


def test_a_short_series_is_shown_once() -> None:
    result = blend(pa.table(wide(50)), "y", ["gam", "ar", "naive"], time="ds")
    assert review(result).tracks[0].whole is None
