"""Learning online closes a gap."""

import numpy as np
import pytest

from normalhedge.research.paper import _learning as learning
from normalhedge.research.paper._claim import FAILS, HOLDS, holds_only
from normalhedge.research.paper._part import QUICK


def test_learning_closes_most_of_the_gap() -> None:
    pytest.importorskip("hmmlearn")
    found = learning.measure(QUICK)
    assert found["loss"].shape == (2, 6)
    assert learning.closed_share(found, "late_errors", rounded=False)[0] > 0.5
    (row,) = learning.PART.judge({"learning": found})
    assert "share of the gap" in row.measured


def test_the_share_of_a_gap() -> None:
    columns = [[0.4, 0.3, 0.32, 0.26, 0.2, 0.2], [0.6, 0.5, 0.52, 0.46, 0.4, 0.4]]
    found = dict.fromkeys(learning.FIELDS, np.array(columns))
    assert learning.closed_share(found, "late", rounded=False) == pytest.approx((0.4, 0.0))
    assert learning.closed_share(found, "late", rounded=True) == pytest.approx((0.4, 0.0))
    (row,) = learning.PART.judge({"learning": found})
    assert row.verdict == FAILS
    found["late_errors"] = np.array([[0.4, 0.3, 0.22, 0.21, 0.2, 0.2]] * 2)
    (row,) = learning.PART.judge({"learning": found})
    assert row.verdict == holds_only("for wrong decisions, wrong decisions, rounded")
    found["late"] = found["late_errors"]
    (row,) = learning.PART.judge({"learning": found})
    assert row.verdict == HOLDS


def test_without_hmmlearn_the_rest_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "find_spec", lambda _: None)
    monkeypatch.setattr(learning, "ROUNDS", 300)
    section = learning.section(learning.measure(QUICK))
    assert section.rows[-1][1] == "needs hmmlearn"
    assert learning.learning_claim(learning.measure(QUICK)) is None
