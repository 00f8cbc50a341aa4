"""Slow and obvious: the corrections of quantiles, and the choice between them, in NumPy.

Written from the words at the top of ``src/core/quantile_corrections.hpp``. The base, the blend
before corrections, is given: ``tests.quantile_oracle`` computes it.
"""

import math
from collections.abc import Sequence

import numpy as np

from normalhedge.boundary.inputs import Floats
from tests.automatic_oracle import Guard
from tests.corrections_oracle import add_error

RATES = 0.5 ** np.arange(1, 8)
TRUST = 0.8


class Game:
    """The corrections of a game, and the choice between them and the base."""

    def __init__(self, levels: Floats) -> None:
        self.levels, self.middle = levels, int(np.abs(levels - 0.5).argmin())
        self.location = self.spread = 0.0
        self.tracked, self.rounds = np.zeros(len(levels)), 0
        self.regrets, self.squares = np.zeros(5), np.zeros(5)

    def moved(self, base: Floats) -> Floats:
        middle = base[self.middle]
        unit = np.abs(base - middle).mean()
        return np.asarray(middle + unit * self.location + math.exp(self.spread) * (base - middle))

    def values(self, base: Floats, unit: float) -> list[Floats]:
        """Return both corrections, as they come."""
        return [self.moved(base), base + unit * self.tracked]

    def slopes(self, base: Floats, unit: float, y: float) -> tuple[float, float, Floats]:
        """Return the slopes of the loss by location, spread and each quantile level."""

        def slope(x: Floats) -> Floats:
            return 2.0 * np.where(x > y, 1.0 - self.levels, np.where(x < y, -self.levels, 0.0))

        middle = base[self.middle]
        own = np.abs(base - middle).mean()
        missed = slope(self.moved(base))
        tracked = slope(base + unit * self.tracked)
        if own == 0.0:
            return 0.0, 0.0, tracked
        far = math.exp(self.spread) * (base - middle) / own
        return float(missed.mean()), float((missed * far).mean()), tracked

    def follow(
        self, slopes: list[tuple[float, float, Floats]], late: float, share: float = 1.0
    ) -> None:
        """Take a step against the mean slopes of a round, or of a share of a round."""
        self.rounds += 1
        rate, careful = (
            max(1.0 / (many * (1 + late) + self.rounds), 0.02 / (1 + late)) for many in (8.0, 24.0)
        )
        location, spread = (share * float(np.mean([one[k] for one in slopes])) for k in (0, 1))
        tracked = share * np.mean([one[2] for one in slopes], axis=0)
        self.location = float(np.clip(self.location - 0.6 * rate * location, -4.0, 4.0))
        self.spread = float(np.clip(self.spread - 2.0 * rate * spread, -math.log(4), math.log(4)))
        self.tracked = np.clip(self.tracked - careful * tracked, -4.0, 4.0)

    def evidence(self, count: int) -> Floats:
        R, V = self.regrets[:count, np.newaxis], self.squares[:count, np.newaxis]
        return np.asarray((RATES * np.exp(RATES * R - RATES**2 * V)).sum(axis=1))

    def judge(self, rises: Floats, late: float) -> None:
        self.regrets[: len(rises)] += rises
        self.squares[: len(rises)] += (1 + late) * rises**2


class Track:
    """The usual loss of an item, and the usual difference of its corrections."""

    def __init__(self) -> None:
        self.losses = self.count = self.difference = self.differences = 0.0

    @property
    def unit(self) -> float:
        return self.losses / self.count if self.count > 1.5 else 0.0

    def see(self, loss: float) -> None:
        self.losses = add_error(self.losses, self.count, loss)
        self.count = 0.99 * self.count + 1.0


def say(
    games: Sequence[Game], track: Track, guard: Guard, row: Floats, base: Floats
) -> tuple[list[Floats], Floats]:
    """Return the corrections of a row, shared and alone, and the forecast that is followed."""
    outcomes = guard.outcomes
    positive = min(outcomes, default=0.0) >= 0.0 and np.nanmin(row[0]) >= 0.0
    found = []
    for game in games:
        for value in game.values(base, track.unit):
            near = np.abs(value - base) <= 1e-13 * np.abs(base)
            near = np.where(near, base, value)
            found.append(np.sort(np.maximum(near, np.minimum(base, 0.0)) if positive else near))
    count = 1 + len(found)
    prior = np.array([TRUST, *[(1.0 - TRUST) / len(found)] * len(found)])
    weights = prior * games[0].evidence(count)
    weights /= weights.sum()
    if len(games) > 1:
        weights = (0.9 * weights + 0.1 * prior) * games[1].evidence(count)
        weights /= weights.sum()
    return found, np.sort(
        base + sum(w * (x - base) for w, x in zip(weights[1:], found, strict=True))
    )


def rises_of(track: Track, chosen: Floats, said: Floats, y: float, levels: Floats) -> Floats | None:
    """Return by how much the base and its corrections were better; None if all agreed."""
    slope = np.where(chosen > y, 1.0 - levels, np.where(chosen < y, -levels, 0.0))
    slope *= 2.0 / len(levels)
    farthest = np.abs(slope * (said - said[0])).sum(axis=1).max()
    if not farthest > 1e-12 * np.abs(slope * said[0]).sum():
        return None
    track.difference = 0.99 * track.difference + 0.5 * farthest
    track.differences = 0.99 * track.differences + 1.0
    rises = (slope * (chosen - said)).sum(axis=1) * track.differences / track.difference
    return np.asarray(np.clip(rises, -20.0, 20.0))
