"""Natures that see the state of a hedger, and try to break its bound."""

from collections.abc import Callable

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, State

Nature = Callable[[State, int, np.random.Generator], Floats]


def coins(state: State, _t: int, rng: np.random.Generator) -> Floats:
    """Fair coins."""
    return rng.choice([-1.0, 1.0], len(state.weights))


def one_is_better(state: State, _t: int, rng: np.random.Generator) -> Floats:
    """Fair coins, and one expert that gains more often than not."""
    gains = coins(state, 0, rng)
    gains[0] = 1.0 if rng.random() < 0.7 else -1.0
    return gains


def spite(state: State, _t: int, _rng: np.random.Generator) -> Floats:
    """Those with more than an even share of the weight lose."""
    n = len(state.weights)
    return np.where(state.weights * n > 1 + 1e-9, -1.0, 1.0)


def alternate_then_break_away(state: State, t: int, _rng: np.random.Generator) -> Floats:
    """Halves take turns; then one expert gains and all others lose."""
    n = len(state.weights)
    if t < 150:
        return np.where((np.arange(n) < n // 2) == (t % 2 == 0), 1.0, -1.0)
    return np.where(np.arange(n) == 0, 1.0, -1.0)


def steep(state: State, _t: int, _rng: np.random.Generator) -> Floats:
    """The further ahead, the less."""
    order = np.argsort(np.argsort(state.regrets + 1e-9 * np.arange(len(state.weights))))
    return 1.0 - 2.0 * order / max(len(order) - 1, 1)


NATURES: list[Nature] = [coins, one_is_better, spite, alternate_then_break_away, steep]


def halves(state: State, _t: int, _rng: np.random.Generator) -> Floats:
    """The half with the larger weights loses."""
    n = len(state.weights)
    order = np.argsort(np.argsort(-state.weights + 1e-12 * np.arange(n)))
    return np.where(order < n / 2, -1.0, 1.0)


def held(state: State, t: int, _rng: np.random.Generator) -> Floats:
    """A leader loses, and is held at nearly all of the weight for a while."""
    gains = np.ones(len(state.weights))
    leads = state.regrets.argmax()
    gains[leads] = -1.0
    return -gains if t // 300 % 3 == 2 and state.weights[leads] < 0.97 else gains


def takes_turns(state: State, t: int, _rng: np.random.Generator) -> Floats:
    """Halves take turns, and then one expert at a time breaks away."""
    n = len(state.weights)
    if t % 500 < 400:
        return np.where((np.arange(n) < n // 2) == (t % 2 == 0), 1.0, -1.0)
    return np.where(np.arange(n) == t // 500 % n, 1.0, -1.0)


ADAPTIVE: list[Nature] = [halves, held, takes_turns]


Goal = Callable[[State], float]


def greedy(hedger: CompiledHedger, goal: Goal, state: State) -> Floats:
    """Return the gains after which the goal is largest; the leaders, some of them, win or lose."""
    n = len(state.weights)
    place = np.argsort(np.argsort(-state.regrets + 1e-9 * np.arange(n)))
    few = {1, 2, n // 4, n // 2, n - 1} - {0, n}
    moves = [np.where(place < k, sign, -sign) for k in sorted(few) for sign in (1.0, -1.0)]
    return max(moves, key=lambda gains: goal(hedger.step(state, gains)))
