"""Routers to test with."""

import random
from typing import Any

from normalhedge import Router

MEANS = {"a": 0.2, "b": 0.5, "c": 0.8}


def play(router: Router, rounds: int, seed: int = 0, **wishes: Any) -> list[str]:
    """Let a router choose, and give each choice its gain at once; return the choices."""
    rng, chosen = random.Random(seed), []
    for _ in range(rounds):
        choice = router.choose(**wishes)
        chosen.append(choice.action)
        router.reward(choice.ticket, float(rng.random() < MEANS.get(choice.action, 0.4)))
    return chosen


def same(one: Router, other: Router) -> bool:
    """Tell whether two routers are in the same state, to the bit."""
    return (
        one._core.dump().tobytes() == other._core.dump().tobytes()
        and one._core.every == other._core.every
        and one._core.contexts == other._core.contexts
    )
