"""Section 4.1: what a rate costs that does not know the number of experts."""

import math

import numpy as np
import pytest

from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _fixed_rate as fixed_rate
from normalhedge.research.paper._claim import FAILS, HOLDS
from normalhedge.research.paper._part import ALPHA, QUICK


@pytest.fixture(scope="module")
def found() -> Arrays:
    return fixed_rate.measure(QUICK)


def test_the_bound_is_worse_by_the_root_of_ln_n(found: Arrays) -> None:
    (claim,) = fixed_rate.PART.judge({"fixed-rate": found})
    assert (claim.where, claim.verdict) == ("Section 4.1", HOLDS)
    # At its best rate the printed bound is the one that the paper prints.
    best = [math.sqrt(math.log(n) / (1 - ALPHA / 2)) for n in fixed_rate.EXPERTS]
    assert found["printed"][:, -1] == pytest.approx(best)
    # For many experts the factor is sqrt(ln N) over the factor of the rate.
    limits = [1 / factor for factor in fixed_rate.FACTORS]
    assert fixed_rate._worse(found["printed"])[-1] == pytest.approx(limits, rel=0.05)


def test_attacks_stay_below_the_bound_that_holds(found: Arrays) -> None:
    tried = len(found["attacked"])
    assert (found["reached"] <= found["true"][:tried]).all()
    assert (found["reached"] > 0.9 * found["true"][:tried]).all()


def test_the_verdict_can_turn(found: Arrays) -> None:
    steady = found | {"printed": np.ones_like(found["printed"])}
    assert fixed_rate.rate_claim(steady).verdict == FAILS


def test_the_table_has_every_number_of_experts(found: Arrays) -> None:
    rows = fixed_rate.section(found).rows
    assert len(rows) == 2 * len(fixed_rate.EXPERTS) + len(found["attacked"])
