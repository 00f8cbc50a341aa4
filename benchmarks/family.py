"""Every hedger of the family beside its paper's formula in straightforward NumPy."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import HEADER, Row, measure
from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger
from tests import family_oracles as oracles

EXPERTS = 1000

PAIRS: dict[str, tuple[CompiledHedger, type[Any]]] = {
    "ada-hedge": (hedgers.AdaHedge(), oracles.AdaHedge),
    "ada-hedge-d:hint=1": (hedgers.AdaHedgeD(hint=1.0), oracles.AdaHedgeD),
    "ada-normal-hedge": (hedgers.AdaNormalHedge(), oracles.AdaNormalHedge),
    "boa": (hedgers.BOA(), oracles.BOA),
    "coin-betting": (hedgers.CoinBetting(), oracles.CoinBetting),
    "dorm:hint=1": (hedgers.DORM(hint=1.0), oracles.DORM),
    "dorm-plus:hint=1": (hedgers.DORMPlus(hint=1.0), oracles.DORMPlus),
    "fixed-share": (hedgers.FixedShare(0.1, 0.01), oracles.FixedShare),
    "flip-flop": (hedgers.FlipFlop(), oracles.FlipFlop),
    "follow-the-leader": (hedgers.FollowTheLeader(), oracles.FollowTheLeader),
    "hedge-decreasing": (hedgers.DecreasingHedge(), oracles.DecreasingHedge),
    "ml-poly": (hedgers.MLPoly(), oracles.MLPoly),
    "ml-poly-opera": (hedgers.MLPolyOpera(), oracles.MLPolyOpera),
    "ml-prod": (hedgers.MLProd(), oracles.MLProd),
    "normal-hedge-2009": (hedgers.NormalHedge2009(), oracles.NormalHedge2009),
    "normal-hedge-bh": (hedgers.NormalHedgeBH(), oracles.NormalHedgeBH),
    "normal-hedge-dt": (hedgers.NormalHedgeDT(), oracles.NormalHedgeDT),
    "optimistic-hedge": (hedgers.OptimisticHedge(0.1), oracles.OptimisticHedge),
    "regret-matching": (hedgers.RegretMatching(), oracles.RegretMatching),
    "rm-plus": (hedgers.RegretMatchingPlus(), oracles.RegretMatchingPlus),
    "squint": (hedgers.Squint(), oracles.SquintClosed),
    "squint-common": (hedgers.SquintCommon(), oracles.SquintCommon),
    "uniform": (hedgers.Uniform(), oracles.Uniform),
    "variable-share": (hedgers.VariableShare(0.1, 0.01), oracles.VariableShare),
}

WITH_SCIPY = {"normal-hedge-2009", "normal-hedge-bh", "squint", "squint-common"}

CALLS = {"normal-hedge-2009": 100, "normal-hedge-bh": 100, "squint-common": 2}
"""How many rounds are timed at once, where the reference is slow."""


class OurGame:
    """A game of ours, round by round on the rows of an array."""

    def __init__(self, hedger: CompiledHedger, gains: Floats, *, in_place: bool) -> None:
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

    def __init__(self, oracle: oracles.Oracle, losses: Floats, *, checked: bool = False) -> None:
        self.oracle, self.losses, self.checked = oracle, losses, checked
        self.round = 0

    def __call__(self) -> None:
        """Play a round."""
        row = self.losses[self.round % len(self.losses)]
        if self.checked and not (np.abs(row - 0.5) <= 0.5).all():
            raise ValueError("losses must be in [0, 1]")
        self.oracle.update(row, float(self.oracle.weights() @ row))
        self.round += 1


def rows() -> Iterator[Row]:
    """Yield the table of the family: a round by `step`, and a round of many by `run`.

    The references change themselves, as a step in place does; and they check nothing, as we do,
    unless that is said.
    """
    gains = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (200, EXPERTS))
    losses = (1.0 - gains) / 2.0
    for name, (hedger, oracle) in PAIRS.items():
        reference = "NumPy, SciPy" if name in WITH_SCIPY else "NumPy"
        theirs = NumpyGame(oracle(EXPERTS), losses)
        calls = CALLS.get(name, 200)
        for work, in_place, checked in (
            ("step", False, False),
            ("step", False, True),
            ("step, in place", True, False),
        ):
            ours = OurGame(hedger, gains, in_place=in_place)
            other = NumpyGame(oracle(EXPERTS), losses, checked=checked)
            beside = reference + ", checked" * checked
            what = f"{name}, {work}"
            yield measure(what, ours, (beside, other), ">= 4x", calls=calls, repeats=9)
        many = measure(
            f"{name}, a round of run",
            partial(hedger.run, gains),
            (reference, theirs),
            ">= 4x",
            reference_calls=calls,
            repeats=9,
        )
        yield many._replace(seconds=many.seconds / len(gains))


if __name__ == "__main__":
    print(HEADER)
    for line in rows():
        print(line, flush=True)
