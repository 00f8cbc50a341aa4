"""Hedgers, games and other helpers for the tests of hedgers."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge, hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedge
from tests import oracles

FAMILY: dict[str, CompiledHedger] = {
    "AdaHedge": hedgers.AdaHedge(),
    "AdaHedgeD": hedgers.AdaHedgeD(hint=1.0),
    "AdaNormalHedge": hedgers.AdaNormalHedge(),
    "BatesGranger": hedgers.BatesGranger(),
    "BOA": hedgers.BOA(),
    "CoinBetting": hedgers.CoinBetting(),
    "DecreasingHedge": hedgers.DecreasingHedge(),
    "DORM": hedgers.DORM(hint=1.0),
    "DORMPlus": hedgers.DORMPlus(hint=1.0),
    "FixedShare": hedgers.FixedShare(eta=1.0, share=0.1),
    "FlipFlop": hedgers.FlipFlop(),
    "FollowTheLeader": hedgers.FollowTheLeader(),
    "MLPoly": hedgers.MLPoly(),
    "MLPolyOpera": hedgers.MLPolyOpera(),
    "MLProd": hedgers.MLProd(),
    "NormalHedge2009": hedgers.NormalHedge2009(),
    "NormalHedgeBH": hedgers.NormalHedgeBH(),
    "NormalHedgeDT": hedgers.NormalHedgeDT(),
    "OptimisticHedge": hedgers.OptimisticHedge(eta=0.5),
    "RegretMatching": hedgers.RegretMatching(),
    "RegretMatchingPlus": hedgers.RegretMatchingPlus(),
    "Squint": hedgers.Squint(),
    "SquintCommon": hedgers.SquintCommon(),
    "Uniform": hedgers.Uniform(),
    "VariableShare": hedgers.VariableShare(eta=1.0, share=0.1),
}


def discounted(hedger: Any, alpha: float) -> CompiledHedger:
    """Return a hedger that forgets."""
    changed: CompiledHedger = dataclasses.replace(hedger, alpha=alpha)
    return changed


LATE: list[CompiledHedger] = [
    kind(delay, hint)
    for kind in (hedgers.AdaHedgeD, hedgers.DORM, hedgers.DORMPlus)
    for delay, hint in ((1, 1.0), (4, 0.0))
]
"""Those that know how late outcomes come."""

LATE_NORMAL: list[CompiledHedger] = [
    NormalHedge(0.05, delay=1),
    NormalHedge(0.02, delay=2),
    NormalHedge(0.3, c=0.6, delay=2),
]

WITH_LATE = [*FAMILY.values(), *LATE]

EVERYONE = [*WITH_LATE, *(discounted(hedger, 0.2) for hedger in WITH_LATE), *LATE_NORMAL]


each = pytest.mark.parametrize("hedger", FAMILY.values(), ids=FAMILY.keys())


def drawn_games() -> Iterator[tuple[Floats, Floats]]:
    """Yield gains and confidences; the first expert is better, and never asleep."""
    rng = np.random.default_rng(1)
    for rounds, n in ((40, 2), (60, 5), (25, 17)):
        gains = rng.uniform(-1, 1, (rounds, n))
        gains[::3] = rng.choice([-1.0, 1.0], gains[::3].shape)
        gains[:, 0] = np.clip(gains[:, 0] + 0.3, -1, 1)
        confidence = rng.random((rounds, n)) * (rng.random((rounds, n)) < 0.6)
        confidence[:, 0] = np.maximum(confidence[:, 0], 0.25)
        yield gains, confidence


UNBOUNDED = {"FollowTheLeader", "Uniform", "VariableShare"}

BOUNDED = {name: hedger for name, hedger in FAMILY.items() if name not in UNBOUNDED}

ON_POTENTIALS: list[CompiledHedger] = [
    NormalHedge(0.05),
    NormalHedge(0.3, c=0.6),
    NormalHedge(0.9, c=1.0),
    Hedge(0.05, eta=0.3),
    Hedge(0.5, eta=20.0),
]


def weigh_of(hedger: CompiledHedger) -> oracles.Weigh:
    """Return the oracle for the weights of NormalHedge or Hedge."""
    if isinstance(hedger, NormalHedge):
        return functools.partial(oracles.normal_weights, alpha=hedger.alpha, c=hedger.c)
    assert isinstance(hedger, Hedge)
    return functools.partial(oracles.hedge_weights, eta=hedger.eta)


def coins(rounds: int, n: int, seed: int = 0) -> np.ndarray:
    """Return gains of +-1."""
    return np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (rounds, n))
