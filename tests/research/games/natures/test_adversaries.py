"""Natures that answer the state of a hedger."""

import math

import pytest

from normalhedge import NormalHedge
from normalhedge.boundary.specs import make
from normalhedge.hedgers import HEDGERS, Hedge
from normalhedge.research.games import Contrary, Greedy, IndependentCoins, play
from tests.research.games.natures.examples import drawn


@pytest.mark.parametrize("name", [name for name in HEDGERS if name != "hedge-fixed"])
def test_against_the_contrary_nobody_earns_anything(name: str) -> None:
    target = make("hedger", name, HEDGERS, alpha=0.02, n_experts=9)
    gains = drawn(Contrary(9, target), 150)
    earned = target.run(gains).gains
    assert earned.max() <= 1e-8
    assert (gains == 1).any(axis=1).all() or name == "follow-the-leader"


def test_the_contrary_needs_a_hedger() -> None:
    with pytest.raises(TypeError, match="target must be a hedger"):
        Contrary(3, "hedge")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 2"):
        Contrary(1, NormalHedge(0.1))


@pytest.mark.parametrize("c", [1.0, 2.0, 4.0])
def test_greedy_approaches_what_can_be_reached(c: float) -> None:
    hedger = NormalHedge(0.01, c)
    trace = play([hedger], Greedy(20, hedger), 1500)
    reached = math.exp(trace.highest_potential[0])
    assert reached > 1 + 0.97 * (math.exp(1 / (4 * c - 2)) - 1)


def test_greedy_raises_the_potential_more_than_chance_and_diverges_at_one_half() -> None:
    hedger = NormalHedge(0.01, c=0.5)
    greedy = play([hedger], Greedy(20, hedger), 3000).highest_potential[0]
    chance = play([hedger], IndependentCoins(20), 3000).highest_potential[0]
    assert greedy > 4 * chance
    assert greedy > 10


def test_a_target_without_a_potential() -> None:
    with pytest.raises(TypeError, match="target must be a hedger with a potential"):
        Greedy(3, "normal-hedge")  # type: ignore[arg-type]
    assert Greedy(3, Hedge(0.1, 1.0)).experts == 3
