"""Bounds as numbers and as sentences."""

import math

import pytest

from normalhedge.guarantees import hedge_bound, theorem_1


def test_the_numbers_of_theorem_1() -> None:
    bound = theorem_1(1e-4, 1000, 4.0)
    assert bound.regret * 0.01 == pytest.approx(7.874, abs=1e-3)
    assert theorem_1(1e-4, 1000, 4.0, quantile=0.5).regret * 0.01 == pytest.approx(
        math.sqrt(8 * math.log(4.64))
    )
    assert bound.potential == 2.32
    limit = 1 / (800 * math.log(2.32 * 1000))
    assert theorem_1(limit * 0.999, 1000, 4.0)
    assert not theorem_1(limit, 1000, 4.0)
    assert not theorem_1(1e-5, 1000, 2.0)
    assert theorem_1(1e-5, 1000, 2.0).regret == math.inf


def test_bounds_say_what_they_are() -> None:
    assert "1 expert " in theorem_1(0.5, 1, 4.0).source
    assert str(hedge_bound(0.1, 10, 1.0)).startswith("regret <= ")
    assert hedge_bound(0.1, 10, 1e-9).potential >= 1.0
    assert hedge_bound(1e-3, 10, 100.0).potential == math.inf
