"""Hedge: its rates, and its bound under attack."""

import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Hedge
from tests.adversaries import alternate_then_break_away


def test_rates_of_hedge() -> None:
    alpha, log_n = 0.001, math.log(1000)
    assert Hedge.simulated(alpha, 1000).eta == pytest.approx(math.sqrt(0.0009995 * log_n))
    assert Hedge.derived(alpha, 1000).eta == pytest.approx(2 * Hedge.simulated(alpha, 1000).eta)
    assert Hedge.corrected(alpha, 1000).eta == pytest.approx(math.sqrt(2 * 0.000999 * log_n))
    assert Hedge.corrected(alpha, 1).eta > 0


def test_the_corrected_rate_has_the_least_bound() -> None:
    best = Hedge.corrected(0.01, 50)
    assert best.bound(50).regret == pytest.approx(math.sqrt(2 * math.log(50) / (0.01 * 0.99)))
    for factor in (0.9, 1.1):
        assert Hedge(0.01, best.eta * factor).bound(50).regret > best.bound(50).regret


ALPHA, N = 0.001, 1000


SCALE = math.sqrt(ALPHA)


def test_the_attack_of_the_errata() -> None:
    gains = alternate_then_break_away(N, ALPHA)
    claimed = math.sqrt(math.log(N) / (ALPHA - ALPHA**2 / 2)) * SCALE
    derived = Hedge.derived(ALPHA, N)
    reached = derived.run(gains).best_regret.max() * SCALE
    assert claimed == pytest.approx(2.63, abs=0.005)
    assert reached == pytest.approx(3.87, abs=0.005)
    assert derived.bound(N).regret * SCALE == pytest.approx(3.94, abs=0.005)
    run = NormalHedge(ALPHA, c=1.0).run(gains)
    assert run.best_regret.max() * SCALE == pytest.approx(3.55, abs=0.005)
    assert math.exp(run.log_potential.max()) == pytest.approx(1.6492, abs=5e-5)


@pytest.mark.parametrize("choose", [Hedge.simulated, Hedge.derived, Hedge.corrected])
@pytest.mark.parametrize(("alpha", "n"), [(0.001, 100), (0.01, 10), (0.3, 5)])
def test_hedge_keeps_its_true_bound(choose: type[Hedge], alpha: float, n: int) -> None:
    hedger: Hedge = choose(alpha, n)
    coins = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (5000, n))
    for gains in (alternate_then_break_away(n, alpha), coins):
        run = hedger.run(gains)
        assert run.best_regret.max() <= hedger.bound(n).regret
        assert run.state.quantile_regret(0.5) <= hedger.bound(n, quantile=0.5).regret
        assert run.log_potential.max() <= math.log(hedger.bound(n).potential) + 1e-9
