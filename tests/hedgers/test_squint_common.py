"""Squint of one clock: the equation of the clock, its potential and its bound, attacked."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import State
from tests.hedgers.natures import ADAPTIVE, NATURES, Nature, greedy

NODES, SHARES = np.polynomial.legendre.leggauss(300)
ETA = ((NODES + 1) / 4)[:, None]


def log_slope(S: float, V: float) -> float:
    """Return ln of the integral of eta exp(eta S - eta^2 V) over [0, 1/2], by quadrature."""
    peak = min((S + math.sqrt(S * S + 8 * V)) / (4 * V), 0.5)
    top = peak * S - peak**2 * V
    width = min(0.5, 12 / math.sqrt(V), 60 / max(abs(S - 2 * peak * V), 1e-9))
    edges = sorted({0.0, max(peak - width, 0.0), peak, min(peak + width, 0.5)})
    value = sum(
        integrate.quad(
            lambda eta: eta * math.exp(eta * S - eta**2 * V - top),
            a,
            b,
            epsabs=0,
            epsrel=1e-12,
            limit=200,
        )[0]
        for a, b in itertools.pairwise(edges)
    )
    return top + math.log(value)


@pytest.mark.parametrize(
    "S", [-3000.0, -300.0, -9.0, -4.0, -1.0, 0.0, 0.5, 3.9, 4.1, 20.0, 300.0, 3000.0]
)
@pytest.mark.parametrize("V", [1e-3, 1.0, 3.99, 4.01, 30.0, 1e3, 1e5])
def test_the_step_of_the_clock(S: float, V: float) -> None:
    """Two experts, one of them even with the hedger, from any state."""
    hedger = hedgers.SquintCommon()
    for gains, confidence in (([1.0, -1.0], [1.0, 1.0]), ([-1.0, 1.0], [0.3, 1.0])):
        state = hedger.init(2)._replace(totals=np.array([V]))
        state = hedger.reweigh(state, np.array([[2 * S, 0.0]]))
        after = hedger.step(state, gains, confidence)
        S_after = after.regrets / 2
        squares = (S_after - state.regrets / 2) ** 2

        def missing(v: float, S_after: Floats = S_after, squares: Floats = squares) -> float:
            one, other = (log_slope(S, V + v) for S in S_after)
            q = 1 / (1 + math.exp(min(other - one, 700.0)))
            return float(q * squares[0] + (1 - q) * squares[1] - v)

        low, high = squares.min(), squares.max()
        ends = [v for v in (low, high) if missing(v) == 0.0]  # all of q is of one expert
        v = ends[0] if ends else optimize.brentq(missing, low, high, rtol=1e-14)
        # What a clock of 1e5 can tell apart, and what rises of 3000 - 2999 can.
        assert after.totals[0] - V == pytest.approx(v, rel=1e-9, abs=1e-12 * (V + abs(S)))


def log_potential_below_zero(state: State) -> bool:
    exponent = ETA * state.regrets / 2 - ETA**2 * state.totals[0]
    return bool((SHARES @ (np.expm1(exponent) / ETA)).sum() <= 1e-9)


@pytest.mark.parametrize("nature", [*NATURES, *ADAPTIVE], ids=lambda nature: nature.__name__)
def test_every_round_keeps_the_potential(nature: Nature) -> None:
    hedger = hedgers.SquintCommon()
    for n, rated in ((2, False), (9, True), (100, False)):
        state, rng = hedger.init(n), np.random.default_rng(3)
        for t in range(300):
            confidence = rng.random(n) * (rng.random(n) < 0.8) if rated else None
            before, state = state, hedger.step(state, nature(state, t, rng), confidence)
            assert log_potential_below_zero(state)
            squares = (state.regrets - before.regrets) ** 2 / 4
            rise = state.totals[0] - before.totals[0]
            assert squares.min() - 1e-9 <= rise <= squares.max() + 1e-9
        assert state.totals[0] <= state.rounds


def test_a_slower_clock_would_not_keep_it() -> None:
    """Half of each step, and the potential is above zero."""
    hedger, rng = hedgers.SquintCommon(), np.random.default_rng(0)
    state, kept = hedger.init(6), True
    for _ in range(100):
        after = hedger.step(state, rng.choice([-1.0, 1.0], 6))
        slower = (state.totals + after.totals) / 2
        state = hedger.reweigh(after._replace(totals=slower), after.ledger)
        kept &= log_potential_below_zero(state)
    assert not kept


def test_a_greedy_nature() -> None:
    hedger = hedgers.SquintCommon()

    def near_the_bound(state: State) -> float:
        return float(np.max(state.regrets / hedger.bounds(state)))

    for goal in (near_the_bound, lambda state: state.best_regret):
        for n in (2, 12):
            state = hedger.init(n)
            for _ in range(300):
                state = hedger.step(state, greedy(hedger, goal, state))
                assert log_potential_below_zero(state)
                assert near_the_bound(state) <= 1.0


def test_with_equal_squares_it_is_squint() -> None:
    """Halves that take turns: every rho is 1/2 or -1/2, in both halves."""
    gains = np.where(np.arange(6) % 2 == np.arange(40)[:, None] % 2, 1.0, -1.0)
    ours, squint = hedgers.SquintCommon(), hedgers.Squint()
    state, other = ours.init(6), squint.init(6)
    for row in gains:
        squares = (row - other.weights @ row) ** 2
        if np.ptp(squares) > 1e-12:
            break
        state, other = ours.step(state, row), squint.step(other, row)
        np.testing.assert_allclose(state.weights, other.weights, atol=1e-12)
    assert state.rounds >= 1


def test_the_clock_stands_still_while_one_expert_is_ahead() -> None:
    gains = -np.ones((20_000, 5))
    gains[:, 0] = 1.0
    ours, squint = (
        hedger.run(gains).state for hedger in (hedgers.SquintCommon(), hedgers.Squint())
    )
    assert ours.totals[0] < 10.0
    assert squint.ledger[1, 1] > 19_000.0  # of an expert that always loses
    assert hedgers.SquintCommon().bounds(ours)[0] < 200.0
