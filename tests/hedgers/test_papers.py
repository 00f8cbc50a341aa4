"""Every hedger beside its paper, with and without a discount."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.checks import Game, games
from normalhedge.hedgers import CompiledHedger, Hedge
from tests import family_oracles, oracles
from tests.hedgers.examples import FAMILY, ON_POTENTIALS, coins, discounted, drawn_games, weigh_of


@pytest.mark.parametrize("name", FAMILY)
def test_each_is_its_paper(name: str) -> None:
    for gains, confidence in drawn_games():
        for rated in (None, confidence):
            oracle: family_oracles.Oracle = getattr(family_oracles, name)(gains.shape[1])
            played, last = family_oracles.fold(oracle, gains, rated)
            run = FAMILY[name].run(gains, rated, keep_weights=True)
            assert run.weights is not None
            np.testing.assert_allclose(run.weights, played, atol=1e-9)
            np.testing.assert_allclose(run.state.weights, last, atol=1e-9)
            earned = (played * gains).sum(axis=1)
            np.testing.assert_allclose(run.gains, earned, atol=1e-9)
            k = np.ones_like(gains) if rated is None else rated
            regrets = (k * (gains - earned[:, None])).sum(axis=0)
            np.testing.assert_allclose(run.state.regrets, regrets, atol=1e-9)


SCALE_FREE = (
    "AdaHedge",
    "AdaHedgeD",
    "DORM",
    "DORMPlus",
    "FlipFlop",
    "MLPolyOpera",
    "NormalHedge2009",
    "RegretMatching",
    "RegretMatchingPlus",
)


@pytest.mark.parametrize("name", SCALE_FREE)
def test_a_discount_is_a_scale_that_grows(name: str) -> None:
    """Free of scale: discounted on g is undiscounted on (1 - alpha)^-t g, whatever its range."""
    alpha = 0.1
    for gains, _ in drawn_games():
        growing = gains * (1 - alpha) ** -np.arange(len(gains))[:, None]
        played, last = family_oracles.fold(getattr(family_oracles, name)(gains.shape[1]), growing)
        run = discounted(FAMILY[name], alpha).run(gains, keep_weights=True)
        assert run.weights is not None
        np.testing.assert_allclose(run.weights, played, atol=1e-8)
        np.testing.assert_allclose(run.state.weights, last, atol=1e-8)


SUMS = (
    "AdaNormalHedge",
    "BatesGranger",
    "BOA",
    "MLPoly",
    "MLProd",
    "NormalHedgeBH",
    "NormalHedgeDT",
    "Squint",
    "SquintCommon",
)


@pytest.mark.parametrize("name", SUMS)
def test_a_discount_is_of_every_sum(name: str) -> None:
    """All that is summed up decays before a round is added, and so do logarithms of products."""
    alpha, gains = 0.1, np.random.default_rng(3).uniform(-1.0, 1.0, (60, 4))
    run = discounted(FAMILY[name], alpha).run(gains, keep_weights=True)
    oracle: Any = getattr(family_oracles, name)(4)
    assert run.weights is not None
    for row, played in zip((1 - gains) / 2, run.weights, strict=True):
        weights = oracle.weights()
        np.testing.assert_allclose(played, weights, rtol=1e-9, atol=1e-12)
        for sums in ("R", "V", "C", "S", "H", "T"):
            if hasattr(oracle, sums):
                setattr(oracle, sums, (1 - alpha) * getattr(oracle, sums))
        if hasattr(oracle, "w"):
            oracle.w = oracle.w ** (1 - alpha)
        if hasattr(oracle, "t"):  # the round that comes is in it already
            oracle.t = (1 - alpha) * oracle.t
        oracle.update(row, float(weights @ row))


def test_two_experts_in_closed_form() -> None:
    """One always gains 1 and the other -1: R_1 - R_2 = 2t for every algorithm."""
    gains = np.tile([1.0, -1.0], (30, 1))
    for t in range(1, 31):
        state = hedgers.OptimisticHedge(0.1).run(gains[:t]).state
        assert state.weights[0] == pytest.approx(1 / (1 + math.exp(-0.1 * 2 * (t + 1))))
        state = hedgers.DecreasingHedge().run(gains[:t]).state
        exponent = math.sqrt(math.log(2) / (t + 1)) * 2 * t
        assert state.weights[0] == pytest.approx(1 / (1 + math.exp(-exponent)))
    # AdaHedge loses one unit in the first round and then follows at eta = ln 2.
    state = hedgers.AdaHedge().run(gains[:1]).state
    assert state.totals[0] == pytest.approx(1.0)
    assert state.weights[0] == pytest.approx(1 / (1 + 2.0**-2))
    assert hedgers.RegretMatching().run(gains).state.regrets[0] == pytest.approx(1.0)


def decided_by_rounding(hedger: CompiledHedger, gains: Floats, rated: Floats | None) -> bool:
    """Say whether a regret is not zero but for rounding, in ours or in the oracle's game."""
    if isinstance(hedger, Hedge):
        return False
    state = hedger.init(gains.shape[1])
    for t in range(1, len(gains)):
        upto = None if rated is None else rated[:t]
        state = hedger.step(state, gains[t - 1], None if rated is None else rated[t - 1])
        theirs = oracles.fold(weigh_of(hedger), hedger.alpha, gains[:t], upto)[1]
        sizes = np.abs(np.concatenate([state.regrets, np.asarray(theirs)]))
        if ((sizes > 0.0) & (sizes < 1e-12)).any():
            return True
    return False


@pytest.mark.parametrize("hedger", ON_POTENTIALS, ids=repr)
@example(
    game=Game(
        np.array([[0.875] * 4, [-1.0, 0.875, 0.875, 0.875]]),
        np.array([[0.0, 1.0, 1.0, 1.0], [1.0] * 4]),
    )
)
@given(game=games())
def test_run_is_the_paper(hedger: CompiledHedger, game: Game) -> None:
    # Regrets of order 1e-17 are rounding, and would decide weights: the gains are on a grid, and
    # where there are such regrets on the way nothing is to be compared.
    gains, confidence = np.round(game.gains * 8) / 8, np.round(game.confidence * 4) / 4
    for rated in (None, confidence):
        assume(not decided_by_rounding(hedger, gains, rated))
        weights, regrets, earned = oracles.fold(weigh_of(hedger), hedger.alpha, gains, rated)
        run = hedger.run(gains, rated)
        np.testing.assert_allclose(run.gains, earned, atol=1e-9)
        np.testing.assert_allclose(run.state.regrets, regrets, atol=1e-9)
        if abs(max(regrets)) > 1e-12:
            np.testing.assert_allclose(run.state.weights, weights, atol=1e-6)


@pytest.mark.parametrize("hedger", ON_POTENTIALS, ids=repr)
def test_regrets_are_differences_of_discounted_gains(hedger: CompiledHedger) -> None:
    gains = coins(200, 5)
    run = hedger.run(gains)
    own = oracles.discounted_gains(hedger.alpha, run.gains)
    expected = oracles.discounted_gains(hedger.alpha, gains) - own
    np.testing.assert_allclose(run.state.regrets, expected, atol=1e-10)
