"""Costs within a budget: the excess is bounded, and the gain is near the best mix."""

import random
from typing import Any

import pytest

from normalhedge import Router

COSTS = {"small": 1.0, "middle": 3.0, "large": 10.0}
MEANS = {"small": 0.3, "middle": 0.5, "large": 0.9}


def played(budget: float, rounds: int, **options: Any) -> Router:
    rng = random.Random(0)
    router = Router(COSTS, costs=COSTS, budget=budget, **options)
    for _ in range(rounds):
        choice = router.choose()
        router.reward(choice.ticket, float(rng.random() < MEANS[choice.action]))
        spending = router.spending
        assert spending["excess"] <= spending["largest_excess"]
    return router


@pytest.mark.parametrize("rule", ["auto", "exp3-ix", "maillard"])
@pytest.mark.parametrize("budget", [1.0, 2.0, 5.5])
def test_the_excess_is_bounded(rule: str, budget: float) -> None:
    router = played(budget, 3000, rule=rule)
    assert router.spending["mean_cost"] <= budget + 10.0 * (3000**0.5 + 1) / 3000


def test_the_gain_is_near_the_best_mix() -> None:
    """9/14 middle and 5/14 large cost 5.5 and earn 0.643; no other mix earns more."""
    router = played(5.5, 20_000)
    assert router.spending["mean_cost"] < 5.5 + 0.1
    assert 0.6 < router.gain < 0.66


def test_a_wide_budget_costs_nothing() -> None:
    assert played(10.0, 3000).probabilities()["large"] > 0.9


def test_an_adversary_cannot_break_the_bound() -> None:
    """All that is worth anything is dear."""
    router = Router(COSTS, costs=COSTS, budget=1.5)
    for _ in range(5000):
        choice = router.choose()
        router.reward(choice.ticket, 1.0 if choice.action == "large" else 0.0)
        assert router.spending["excess"] <= router.spending["largest_excess"]


def test_only_dear_actions_awake_are_chosen_all_the_same() -> None:
    router = Router(COSTS, costs=COSTS, budget=1.0)
    for _ in range(300):
        router.reward(router.choose(awake=["large"]).ticket, 0.5)
    assert router.spending["mean_cost"] == 10.0
    assert router.choose().action == "small"


def test_an_action_that_joins_needs_a_cost() -> None:
    router = Router(["small"], costs=COSTS, budget=1.0)
    router.join("large")
    with pytest.raises(ValueError, match="'huge' is missing"):
        router.join("huge")
    assert router.actions == ("small", "large")


def test_a_cost_that_is_known_afterwards_is_paid_back() -> None:
    """Choices of half the cost: twice as many rounds of the large action are affordable."""
    rng, spent = random.Random(1), 0.0
    router = Router(COSTS, costs=COSTS, budget=2.5)
    other = Router(COSTS, costs={name: 0.5 * cost for name, cost in COSTS.items()}, budget=2.5)
    waiting = []
    for _ in range(6000):
        waiting.append(router.choose())
        if len(waiting) > 10:
            choice = waiting.pop(0)
            cost = 0.5 * COSTS[choice.action]
            spent += cost
            router.reward(choice.ticket, float(rng.random() < MEANS[choice.action]), cost=cost)
        choice = other.choose()
        other.reward(choice.ticket, float(rng.random() < MEANS[choice.action]))
    for choice in waiting:
        spent += 0.5 * COSTS[choice.action]
        router.reward(choice.ticket, 0.5, cost=0.5 * COSTS[choice.action])
    assert router.spending["mean_cost"] == pytest.approx(spent / 6000)
    assert router.spending["mean_cost"] < 2.5 + 0.2
    assert router.gain == pytest.approx(other.gain, abs=0.05)
    assert router.gain > played(2.5, 6000).gain + 0.03


def test_costs_that_are_known_afterwards_are_checked() -> None:
    router = Router(COSTS, costs=COSTS, budget=5.0)
    ticket = router.choose(awake=["middle"]).ticket
    before = router.spending
    for cost, words in ((3.5, "the cost of middle"), (-1.0, "the cost of middle")):
        with pytest.raises(ValueError, match=words):
            router.reward(ticket, 0.5, cost=cost)
    assert router.spending == before
    assert router.pending == [ticket]
    router.do({"reward": ticket, "gain": 0.5, "cost": 1.0})
    assert router.spending["mean_cost"] == 1.0
    assert router.copy().spending == router.spending
    free = Router(["a", "b"])
    with pytest.raises(ValueError, match="cost must be left out"):
        free.reward(free.choose().ticket, 0.5, cost=1.0)
