"""The timeline of a blend."""

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.tables.timeline import timeline
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
