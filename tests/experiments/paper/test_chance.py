"""Section 2.2: the variance and the potential of discounted sums of coins."""

import numpy as np
import pytest

from normalhedge.experiments.paper import chance
from normalhedge.experiments.paper.claim import FAILS, HOLDS
from normalhedge.experiments.paper.part import QUICK


def test_the_variance_is_half_of_the_claimed_one() -> None:
    found = chance.measure(QUICK)
    assert found["variance"].mean() == pytest.approx(0.5, abs=0.02)
    claims = chance.PART.judge({"variance": found})
    assert [(claim.where, claim.verdict) for claim in claims] == [("Section 2.2", FAILS)] * 2


def test_verdicts_can_turn() -> None:
    ones = np.array([1.0, 1.01, 0.99])
    assert chance.variance_claim({"variance": ones}).verdict == HOLDS
    infinite = {"potential_1": 1e6 * ones, "potential_half": ones}
    assert chance.smallest_c_claim(infinite).verdict == HOLDS
    assert chance.smallest_c_claim({"potential_1": ones, "potential_half": ones}).verdict == FAILS
