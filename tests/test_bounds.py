"""What is promised, attacked."""

import math

import numpy as np
import pytest

from normalhedge import Hedge, NormalHedge, State
from normalhedge.certificates import hedge_bound, theorem_1
from tests import adversaries
from tests.adversaries import alternate_then_break_away

ALPHA, N = 0.001, 1000
SCALE = math.sqrt(ALPHA)


def test_the_numbers_of_theorem_1() -> None:
    bound = theorem_1(1e-4, 1000, 4.0)
    assert bound.regret * 0.01 == pytest.approx(7.874, abs=1e-3)
    assert theorem_1(1e-4, 1000, 4.0, quantile=0.5).regret * 0.01 == pytest.approx(
        math.sqrt(8 * math.log(4.64))
    )
    assert bound.potential == 2.32
    limit = 1 / (800 * math.log(2.32 * 1000))
    assert theorem_1(limit * 0.999, 1000, 4.0)
    assert not theorem_1(limit, 1000, 4.0)
    assert not theorem_1(1e-5, 1000, 2.0)
    assert theorem_1(1e-5, 1000, 2.0).regret == math.inf


@pytest.mark.parametrize("n", [2, 10, 100])
def test_theorem_1_under_alternate_then_break_away(n: int) -> None:
    alpha = 0.99 / (800 * math.log(2.32 * n))
    hedger = NormalHedge(alpha)
    bound = hedger.bound(n)
    run = hedger.run(alternate_then_break_away(n, alpha))
    assert math.exp(run.log_potential.max()) < bound.potential
    assert run.best_regret.max() < bound.regret
    assert run.state.quantile_regret(0.5) < hedger.bound(n, quantile=0.5).regret


@pytest.mark.parametrize("n", [2, 10, 100])
def test_theorem_1_under_coins_and_a_steady_winner(n: int) -> None:
    alpha = 0.99 / (800 * math.log(2.32 * n))
    hedger = NormalHedge(alpha)
    rng = np.random.default_rng(n)
    gains = rng.choice(np.array([-1, 1], dtype=np.int8), (20_000, n))
    gains[8000:, 0] = 1
    run = hedger.run(gains)
    assert math.exp(run.log_potential.max()) < 2.32
    assert run.best_regret.max() < hedger.bound(n).regret


@pytest.mark.parametrize("kind", adversaries.KINDS)
def test_the_bound_carries_over_to_confidences(kind: str) -> None:
    n, alpha = 20, 0.99 / (800 * math.log(2.32 * 20))
    hedger = NormalHedge.paper(alpha)
    highest = max(
        hedger.average_potential(state)
        for state in adversaries.states(hedger, kind, n, 4000, np.random.default_rng(0))
    )
    assert highest < 1.1  # far below the 2.32 of the theorem


def test_confidences_read_literally_would_diverge() -> None:
    """Under r_i = c_i g_i - g_A, the other reading, one loud loser makes all sleepers heroes."""
    n = 20
    gains, confidence = -np.ones(n), (np.arange(n) == 0).astype(float)
    hedger = NormalHedge(0.001)
    right = hedger.run(np.tile(gains, (5000, 1)), np.tile(confidence, (5000, 1)))
    assert right.log_potential.max() == 0.0
    regrets = np.zeros(n)
    for _ in range(5000):
        played = hedger.play(hedger.init(n)._replace(ledger=regrets[np.newaxis]), confidence)
        regrets = 0.999 * regrets + confidence * gains - played @ gains
    assert hedger.average_potential(hedger.init(n)._replace(ledger=regrets[np.newaxis])) > 1e12


def test_the_confidence_rated_increments_are_orthogonal_to_the_weights() -> None:
    hedger = NormalHedge(0.01, c=1.0)
    rng = np.random.default_rng(1)
    state = hedger.run(rng.uniform(-1, 1, (300, 8))).state
    gains, confidence = rng.uniform(-1, 1, 8), rng.random(8)
    after = hedger.step(state, gains, confidence)
    increments = after.regrets - 0.99 * state.regrets
    assert state.weights @ increments == pytest.approx(0.0, abs=1e-12)


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


def test_bounds_of_a_crowd_that_comes_and_goes() -> None:
    """Those that left count: their potential is not there to be averaged over any more."""
    alpha = 0.99 / (800 * math.log(2.32 * 40))
    hedger = NormalHedge(alpha)
    state = hedger.init(20)
    rng = np.random.default_rng(5)
    for t in range(6000):
        n = len(state.regrets)
        gains = rng.choice([-1.0, 1.0], n)
        gains[0] = 1.0
        state = hedger.step(state, gains)
        if t % 300 == 0:
            state = hedger.join(hedger.leave(state, np.argmin(state.regrets)), 1)
        assert state.best_regret < hedger.bound(state.joined).regret
    assert state.joined == 40


def test_a_report_does_not_promise_too_much_after_many_have_left() -> None:
    def at_its_worst(hedger: NormalHedge | Hedge, n: int) -> State:
        gains = alternate_then_break_away(n, hedger.alpha)
        worst = int(hedger.run(gains).best_regret.argmax()) + 1
        state: State = hedger.run(gains[:worst]).state
        return state

    derived = Hedge.derived(ALPHA, N)
    state = at_its_worst(derived, N)
    report = derived.report(derived.leave(state, np.arange(10, N)))
    assert report.quantile_regret <= report.quantile_bound.regret
    assert report.average_potential <= report.potential_limit
    alpha = 0.99 / (800 * math.log(2.32 * 100))
    hedger = NormalHedge(alpha)
    state = at_its_worst(hedger, 100)
    report = hedger.report(hedger.leave(state, np.arange(1, 100)), quantile=0.5)
    assert report.average_potential > 2.32
    assert report.average_potential <= report.potential_limit
    assert report.quantile_regret <= report.quantile_bound.regret


def test_a_quantile_is_at_least_one_expert() -> None:
    for hedger in (NormalHedge(1e-4), Hedge(1e-4, 0.1)):
        assert hedger.bound(10, quantile=0.001).regret == hedger.bound(10).regret
        assert hedger.bound(10, quantile=0.5).regret < hedger.bound(10).regret


def test_bounds_say_what_they_are() -> None:
    assert "1 expert " in theorem_1(0.5, 1, 4.0).source
    assert str(hedge_bound(0.1, 10, 1.0)).startswith("regret <= ")
    assert hedge_bound(0.1, 10, 1e-9).potential >= 1.0
    assert hedge_bound(1e-3, 10, 100.0).potential == math.inf
