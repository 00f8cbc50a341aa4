"""The timeline of a blend."""

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.tables._timeline import timeline
from tests.rules import either
from tests.tables.examples import wide


@either
def test_the_course_adds_up(hedger: str | None) -> None:
    found = blend(pa.table(wide(3000)), "y", ["gam", "ar", "naive"], time="ds", hedger=hedger)
    went = timeline(found)
    assert len(went.when) == 500
    assert went.rounds == pytest.approx(6.0, abs=0.02)
    np.testing.assert_allclose(went.weights.sum(axis=1) + went.others, 1.0)
    summary = found.summary()
    assert went.behind[-1, -1] == pytest.approx((summary.uniform - summary.blend) * summary.settled)
    assert summary.rounds == 3000
    assert summary.convex <= summary.uniform


def test_weights_are_means_around_each_time() -> None:
    found = blend(pa.table(wide(200, asleep=0.0)), "y", ["gam", "ar", "naive"], weights=True)
    went = timeline(found)
    assert went.window == pytest.approx(8.0)
    own = np.column_stack([found.frame[f"weight_{name}"].to_numpy() for name in went.names])
    for k in (0, 3, 100, 199):
        around = own[max(k - 4, 0) : k + 4]
        np.testing.assert_allclose(went.weights[k], around.mean(axis=0))


def test_times_are_dates() -> None:
    table = wide(40)
    table["ds"] = np.datetime64("2024-01-01") + table["ds"]
    went = timeline(blend(pa.table(table), "y", ["gam", "ar", "naive"], time="ds"))
    assert went.when[0] == np.datetime64("2024-01-01")
    table["ds"] = [f"week {k:02d}" for k in range(40)]
    went = timeline(blend(pa.table(table), "y", ["gam", "ar", "naive"], time="ds"))
    assert went.when[0] == "week 00"
