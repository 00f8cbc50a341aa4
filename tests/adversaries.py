"""Natures that try to break a bound: each gives the gains, and who is awake, seeing the state."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from normalhedge import NormalHedge
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import State


def alternate_then_break_away(n: int, alpha: float) -> np.ndarray:
    """Halves swap +1 and -1 for 8/alpha rounds; then one expert gets +1 and all others -1."""
    rounds = round(8 / alpha)
    halves = np.where(np.arange(n) < n // 2, 1, -1).astype(np.int8)
    gains = np.empty((2 * rounds, n), dtype=np.int8)
    gains[0:rounds:2] = halves
    gains[1:rounds:2] = -halves
    gains[rounds:] = -1
    gains[rounds:, 0] = 1
    return gains


class Round(NamedTuple):
    """A move of Nature."""

    gains: Floats
    confidence: Floats


def moves(kind: str, state: State, t: int, rng: np.random.Generator) -> Round:
    """Return the move of one of the confidence-rated adversaries."""
    regrets = state.regrets
    n = len(regrets)
    sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    ahead = regrets >= np.median(regrets)
    return {
        # Fair coins, and random confidences.
        "coins": Round(sign, rng.random(n)),
        # Those ahead gain with confidence, those behind lose without it.
        "flatter": Round(np.where(ahead, 1.0, -1.0), np.where(ahead, 1.0, 0.1)),
        # Those that carry the weight sleep every other round, and lose when awake.
        "hide": Round(
            np.where(state.weights > 0, -1.0, 1.0),
            np.where((state.weights > 0) & (t % 2 == 0), 0.0, 1.0),
        ),
        # One expert is sure of itself, and right; the others whisper, and are wrong.
        "prophet": Round(
            np.where(np.arange(n) == 0, 1.0, -1.0), np.where(np.arange(n) == 0, 1.0, 0.05)
        ),
        # Experts speak only when they will win.
        "boast": Round(sign, np.where(sign > 0, 1.0, 0.2)),
        # The alternating attack with half of the experts half asleep.
        "alternate": Round(
            np.where((np.arange(n) + t) % 2 == 0, 1.0, -1.0),
            np.where(np.arange(n) < n // 2, 1.0, 0.5),
        ),
    }[kind]


KINDS = ("coins", "flatter", "hide", "prophet", "boast", "alternate")


def states(
    hedger: NormalHedge, kind: str, n: int, rounds: int, rng: np.random.Generator
) -> Iterator[State]:
    """Yield the states of a game against a confidence-rated adversary."""
    state: Any = hedger.init(n)
    for t in range(rounds):
        state = hedger.step(state, *moves(kind, state, t, rng))
        yield state
