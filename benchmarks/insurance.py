"""The insurance of the default blend alone, with outcomes that are late: slow and obvious.

Components have losses in [0, 1] that nature chooses; the blend loses their mean. Theorem G of
``docs/two-levels.md`` says what the potential cannot exceed.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

QUARTER = 0.25
"""A round is wide if the mean difference over the last outcomes is more than this."""


def phi(regrets: Floats, clocks: Floats) -> Floats:
    """Return the potential, 1 at clock 0.

    Parameters
    ----------
    regrets, clocks
        Numbers or arrays.
    """
    squares = np.maximum(regrets, 0.0) ** 2 + 0.0 * clocks
    return np.exp(np.divide(squares, 3.0 * clocks, out=0.0 * squares, where=squares > 0.0))


def weight(regrets: Floats, clocks: Floats) -> Floats:
    """Return the weight, before the prior and before weights are made to sum to one.

    Parameters
    ----------
    regrets, clocks
        Numbers or arrays.
    """
    return np.asarray(0.5 * (phi(regrets + 1.0, clocks + 1.0) - phi(regrets - 1.0, clocks + 1.0)))


def delayed_limit(prior: Floats, clocks: Floats, n: float, wide: int) -> float:
    """Return what the potential cannot exceed, by Theorem G.

    Parameters
    ----------
    prior, clocks
        The prior and the clocks of the components.
    n
        One more than the lag.
    wide
        The number of wide rounds.
    """
    narrow = float(prior @ (1.0 + n / 2.0 + 2.0 * np.log1p(clocks / n)))
    return math.exp(wide / (3.0 * n)) * narrow


class Ahead(NamedTuple):
    """What nature knows: the regrets and clocks that will be when all outcomes are known.

    Attributes
    ----------
    round
        The number of the round.
    regrets, clocks
        Those of the components.
    played
        The weights that are played now.
    unit, n
        The unit of losses, and one more than the lag.
    """

    round: int
    regrets: Floats
    clocks: Floats
    played: Floats
    unit: float
    n: float


Nature = Callable[[Ahead], Floats]
"""The losses of the components, in [0, 1]."""


def in_turn(share: float, period: float) -> Nature:
    """Return a nature in which a share of the components and the others win in turn.

    Parameters
    ----------
    share
        The share of the components in the first group.
    period
        How long a group wins, as a multiple of 1 + lag.
    """

    def losses(now: Ahead) -> Floats:
        first = np.arange(len(now.regrets)) < share * len(now.regrets)
        second = now.round // max(1, int(period * now.n)) % 2
        return np.where(first == bool(second), 1.0, 0.0)

    return losses


def break_away(now: Ahead) -> Floats:
    """Let halves win in turn, and after 500 rounds one component always."""
    if now.round < 500:
        return in_turn(0.5, 1.0)(now)
    return np.where(np.arange(len(now.regrets)) > 0, 1.0, 0.0)


def greedy(now: Ahead) -> Floats:
    """Let those ahead win, or lose: as many of them as raise the potential most."""
    order, best, found = np.argsort(-now.regrets), -math.inf, now.regrets
    for count in range(1, len(order)):
        for winners in (0.0, 1.0):
            losses = np.full(len(order), winners)
            losses[order[:count]] = 1.0 - winners
            rises = (now.played @ losses - losses) / now.unit
            value = phi(now.regrets + rises, now.clocks + now.n * np.abs(rises)).mean()
            if value > best:
                best, found = value, losses
    return found


class Found(NamedTuple):
    """A game of the insurance alone.

    Attributes
    ----------
    potential, limit
        The largest potential, and what Theorem G says at the end that it cannot exceed.
    share
        The largest share of its limit that the potential ever had.
    regret
        The largest regret at the end.
    wide
        The number of wide rounds.
    """

    potential: float
    limit: float
    share: float
    regret: float
    wide: int


def play(nature: Nature, lag: int, rounds: int, *, unit: float, ways: int = 6) -> Found:
    """Play the insurance against a nature.

    Parameters
    ----------
    nature
        The nature.
    lag, rounds
        The lag of outcomes, and the number of rounds.
    unit
        The unit of losses. With four, no difference is more than a quarter, and no round is wide.
    ways
        The number of components, of even priors.
    """
    prior, n = np.full(ways, 1.0 / ways), 1.0 + lag
    regrets, clocks, ahead = np.zeros(ways), np.zeros(ways), np.zeros((2, ways))
    waiting, window = deque[Floats](), deque[Floats](maxlen=lag + 1)
    wide, most, share, limit = 0, 1.0, 0.0, 1.0
    for t in range(rounds):
        weights = prior * weight(regrets, clocks)
        played = weights / weights.sum() if weights.sum() > 0.0 else prior
        losses = nature(Ahead(t, ahead[0], ahead[1], played, unit, n))
        rises = (played @ losses - losses) / unit
        ahead = ahead + np.stack([rises, n * np.abs(rises)])
        waiting.append(rises)
        if len(waiting) <= lag:
            continue
        rises = waiting.popleft()
        window.append(np.abs(rises))
        wide += bool(np.sum(window, axis=0).max() > QUARTER * n + 1e-12)
        regrets, clocks = regrets + rises, clocks + n * np.abs(rises)
        potential = float(prior @ phi(regrets, clocks))
        limit = delayed_limit(prior, clocks, n, wide)
        most, share = max(most, potential), max(share, potential / limit)
    return Found(most, limit, share, float(regrets.max()), wide)


NATURES: dict[str, Nature] = {
    "greedy": greedy,
    "halves win in turn, each 1 + lag rounds": in_turn(0.5, 1.0),
    "halves win in turn, each 2 + 2 lag rounds": in_turn(0.5, 2.0),
    "a fifth and the others win in turn": in_turn(0.2, 2.0),
    "halves win in turn, then one breaks away": break_away,
}


def rows_of(rounds: int) -> Iterator[list[str]]:
    """Yield the rows of a table: the largest potentials, and their limits."""
    lags = (1, 5, 24)
    yield ["nature, unit", *(f"lag {lag}" for lag in lags)]
    for unit in (4.0, 1.0):
        for name, nature in NATURES.items():
            found = [play(nature, lag, rounds, unit=unit, ways=20) for lag in lags]
            cells = (f"{one.potential:.2f} of {one.limit:.3g}" for one in found)
            yield [f"{name}, {unit:g}", *cells]
