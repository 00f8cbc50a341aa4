"""Section 3.2: experts with confidences, and experts that abstain."""

import numpy as np
import pytest

from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _confidences as confidences
from normalhedge.research.paper._claim import FAILS, HOLDS, holds_only
from normalhedge.research.paper._part import QUICK


@pytest.fixture(scope="module")
def found() -> Arrays:
    return confidences.measure(QUICK)


def test_the_bound_transfers_under_one_reading_only(found: Arrays) -> None:
    right, *literal = found["potential"].max(axis=0)
    assert right < np.log10(1.1)
    assert min(literal) > 12.0
    claims = confidences.PART.judge({"confidences": found})
    assert [claim.verdict for claim in claims] == [
        holds_only("if a regret grows by c (g − g_A)"),
        HOLDS,
    ]
    assert {claim.where for claim in claims} == {"Section 3.2"}
    assert confidences.PART.judge({}) == []
    assert confidences.PART.sections({}) == []


def test_without_doubt_all_readings_are_the_same() -> None:
    gains, _ = confidences.moves("coins", 300, np.random.default_rng(0))
    levels = [
        confidences.highest(0.01, gains, np.ones_like(gains), reading)
        for reading in confidences.READINGS
    ]
    assert levels == pytest.approx([levels[0]] * 3)
    assert levels[0] > 0.0


def test_what_is_left_after_abstaining(found: Arrays) -> None:
    left = np.exp(-np.array(confidences.AWAY))
    for name in ("gain", "regret"):
        shares = found[name] / found[name][:, :1]
        np.testing.assert_allclose(shares, np.broadcast_to(left[:, np.newaxis], shares.shape), 5e-3)
    assert (found["gain"][:, 0] * [1, -1] > 600).all()
    assert found["weight"][:, -1].max() < 1e-3 < found["weight"][:, 0].min()


def test_verdicts_can_turn(found: Arrays) -> None:
    tame = found | {"potential": np.zeros((4, 3))}
    assert confidences.transfer_claim(tame).verdict == HOLDS
    wild = found | {"potential": np.ones((4, 3))}
    assert confidences.transfer_claim(wild).verdict == FAILS
    kept = found | {"gain": np.ones_like(found["gain"])}
    assert confidences.abstain_claim(kept).verdict == FAILS


def test_the_page_has_both_tables(found: Arrays) -> None:
    first, second = confidences.PART.sections({"confidences": found})
    assert [row[0] for row in first.rows] == list(confidences.NATURES)
    assert confidences._power(42.3) == "2.0 × 10⁴²"
    assert [row[0] for row in second.rows] == ["0/α", "1/α", "2/α", "4/α", "8/α"]
