"""Residuals of forecasts: four kinds of series whose truth is known, and an adversary."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

ROUNDS = 10_000
SEASON = 24
REACH = 10.0
"""How far the adversary can go."""


class Series(NamedTuple):
    """Residuals y = bias + spread z with normal z, and what they were drawn from."""

    y: Floats
    bias: Floats
    spread: Floats


def stationary(seed: int) -> Series:
    """Draw residuals that are always the same."""
    return _drawn(seed, np.zeros(ROUNDS), np.ones(ROUNDS))


def drifting(seed: int) -> Series:
    """Let the logarithm of the spread walk, and the bias swing."""
    walk = 0.01 * np.cumsum(np.random.default_rng([seed, 1]).normal(size=ROUNDS))
    return _drawn(seed, 0.3 * np.sin(np.arange(ROUNDS) / 700), np.exp(walk - walk.mean()))


def jumping(seed: int) -> Series:
    """Let spread and bias jump after 600 to 1800 rounds; the spread up to a factor of 7."""
    rng = np.random.default_rng([seed, 2])
    spread, bias, at = np.empty(ROUNDS), np.empty(ROUNDS), 0
    while at < ROUNDS:
        until = at + int(rng.integers(600, 1800))
        spread[at:until] = math.exp(rng.uniform(-1.0, 1.0))
        bias[at:until] = 0.5 * rng.normal()
        at = until
    return _drawn(seed, bias, spread)


def seasonal(seed: int) -> Series:
    """Let the spread follow the hour of the day."""
    hour = 2.0 * np.pi * np.arange(ROUNDS) / SEASON
    return _drawn(seed, np.zeros(ROUNDS), 1.0 + 0.8 * np.sin(hour))


def adversary(low: float, high: float, otherwise: float) -> float:
    """Miss the interval, which is seen, wherever that is possible within [-10, 10].

    Parameters
    ----------
    low, high
        The interval.
    otherwise
        The outcome where it is not possible.
    """
    if high < REACH and (high <= -low or low <= -REACH):
        return min(high + 1e-6 * (1.0 + abs(high)), REACH)
    if low > -REACH:
        return max(low - 1e-6 * (1.0 + abs(low)), -REACH)
    return otherwise


KINDS: dict[str, Callable[[int], Series] | None] = {
    "stationary": stationary,
    "drifting": drifting,
    "jumping": jumping,
    "seasonal": seasonal,
    "adversarial": None,
}
"""None: the adversary."""


def _drawn(seed: int, bias: Floats, spread: Floats) -> Series:
    noise = np.random.default_rng([seed, 0]).normal(size=ROUNDS)
    return Series(bias + spread * noise, bias, spread)
