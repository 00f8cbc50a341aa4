"""Attacks on routers: regrets stay below the bounds, late gains and switches do not blind them."""

from collections import deque
from collections.abc import Callable

import numpy as np
import pytest

from normalhedge import Router
from normalhedge.boundary.inputs import Floats

ROUNDS, ACTIONS = 3000, 5
Attack = Callable[[int, Floats], Floats]


def contrary(_: int, p: Floats) -> Floats:
    """Return no gain for the most probable action, and one for all others."""
    gains = np.ones(ACTIONS)
    gains[p.argmax()] = 0.0
    return gains


def alternate_then_break_away(t: int, _: Floats) -> Floats:
    gains = np.zeros(ACTIONS)
    if t < ROUNDS // 2:
        gains[t % 2] = 1.0
    else:
        gains[3] = 1.0
    return gains


def switch(t: int, _: Floats) -> Floats:
    gains = np.full(ACTIONS, 0.2)
    gains[t // 600 % ACTIONS] = 0.9
    return gains


ATTACKS: list[Attack] = [contrary, alternate_then_break_away, switch]


def attacked(rule: str, attack: Attack, seed: int, lag: int = 0) -> tuple[float, float, Router]:
    """Return the regret to the best action, the mean gain, and the router."""
    router = Router([str(i) for i in range(ACTIONS)], rule=rule, seed=seed)
    waiting, earned, all_gains = deque[tuple[int, float]](), 0.0, np.zeros(ACTIONS)
    for t in range(ROUNDS):
        gains = attack(t, np.array(list(router.probabilities().values())))
        choice = router.choose()
        gain = float(gains[int(choice.action)])
        all_gains += gains
        earned += gain
        waiting.append((choice.ticket, gain))
        if len(waiting) > lag:
            router.reward(*waiting.popleft())
    return float(all_gains.max() - earned), earned / ROUNDS, router


@pytest.mark.parametrize("attack", ATTACKS)
def test_exp3_ix_keeps_its_bound(attack: Attack) -> None:
    regrets, router = [], Router()
    for seed in range(3):
        regret, _, router = attacked("exp3-ix", attack, seed)
        regrets.append(regret)
    assert np.mean(regrets) <= router.bound().regret < ROUNDS


@pytest.mark.parametrize(
    ("rule", "lag"),
    [("auto", 0), ("exp3-ix", 0), ("exp3-ix", 20), ("tsallis-inf", 0), ("tsallis-inf", 20)],
)
def test_an_adversary_that_knows_the_probabilities_does_little_harm(rule: str, lag: int) -> None:
    regret, _, _ = attacked(rule, contrary, 0, lag)
    assert regret < 0.1 * ROUNDS


@pytest.mark.parametrize("lag", [0, 20])
def test_the_default_follows_a_switching_best_action(lag: int) -> None:
    """Any action alone has a mean gain of 0.34."""
    _, gain, _ = attacked("auto", switch, 1, lag)
    assert gain > 0.5
