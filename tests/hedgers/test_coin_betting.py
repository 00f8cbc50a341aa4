"""Coin betting: shifts, the tuned bound, and the wealth of a gambler."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from normalhedge import hedgers
from tests import family_oracles as oracles
from tests.hedgers.examples import drawn_games
from tests.hedgers.natures import NATURES


@pytest.mark.parametrize("shift", [3.0, 20.0])
def test_shifted_coin_betting(shift: float) -> None:
    for gains, _ in drawn_games():
        played, _ = oracles.fold(oracles.CoinBetting(gains.shape[1], shift), gains)
        run = hedgers.CoinBetting(shift).run(gains, keep_weights=True)
        assert run.weights is not None
        np.testing.assert_allclose(run.weights, played, atol=1e-10)


def test_tuned_coin_betting_keeps_its_bound() -> None:
    hedger, n, rng = hedgers.CoinBetting.tuned(300), 8, np.random.default_rng(8)
    for nature in NATURES:
        state = hedger.init(n)
        for t in range(300):
            state = hedger.step(state, nature(state, t, rng))
        assert state.best_regret <= hedger.bound(n, 300).regret


def test_a_gambler_has_the_wealth_it_is_said_to_have() -> None:
    """With coins of +-1 the wealth is a ratio of Gamma functions of T and their sum."""
    for T in (1, 2, 10, 1000, 100_000):
        S = np.arange(-T, T + 1, 2 if T < 100 else T // 50 * 2, dtype=np.float64)
        wealth = (
            T * math.log(2)
            + gammaln((T + 1 + S) / 2)
            + gammaln((T + 1 - S) / 2)
            - math.log(math.pi)
            - gammaln(T + 1)
        )
        assert (wealth >= S**2 / (2 * T) - 1 - math.log(math.pi * T) / 2).all()
