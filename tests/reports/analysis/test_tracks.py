"""Forecasts beside outcomes."""

import numpy as np
import pyarrow as pa

from normalhedge import blend
from normalhedge.reports.analysis._review import review
from normalhedge.reports.analysis._tracks import DETAIL, MOST, POINTS
from tests.tables.examples import wide


def test_the_largest_series_come_first() -> None:
    table = wide(30, series=20)
    scale = np.tile(np.arange(20.0), 30)
    table["y"] = 1000.0 * scale + table["y"]
    found = review(blend(pa.table(table), "y", ["gam", "ar", "naive"], "unique_id", "ds")).tracks
    assert [track.name for track in found] == [f"s{k}" for k in range(19, 19 - MOST, -1)]


def test_a_long_series_is_thinned_in_means() -> None:
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
