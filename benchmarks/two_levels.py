"""Natures that try to break the bound of the default blend: ``python -m benchmarks.two_levels``.

A nature makes the forecasts of a round, sees what the blend and all of its components say, and
chooses the outcome. The greedy one tries several outcomes and takes the one after which some
component's regret is the largest share of its bound. The table shows the largest share in a game:
one would be a counterexample to Theorem F of ``docs/two-levels.md``.

Further tables are of the insurance alone (`benchmarks.insurance`) and of what is promised before a
game.
"""

import argparse
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from benchmarks import insurance
from normalhedge import Mixture
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses import LOSSES, Loss
from normalhedge.mixtures.rules import Automatic, levels_of
from tests.automatic_oracle import Portion, UsualRows

LAGS = (0, 1, 5, 24)
OWN_LEVEL = 2
"""The place of the level of an item alone, which is not there while there is one item."""

FOLLOWED = 3
"""The place of what the levels say, before the ways: all that the blend is insured against."""

Rows = Iterator[tuple[Floats, Floats]]
"""For each round the forecasts, items x experts, and the outcomes to try, items x outcomes."""

LOSS_OF: dict[str, Callable[[Any], Any]] = {
    "square": np.square,
    "absolute": np.abs,
    "zero-one": lambda x: np.where(np.isnan(x), np.nan, 1.0 * (x != 0.0)),
}


CAMPS = np.array([[0.0, 0.0, 0.0, 1.0, 1.0]])
"""The forecasts of two camps: their mean is 0.4, their median 0."""


def contrary(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield experts with errors of their own; the outcome may be anywhere near them."""
    for _ in range(rounds):
        row = rng.normal(size=(1, 5)) * np.linspace(0.3, 2.0, 5)
        yield row, np.linspace(-4.0, 4.0, 17)[np.newaxis]


def camps(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield two camps; one of them is right, or the mean of all."""
    del rng
    yield from [(CAMPS, np.array([[0.0, 0.4, 1.0]]))] * rounds


def break_away(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield camps that are right in turn for half of the game, and then one of them always."""
    del rng
    for t in range(rounds):
        yield CAMPS, np.array([[t % 2.0 if t < rounds // 2 else 1.0]])


def jump(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield camps whose distance is a million times as large in the last quarter.

    Up to then one camp is always right, so that the blend is ahead of the plain mean by far.
    """
    del rng
    small = 3 * rounds // 4
    yield from [(CAMPS, np.ones((1, 1)))] * small
    yield from [(1e6 * CAMPS, 1e6 * np.array([[0.0, 0.4, 1.0]]))] * (rounds - small)


def in_turn(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield experts of whom three are awake, others in each round."""
    for t, (row, tried) in enumerate(contrary(rng, rounds)):
        yield np.where((np.arange(5) + t) % 5 < 3, row, np.nan), tried


def absurd(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield experts of whom one is absurd now and then."""
    for t, (row, tried) in enumerate(contrary(rng, rounds)):
        row[0, 4] *= 1e6 if t % 50 == 17 else 1.0
        yield row, tried


def items(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield three items, on three scales."""
    scales = np.array([[1.0], [1e-3], [1e3]])
    for _ in range(rounds):
        row = rng.normal(size=(3, 5)) * np.linspace(0.3, 2.0, 5)
        yield scales * row, scales * np.linspace(-4.0, 4.0, 9)


def later(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield one item, and from the middle on two: then each has components of its own."""
    for t, (rows, tried) in enumerate(items(rng, rounds)):
        count = 1 if t < rounds // 2 else 2
        yield rows[:count], tried[:count]


def labels(rng: np.random.Generator, rounds: int) -> Rows:
    """Yield labels, of which any may be right."""
    for _ in range(rounds):
        yield np.floor(3.0 * rng.random((1, 5))), np.arange(3.0)[np.newaxis]


class Setting(NamedTuple):
    """A nature, the loss and whether the guard is on."""

    nature: Callable[[np.random.Generator, int], Rows]
    loss: str = "square"
    guard: bool = False


SETTINGS = {
    "contrary": Setting(contrary),
    "contrary, absolute loss": Setting(contrary, "absolute"),
    "two camps": Setting(camps),
    "two camps, absolute loss": Setting(camps, "absolute"),
    "alternate, then break away": Setting(break_away),
    "the unit jumps by 10^12": Setting(jump),
    "experts that sleep in turn": Setting(in_turn),
    "an absurd expert": Setting(absurd),
    "an absurd expert, with the guard": Setting(absurd, guard=True),
    "three items": Setting(items),
    "a second item from the middle on": Setting(later),
    "labels, zero-one loss": Setting(labels, "zero-one"),
}


@dataclass
class Tally:
    """Regrets and clocks of the insurance, from what was said and what came: slow and obvious."""

    loss: Loss
    shares: Floats
    late: int = 0
    largest: dict[int, float] = field(default_factory=dict)
    regrets: Any = 0.0
    clocks: Any = 0.0
    losses: Any = 0.0
    drift: float = 0.0
    usual_rows: UsualRows = field(default_factory=UsualRows)

    def rises(self, item: int, said: Floats, outcome: float) -> tuple[Floats, float, Floats]:
        """Return the differences of a row in units of the largest so far, that, and themselves."""
        insured = said[FOLLOWED : FOLLOWED + len(self.shares)]
        losses = LOSS_OF[self.loss.name](np.append(said[0], insured) - outcome)
        leads = np.nan_to_num(losses[0] - losses[1:])
        sums = np.nan_to_num(np.abs(losses[0]) + np.abs(losses[1:]))
        leads[np.abs(leads) <= 1e-12 * sums] = 0.0
        largest = max(self.loss.width, self.largest.get(item, 0.0), float(np.abs(leads).max()))
        return (leads / largest if largest > 0.0 else leads), largest, leads

    def add(self, said: Floats, outcomes: Floats, *, several: bool) -> None:
        """Add a round: values of the rows, and outcomes.

        While there was one item, regrets and clocks are taken over when its unit grows. From
        several items on, a round with fewer rows than usual counts less.
        """
        rises, leads, ratio = [], [], 1.0
        for item, (row, outcome) in enumerate(zip(said, outcomes, strict=True)):
            if not np.isnan(row[0]):
                before = max(self.largest.get(item, 0.0), self.loss.width)
                rise, self.largest[item], lead = self.rises(item, row, float(outcome))
                rises.append(rise)
                leads.append(lead)
                alone = np.isnan(row[OWN_LEVEL])  # no item had a level of its own yet
                ratio = before / self.largest[item] if alone and self.largest[item] else 1.0
        portion = self.usual_rows.see(len(rises))
        if not several:
            portion = Portion()
        if rises:
            rise = portion.share * np.mean(rises, axis=0)
            rise[np.abs(rise) < 1e-9] = 0.0
            self.drift += float(0.5 * self.shares @ (np.abs(rise) / (self.clocks + 1.0)))
            self.regrets = ratio * (self.regrets + rise)
            self.clocks = ratio * (
                self.clocks + (1.0 + self.late * portion.mean_share) * np.abs(rise)
            )
            self.losses = self.losses + portion.share * np.mean(leads, axis=0)

    def worst(self, item: int, said: Floats, tried: Floats, shares: Floats) -> float:
        """Return the outcome of a row that brings a component nearest to its bound.

        Parameters
        ----------
        item, said
            The item and the values of the row.
        tried
            The outcomes to try.
        shares
            The prior of the components.
        """
        near = []
        for outcome in tried:
            rise = self.rises(item, said, float(outcome))[0]
            clocks = 1e-9 + self.clocks + (1.0 + self.late) * np.abs(rise)
            limits = np.sqrt(3.0 * clocks * np.log(3.0 / shares))
            near.append(((self.regrets + rise) / limits).max())
        return float(tried[int(np.argmax(near))])


class Found(NamedTuple):
    """How near to its bound a component came.

    Attributes
    ----------
    share
        The largest share of its bound that a regret of Theorem F had, in any round: before what
        the growing of the unit took is added to both.
    regret, bound
        The largest regret at the end, and what `Mixture.bound` says then.
    excess
        By how much the condition of the theorem was violated, in total.
    """

    share: float
    regret: float
    bound: float
    excess: float


def attack(setting: Setting, lag: int, rounds: int, seed: int = 0) -> Found:
    """Let a nature play against the default blend.

    Parameters
    ----------
    setting
        The nature and the loss.
    lag
        How many rounds are predicted before an outcome is known.
    rounds, seed
        The number of rounds, and the seed of the forecasts.
    """
    hedger, loss = Automatic(guard=setting.guard), LOSSES[setting.loss]()
    mixture, rng = Mixture(hedger, loss=loss), np.random.default_rng(seed)
    shares, waiting = hedger._shares(loss), deque[Any]()
    ahead, behind = Tally(loss, shares, lag), Tally(loss, shares, lag)
    near = 0.0
    for rows, tried in setting.nature(rng, rounds):
        made, said = _predict(mixture, rows)
        outcomes = np.array([ahead.worst(k, row, tried[k], shares) for k, row in enumerate(said)])
        ahead.add(said, outcomes, several=len(mixture.items) > 1)
        waiting.append((made, said, outcomes))
        if len(waiting) > lag:
            made, said, outcomes = waiting.popleft()
            mixture.update(made, _named(outcomes))
            behind.add(said, outcomes, several=len(mixture.items) > 1)
            now = levels_of(mixture.live)
            logs = np.log((shares.sum() + now.excess[0]) / shares)
            limits = np.sqrt(3.0 * now.clocks[0] * logs)
            near = max(near, float((now.regrets[0] / np.maximum(limits, 1e-300)).max()))
    levels = levels_of(mixture.live)
    np.testing.assert_allclose(levels.regrets[0], behind.regrets, atol=1e-6)
    np.testing.assert_allclose(levels.clocks[0], behind.clocks, atol=1e-5)
    np.testing.assert_allclose(levels.losses[0], behind.losses, rtol=1e-9, atol=1e-6)
    return Found(
        share=near,
        regret=float(hedger.regrets(mixture.live).max()),
        bound=mixture.bound().regret,
        excess=float(levels.excess[0, 0]) - behind.drift,
    )


def _predict(mixture: Mixture, rows: Floats) -> tuple[int, Floats]:
    """Return the ticket of a round, and all that is said."""
    told = {f"expert {i}": _named(column) for i, column in enumerate(rows.T)}
    ticket = mixture.predict(told).ticket
    return ticket, mixture.pending[ticket].values.copy()


def _named(numbers: Floats) -> dict[str, float]:
    """Return the numbers of a round by item."""
    return {f"item {k}": float(x) for k, x in enumerate(numbers)}


def rows_of(rounds: int) -> Iterator[list[str]]:
    """Yield the rows of the table of attacks."""
    yield ["nature", *(f"lag {lag}" for lag in LAGS)]
    for name, setting in SETTINGS.items():
        found = [attack(setting, lag, rounds) for lag in LAGS]
        yield [
            name,
            *(f"{one.share:.2f} ({_brief(one.regret)} of {_brief(one.bound)})" for one in found),
        ]


def _brief(number: float) -> str:
    """Return three digits of a number."""
    return f"{float(f'{number:.3g}'):g}"


def rows_ahead() -> Iterator[list[str]]:
    """Yield the rows of the table of bounds before the game."""
    yield ["rounds", *(f"lag {lag}" for lag in LAGS)]
    for rounds in (1000, 10_000, 100_000):
        bounds = (Automatic().bound_ahead(LOSSES["square"](), rounds, lag) for lag in LAGS)
        yield [f"{rounds:,}", *(f"{math.ceil(bound.regret):,}" for bound in bounds)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    rounds = parser.parse_args().rounds
    for table in (rows_of(rounds), insurance.rows_of(rounds), rows_ahead()):
        for line, cells in enumerate(table):
            print("| " + " | ".join(cells) + " |", flush=True)
            if line == 0:
                print("|---" * len(cells) + "|")
        print()


if __name__ == "__main__":
    main()
