"""All attacks beside one another."""

import pytest

from normalhedge.research.games.attacks import attack, attempts, break_away, explore


def test_break_away_as_in_the_errata() -> None:
    found = break_away(0.001, 1000, 1.0)
    assert found.potential == pytest.approx(1.6492, abs=5e-5)
    assert found.regret == pytest.approx(3.55, abs=5e-3)
    assert found.replay() == pytest.approx((found.log_potential, found.regret), rel=1e-9)


def test_one_expert_breaks_away_furthest() -> None:
    regrets = [break_away(0.01, 100, 1.0, leaders=m).regret for m in (1, 2, 5, 20, 50)]
    assert regrets == sorted(regrets, reverse=True)


@pytest.mark.parametrize(
    ("alpha", "c"), [(0.1, 0.6), (0.1, 1.0), (0.01, 0.6), (0.01, 1.0), (0.01, 2.0)]
)
def test_the_search_of_two_experts_misses_nothing_that_others_find(alpha: float, c: float) -> None:
    tried = attempts(alpha, 2, c)
    assert set(tried) == {"hold", "break-away", "search", "greedy"}
    for found in tried.values():
        assert tried["search"].potential >= found.potential - 1e-9
    alone = explore(alpha, (1, 1), c)  # from the beginning, and not from the held groups
    assert alone.potential > max(tried["break-away"].potential, tried["greedy"].potential) - 1e-6
    assert attack(alpha, 2, c).potential == max(found.potential for found in tried.values())


@pytest.mark.parametrize("c", [0.3, 0.5])
def test_no_bound_without_alpha_below_one_half(c: float) -> None:
    reached = [attack(alpha, 2, c).log_potential for alpha in (0.1, 0.03, 0.01)]
    assert reached[1] > reached[0] + 1
    assert reached[2] > reached[1] + 1
