"""Section 2.2: good and poor actions, and the potential of regrets to them."""

import numpy as np
import pytest

from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _chance as chance
from normalhedge.research.paper._claim import FAILS, HOLDS
from normalhedge.research.paper._part import ALPHA, QUICK


@pytest.fixture(scope="module")
def found() -> Arrays:
    return chance.measure(QUICK)


def test_the_variance_is_half_of_the_claimed_one(found: Arrays) -> None:
    for name in ("variance", "poor_variance"):
        assert found[name].mean(axis=1) == pytest.approx([0.5] * 3, abs=0.05)
    claims = chance.PART.judge({"variance": found})
    assert [claim.verdict for claim in claims] == [HOLDS, FAILS, FAILS]
    assert {claim.where for claim in claims} == {"Section 2.2"}


def test_the_picture_shows_the_densities(found: Arrays) -> None:
    width = np.diff(chance.BINS)
    middle = 0.5 * (chance.BINS[1:] + chance.BINS[:-1])
    for name, centre in (("good", 0.0), ("poor", -chance.GAMMA / np.sqrt(ALPHA))):
        assert (found[name] * width).sum() == pytest.approx(1.0)
        assert (found[name] * width * middle).sum() == pytest.approx(centre, abs=0.05)
    section = chance.section(found)
    assert [row[0] for row in section.rows] == ["0.1", "0.01", "0.001"]
    assert "poor actions" in section.plot


def test_the_distance_to_a_normal_distribution() -> None:
    rng = np.random.default_rng(0)
    assert chance._distance(rng.normal(3.0, 2.0, 10_000)) < 0.0136
    # The edges of a uniform distribution lie 1.73 deviations from its mean.
    assert chance._distance(rng.random(10_000)) == pytest.approx(0.057, abs=0.006)


def test_verdicts_can_turn(found: Arrays) -> None:
    ones = np.array([[1.0, 1.01, 0.99]])
    assert chance.variance_claim(found | {"variance": ones}).verdict == HOLDS
    infinite = found | {"potential_1": 1e6 * ones[0]}
    assert chance.smallest_c_claim(infinite).verdict == HOLDS
    assert chance.normal_claim(found | {"mean": 0.9 * found["mean"]}).verdict == FAILS
    assert chance.normal_claim(found | {"distance": np.full(3, 0.1)}).verdict == FAILS
