"""The bounds of every hedger, attacked."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from normalhedge import guarantees, hedgers
from normalhedge.hedgers import CompiledHedger, State
from tests.hedgers.examples import BOUNDED, EVERYONE, FAMILY, discounted
from tests.hedgers.natures import ADAPTIVE, NATURES, Nature


@pytest.mark.parametrize("nature", NATURES, ids=lambda nature: nature.__name__)
@pytest.mark.parametrize("hedger", EVERYONE, ids=repr)
def test_bounds_hold(hedger: CompiledHedger, nature: Nature) -> None:
    for n, rated in ((2, False), (8, True)):
        rng = np.random.default_rng(7)
        state = hedger.init(n)
        for t in range(300):
            confidence = rng.random(n) * (rng.random(n) < 0.8) if rated else None
            state = hedger.step(state, nature(state, t, rng), confidence)
            if t % 7 == 0 or t > 290:
                assert np.all(state.regrets <= hedger.bounds(state) + 1e-9)
                for quantile in (None, 0.25):
                    limit = hedger.bound(n, state.rounds, quantile).regret
                    assert state.quantile_regret(quantile or 1 / n) <= limit + 1e-9


NEVER_BOUNDED = {"BatesGranger", "FollowTheLeader", "MLPolyOpera", "Uniform", "VariableShare"}


def test_bounds_are_there_where_they_are_promised() -> None:
    for name, hedger in FAMILY.items():
        bound = hedger.bound(10, 1000)
        assert isinstance(bound, guarantees.Bound)
        assert bool(bound) == (name not in NEVER_BOUNDED)
    blackwell = ("RegretMatching", "RegretMatchingPlus", "DORM", "DORMPlus")
    for name in ("AdaHedge", "AdaHedgeD", "FlipFlop", "DecreasingHedge", *blackwell):
        forever = discounted(FAMILY[name], 0.01)
        assert forever.bound(10, 10**9).regret < 400
        assert forever.bound(10, 10**9).regret == pytest.approx(forever.bound(10, 10**4).regret)
    forgetful = ("AdaNormalHedge", "BOA", "MLPoly", "MLProd", "NormalHedgeBH", "NormalHedgeDT")
    for name in (*forgetful, "Squint", "SquintCommon"):
        assert "no theorem" in str(discounted(FAMILY[name], 0.01).bound(10, 1000))
    assert hedgers.CoinBetting.tuned(1000).bound(10, 1000).regret == pytest.approx(
        2 * math.sqrt(3000 * (3 + math.log(10)))
    )
    assert not hedgers.CoinBetting(7.0).bound(10, 1000)


FORGETFUL: list[CompiledHedger] = [
    hedgers.AdaHedge(),
    hedgers.AdaHedgeD(2, 0.5),
    hedgers.DecreasingHedge(),
    hedgers.DORM(2, 0.5),
    hedgers.DORMPlus(2, 0.5),
    hedgers.FlipFlop(),
    hedgers.RegretMatching(),
    hedgers.RegretMatchingPlus(),
]


@pytest.mark.parametrize("hedger", FORGETFUL, ids=repr)
def test_the_smallest_discounts(hedger: Any) -> None:
    for alpha in (5e-324, 1e-300, 1e-17, 1e-16, 1e-12):
        faint: CompiledHedger = dataclasses.replace(hedger, alpha=alpha)
        assert faint.effective_rounds(1000) == pytest.approx(1000)
        assert faint.bound(3, 1000).regret == pytest.approx(hedger.bound(3, 1000).regret)
        assert np.isfinite(faint.bounds(faint.run(np.eye(3)).state)).all()
    half: CompiledHedger = dataclasses.replace(hedger, alpha=0.5)
    assert half.effective_rounds(3) == pytest.approx(1 + 0.25 + 0.0625)


def test_no_theorem_is_named_where_none_is() -> None:
    families = (hedgers.AdaNormalHedge, hedgers.BOA, hedgers.CoinBetting, hedgers.MLPoly)
    others = (hedgers.MLProd, hedgers.NormalHedge2009, hedgers.NormalHedgeDT, hedgers.Squint)
    successors = (hedgers.NormalHedgeBH, hedgers.SquintCommon)
    for make in (*families, *others, *successors):
        assert "no theorem" in str(make(alpha=0.1).bound(5, 100))
    for hedger in (hedgers.OptimisticHedge(0.5, 0.1), hedgers.FixedShare(0.5, 0.1, 0.1)):
        assert "no theorem" in str(hedger.bound(5, 100))


MOVES: list[tuple[list[float], list[float]]] = [
    ([1.0, -1.0], [1.0, 1.0]),
    ([-1.0, 1.0], [1.0, 1.0]),
    ([1.0, -1.0], [0.3, 1.0]),
    ([-1.0, 1.0], [0.0, 1.0]),
]


@pytest.mark.parametrize("name", BOUNDED)
def test_no_short_game_breaks_a_bound(name: str) -> None:
    hedger = BOUNDED[name]

    def search(state: State, depth: int) -> None:
        if state.rounds:
            assert (state.regrets <= hedger.bounds(state) + 1e-9).all()
        if depth:
            for gains, confidence in MOVES:
                search(hedger.step(state, gains, confidence), depth - 1)

    search(hedger.init(2), 5)


@pytest.mark.parametrize("nature", ADAPTIVE, ids=lambda nature: nature.__name__)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_long_game_breaks_a_bound(name: str, nature: Nature) -> None:
    hedger = BOUNDED[name]
    for n in (2, 10):
        state, rng = hedger.init(n), np.random.default_rng(0)
        for t in range(2000):
            state = hedger.step(state, nature(state, t, rng))
            if t % 50 == 0 or t % 500 > 490:
                assert (state.regrets <= hedger.bounds(state) + 1e-9).all()
