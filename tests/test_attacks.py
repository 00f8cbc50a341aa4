import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.games import Nature, play
from normalhedge.games.attacks import Attack, Groups, attack, attempts, break_away, explore, hold
from tests.adversaries import alternate_then_break_away


def alternation(c: float) -> float:
    """Where alternation comes to rest as alpha -> 0."""
    return math.exp(1 / (4 * c - 2))


def brute_force(alpha: float, n: int, c: float, rounds: int) -> tuple[float, float]:
    """Play every sequence of extreme gains; the highest potential and the largest sqrt(alpha) R."""
    moves = np.array(list(product([-1.0, 1.0], repeat=n)))
    regrets = np.zeros((1, n))
    highest, largest = 1.0, 0.0
    for _ in range(rounds):
        ahead = np.maximum(regrets, 0)
        weights = ahead * np.exp(alpha * ahead**2 / (2 * c))
        weights[weights.sum(axis=1) == 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        earned = weights @ moves.T
        regrets = (1 - alpha) * regrets[:, None] + moves - earned[:, :, None]
        regrets = np.unique(np.sort(regrets.reshape(-1, n)).round(12), axis=0)
        potentials = np.exp(alpha * np.maximum(regrets, 0) ** 2 / (2 * c)).mean(axis=1)
        highest = max(highest, potentials.max())
        largest = max(largest, regrets.max())
    return highest, math.sqrt(alpha) * largest


FOUND: list[Callable[[], Attack]] = [
    lambda: hold(0.05, 7, 0.6),
    lambda: hold(0.02, 50, 4.0, "regret"),
    lambda: break_away(0.03, 9, 1.0, half=4, leaders=2, alternate=3.0),
    lambda: break_away(0.03, 5, 1.0, leaders=2),
    lambda: explore(0.1, (1, 1), 0.7),
    lambda: explore(0.1, (1, 1, 1), 2.0, "regret", width=0.1),
    lambda: explore(0.05, (2, 5), 1.0),
    lambda: attempts(0.1, 4, 1.0)["greedy"],
    lambda: attack(0.1, 1, 1.0),
]


@pytest.mark.parametrize("found", FOUND)
def test_a_replay_reaches_what_is_claimed(found: Callable[[], Attack]) -> None:
    claimed = found()
    replayed = claimed.replay()
    assert replayed.log_potential == pytest.approx(claimed.log_potential, rel=1e-9, abs=1e-12)
    assert replayed.regret == pytest.approx(claimed.regret, rel=1e-9, abs=1e-12)
    assert claimed.gains.shape == (claimed.rounds, len(claimed.sizes))
    assert np.abs(claimed.gains).max() <= 1
    assert not claimed.gains.flags.writeable


def test_groups_are_a_nature_and_equal_single_experts() -> None:
    found = break_away(0.05, 9, 1.0)
    assert found.sizes == (1, 3, 5)
    np.testing.assert_array_equal(
        np.concatenate(list(found.nature.gains(found.rounds, np.random.default_rng(0)))),
        alternate_then_break_away(9, 0.05)[: found.rounds],
    )
    assert isinstance(found.nature, Nature)
    trace = play([NormalHedge(0.05, 1.0)], found.nature, found.rounds)
    assert trace.highest_potential[0] == pytest.approx(found.log_potential, rel=1e-12)
    assert trace.highest_regret[0] * math.sqrt(0.05) == pytest.approx(found.regret, rel=1e-12)
    with pytest.raises(ValueError, match="rounds must be at most 2, got 3"):
        list(Groups((1, 2), np.ones((2, 2))).gains(3, np.random.default_rng(0)))


def test_break_away_as_in_the_errata() -> None:
    found = break_away(0.001, 1000, 1.0)
    assert found.potential == pytest.approx(1.6492, abs=5e-5)
    assert found.regret == pytest.approx(3.55, abs=5e-3)
    assert found.replay() == pytest.approx((found.log_potential, found.regret), rel=1e-9)


def test_one_expert_breaks_away_furthest() -> None:
    regrets = [break_away(0.01, 100, 1.0, leaders=m).regret for m in (1, 2, 5, 20, 50)]
    assert regrets == sorted(regrets, reverse=True)


def test_climbing_before_breaking_away_leads_further() -> None:
    assert hold(0.001, 1000, 1.0, "regret").regret > 3.565 > break_away(0.001, 1000, 1.0).regret
    tried = attempts(0.05, 20, 4.0, goal="regret")
    assert tried["search"].regret >= tried["hold"].regret > tried["break-away"].regret


@pytest.mark.parametrize(("alpha", "n", "rounds"), [(0.1, 2, 10), (0.3, 2, 10), (0.1, 3, 6)])
@pytest.mark.parametrize("c", [0.5, 1.0, 4.0])
def test_a_short_search_equals_brute_force(alpha: float, n: int, rounds: int, c: float) -> None:
    width = 0.002 if n == 2 else 0.03
    highest, largest = brute_force(alpha, n, c, rounds)
    ones = (1,) * n
    found = explore(alpha, ones, c, width=width, rounds=rounds)
    assert found.rounds <= rounds
    assert found.potential == pytest.approx(highest, rel=1e-9)
    assert explore(alpha, ones, c, "regret", width=width, rounds=rounds).regret == pytest.approx(
        largest, rel=1e-9
    )


@pytest.mark.parametrize(
    ("alpha", "c"), [(0.1, 0.6), (0.1, 1.0), (0.01, 0.6), (0.01, 1.0), (0.01, 2.0)]
)
def test_the_search_of_two_experts_misses_nothing_that_others_find(alpha: float, c: float) -> None:
    tried = attempts(alpha, 2, c)
    assert set(tried) == {"hold", "break-away", "search", "greedy"}
    for found in tried.values():
        assert tried["search"].potential >= found.potential - 1e-9
    alone = explore(alpha, (1, 1), c)  # from the beginning, and not from what was held
    assert alone.potential > max(tried["break-away"].potential, tried["greedy"].potential) - 1e-6
    assert attack(alpha, 2, c).potential == max(found.potential for found in tried.values())


def test_gains_inside_the_range_do_not_help_two_experts() -> None:
    for c in (0.6, 1.0, 4.0):
        extreme = explore(0.1, (1, 1), c, width=0.02)
        inside = explore(0.1, (1, 1), c, width=0.02, levels=(-1.0, -0.5, 0.0, 0.5, 1.0))
        assert inside.potential == pytest.approx(extreme.potential, rel=1e-3)


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


@pytest.mark.parametrize("c", [0.3, 0.5])
def test_no_bound_without_alpha_below_one_half(c: float) -> None:
    reached = [attack(alpha, 2, c).log_potential for alpha in (0.1, 0.03, 0.01)]
    assert reached[1] > reached[0] + 1
    assert reached[2] > reached[1] + 1


def test_it_prints() -> None:
    found = break_away(0.1, 4, 1.0)
    assert str(found).startswith("alternate 2 of 4, break away 1: potential 1.7")
    assert repr(found).startswith("<Attack alpha=0.1 c=1 alternate")


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: attack(0.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 0.0"),
    (lambda: attack(1.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 1.0"),
    (lambda: attack(math.nan, 2, 1.0), "alpha must be strictly between 0 and 1, got nan"),
    (lambda: attack(0.1, 2, 0.0), "c must be a finite number > 1e-300, got 0.0"),
    (lambda: attack(0.1, 2, math.inf), "c must be a finite number > 1e-300, got inf"),
    (lambda: attack(0.1, 0, 1.0), "n_experts must be at least 1, got 0"),
    (
        lambda: attack(0.1, 2, 1.0, goal="fame"),  # type: ignore[arg-type]
        "goal must be one of potential, regret, got 'fame'",
    ),
    (lambda: hold(0.1, 2, 1.0, "fame"), "goal must be one of"),  # type: ignore[arg-type]
    (lambda: explore(0.1, (1, 1), 1.0, "fame"), "goal must be one of"),  # type: ignore[arg-type]
    (lambda: hold(2.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 2.0"),
    (lambda: hold(0.1, 1, 1.0), "n_experts must be at least 2, got 1"),
    (lambda: break_away(0.1, 1, 1.0), "n_experts must be at least 2, got 1"),
    (lambda: break_away(0.1, 4, 1.0, leaders=3), "leaders must be at most half"),
    (lambda: break_away(0.1, 4, 1.0, half=4), "half less than n_experts"),
    (lambda: break_away(0.1, 4, -1.0), "c must be a finite number"),
    (lambda: break_away(0.1, 4, 1.0, alternate=-1.0), "alternate must be a finite number > 0"),
    (lambda: explore(0.1, (1,), 1.0), "sizes must be of two or three groups, got 1"),
    (lambda: explore(0.1, (1, 0), 1.0), "sizes must be at least 1, got 0"),
    (lambda: explore(0.1, (1, 1), 1.0, width=0.0), "width must be a finite number > 0"),
    (lambda: explore(0.1, (1, 1), 1.0, width=1e-6), "width must be at least 0.0.* here, got 1e-06"),
    (lambda: explore(0.1, (1, 1), 1.0, rounds=0), "rounds must be at least 1, got 0"),
    (lambda: explore(0.1, (1, 1), 1.0, start=np.ones((2, 3))), "start must have a column for each"),
    (lambda: explore(0.1, (1, 1), 1.0, start=np.zeros((2, 2))), "gains that are among levels"),
    (lambda: explore(0.1, (1, 1), 1.0, levels=()), r"levels must be numbers in \[-1, 1\]"),
    (lambda: explore(0.1, (1, 1), 1.0, levels=(2.0,)), r"levels must be numbers in \[-1, 1\]"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_settings(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_number_of_experts_that_is_not_whole() -> None:
    with pytest.raises(TypeError, match="n_experts must be a whole number"):
        attack(0.1, 2.5, 1.0)  # type: ignore[arg-type]
