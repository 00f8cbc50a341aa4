"""Experts that are held at a share of the weight."""

import math

import pytest

from normalhedge.research.games.attacks import attempts, break_away, hold


def alternation(c: float) -> float:
    """Where alternation comes to rest as alpha -> 0."""
    return math.exp(1 / (4 * c - 2))


def test_climbing_before_breaking_away_leads_further() -> None:
    assert hold(0.001, 1000, 1.0, "regret").regret > 3.565 > break_away(0.001, 1000, 1.0).regret
    tried = attempts(0.05, 20, 4.0, goal="regret")
    assert tried["search"].regret >= tried["hold"].regret > tried["break-away"].regret


@pytest.mark.parametrize("c", [0.7, 1.0])
def test_halves_held_at_one_half_come_to_rest_where_the_equation_says(c: float) -> None:
    assert hold(0.001, 100, c).potential == pytest.approx(alternation(c), rel=2e-3)


def test_more_than_alternation_is_reached() -> None:
    # A fifth of the experts held near weight 1, where c >= 2.
    assert hold(0.001, 1000, 2.0).potential > 1.245 > alternation(2.0)
    assert hold(0.001, 1000, 4.0).potential > 1.137 > alternation(4.0)
    # One of very many held near weight 1/3, where c < 2: the more experts, the more.
    few, many, most = (hold(0.001, n, 0.6) for n in (1000, 10**6, 10**9))
    assert few.potential < alternation(0.6) < 28 < many.potential < 66 < most.potential
    assert many.sizes == (1, 10**6 - 1)
    assert hold(0.001, 10**6, 0.7).potential > 3.6 > alternation(0.7)
