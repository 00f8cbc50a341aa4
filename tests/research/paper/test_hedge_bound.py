"""Section 4.1: the bound on the regret of Hedge, under attack."""

import numpy as np
import pytest

from normalhedge.research.paper import _hedge_bound as hedge_bound
from normalhedge.research.paper._claim import FAILS, HOLDS
from normalhedge.research.paper._part import QUICK


def test_the_attack_breaks_the_claimed_bound() -> None:
    found = hedge_bound.measure(QUICK)
    reached = dict(zip(found["experts"], found["reached"], strict=True))
    assert reached[1000] == pytest.approx(3.87, abs=0.005)
    (claim,) = hedge_bound.PART.judge({"hedge-bound": found})
    assert (claim.where, claim.verdict) == ("Section 4.1", FAILS)
    assert "corrected 3.95;" in claim.measured  # 3.9447, rounded up


def test_the_verdict_can_turn() -> None:
    kept = {
        k: np.array([v])
        for k, v in zip(
            ("experts", "reached", "normal_hedge", "claimed", "true"),
            (10, 1.0, 1.0, 2.0, 3.0),
            strict=True,
        )
    }
    assert hedge_bound.bound_claim(kept).verdict == HOLDS
    once = {k: np.append(v, v) for k, v in kept.items()}
    once["reached"] = np.array([1.0, 2.5])
    assert hedge_bound.bound_claim(once).verdict == FAILS
