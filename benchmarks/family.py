"""Every hedger of the family beside its paper's formula in straightforward NumPy."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from river import base, ensemble, optim

from benchmarks.timing import HEADER, Row, measure
from normalhedge import hedgers
from normalhedge._inputs import Floats
from normalhedge.hedgers import LedgerHedger
from tests import family_oracles as oracles

EXPERTS = 1000

PAIRS: dict[str, tuple[LedgerHedger, type[Any]]] = {
    "ada-hedge": (hedgers.AdaHedge(), oracles.AdaHedge),
    "ada-normal-hedge": (hedgers.AdaNormalHedge(), oracles.AdaNormalHedge),
    "boa": (hedgers.BOA(), oracles.BOA),
    "coin-betting": (hedgers.CoinBetting(), oracles.CoinBetting),
    "fixed-share": (hedgers.FixedShare(0.1, 0.01), oracles.FixedShare),
    "flip-flop": (hedgers.FlipFlop(), oracles.FlipFlop),
    "follow-the-leader": (hedgers.FollowTheLeader(), oracles.FollowTheLeader),
    "hedge-decreasing": (hedgers.DecreasingHedge(), oracles.DecreasingHedge),
    "ml-poly": (hedgers.MLPoly(), oracles.MLPoly),
    "ml-prod": (hedgers.MLProd(), oracles.MLProd),
    "normal-hedge-2009": (hedgers.NormalHedge2009(), oracles.NormalHedge2009),
    "normal-hedge-dt": (hedgers.NormalHedgeDT(), oracles.NormalHedgeDT),
    "optimistic-hedge": (hedgers.OptimisticHedge(0.1), oracles.OptimisticHedge),
    "regret-matching": (hedgers.RegretMatching(), oracles.RegretMatching),
    "rm-plus": (hedgers.RegretMatchingPlus(), oracles.RegretMatchingPlus),
    "squint": (hedgers.Squint(), oracles.SquintClosed),
    "uniform": (hedgers.Uniform(), oracles.Uniform),
    "variable-share": (hedgers.VariableShare(0.1, 0.01), oracles.VariableShare),
}


class OurGame:
    """A game of ours, round by round on the rows of an array."""

    def __init__(self, hedger: LedgerHedger, gains: Floats, *, in_place: bool) -> None:
        self.hedger, self.gains, self.in_place = hedger, gains, in_place
        self.round = 0
        self.state = hedger.init(gains.shape[1])

    def __call__(self) -> None:
        """Play a round."""
        row = self.gains[self.round % len(self.gains)]
        self.state = self.hedger.step(self.state, row, in_place=self.in_place)
        self.round += 1


class NumpyGame:
    """The same of an oracle, which plays, is told the losses, and updates."""

    def __init__(self, oracle: oracles.Oracle, losses: Floats) -> None:
        self.oracle, self.losses = oracle, losses
        self.round = 0

    def __call__(self) -> None:
        """Play a round."""
        row = self.losses[self.round % len(self.losses)]
        self.oracle.update(row, float(self.oracle.weights() @ row))
        self.round += 1


class Column(base.Regressor):
    """A model of river's that predicts what it is shown."""

    def __init__(self, name: int) -> None:
        self.name = name

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing."""

    def predict_one(self, x: Any) -> Any:
        """Return its number."""
        return x[self.name]


def river() -> Row:
    """Return the row of river's exponentially weighted average, from predictions and an outcome.

    Fixed Share is the same where it shares nothing to speak of.
    """
    said = np.random.default_rng(1).random(EXPERTS)
    shown = dict(enumerate(said.tolist()))
    ewa: Any = ensemble.EWARegressor(
        [Column(i) for i in range(EXPERTS)], loss=optim.losses.Absolute(), learning_rate=0.2
    )
    hedger = hedgers.FixedShare(0.1, 1e-300)
    state = hedger.init(EXPERTS)

    def ours() -> None:
        nonlocal state
        state = hedger.step(state, 1.0 - 2.0 * np.abs(said - 0.5), in_place=True)

    theirs = partial(ewa.learn_one, shown, 0.5)
    what = "exponential weights, learn a round"
    return measure(what, ours, ("river", theirs), ">= 1x", calls=200, reference_calls=5, repeats=9)


def rows() -> Iterator[Row]:
    """Yield the table of the family: a round by `step`, and a round of many by `run`.

    The references change themselves, as a step in place does; and they check nothing.
    """
    gains = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (200, EXPERTS))
    losses = (1.0 - gains) / 2.0
    for name, (hedger, oracle) in PAIRS.items():
        reference = "NumPy, SciPy" if name in {"squint", "normal-hedge-2009"} else "NumPy"
        theirs = NumpyGame(oracle(EXPERTS), losses)
        calls = 100 if name == "normal-hedge-2009" else 200
        for work, in_place in (("step", False), ("step, in place", True)):
            ours = OurGame(hedger, gains, in_place=in_place)
            what = f"{name}, {work}"
            yield measure(what, ours, (reference, theirs), ">= 4x", calls=calls, repeats=9)
        many = measure(
            f"{name}, a round of run",
            partial(hedger.run, gains),
            (reference, theirs),
            ">= 4x",
            reference_calls=calls,
            repeats=9,
        )
        yield many._replace(seconds=many.seconds / len(gains))
    yield river()


if __name__ == "__main__":
    print(HEADER)
    for line in rows():
        print(line, flush=True)
