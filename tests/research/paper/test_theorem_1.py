"""Theorem 1: the bounds hold in games, and a broken bound is noticed."""

import numpy as np

from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _theorem_1 as theorem_1
from normalhedge.research.paper._claim import FAILS, HOLDS
from normalhedge.research.paper._part import QUICK


def test_the_bounds_hold_in_games() -> None:
    found = theorem_1.measure(QUICK)
    assert found["potential"].max() < 2.32
    np.testing.assert_allclose(found["alpha_over_limit"], 0.99)
    claims = theorem_1.PART.judge({"theorem-1": found})
    assert [(claim.where, claim.verdict) for claim in claims] == [("Theorem 1", HOLDS)] * 2
    assert theorem_1.PART.judge({}) == []


def test_verdicts_can_turn() -> None:
    theorem = Arrays(
        nature=np.array(["coins"]),
        experts=np.array([10.0]),
        potential=np.array([2.5]),
        regret=np.array([1.1]),
        quantile=np.array([0.5]),
        alpha_over_limit=np.array([0.99]),
    )
    assert theorem_1.potential_claim(theorem).verdict == FAILS
    assert theorem_1.regret_claim(theorem).verdict == FAILS
