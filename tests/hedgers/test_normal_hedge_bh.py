"""NormalHedge.BH: its equation, the steps of its time, and its bound, attacked."""

import math

import numpy as np
import pytest

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import State
from normalhedge.hedgers._normal_potentials import latest_start
from tests.hedgers.natures import ADAPTIVE, NATURES, Nature, greedy

STARTS = (0.05, 1.0, 60.0)


def potential(S: Floats, t: Floats | float) -> Floats:
    return np.asarray(np.exp(np.maximum(S, 0.0) ** 2 / (2 * t)) / np.sqrt(t))


def test_the_potential_obeys_the_backwards_heat_equation() -> None:
    S, t, h = np.linspace(0.5, 3.0, 20), 2.0, 1e-3
    by_time = (potential(S, t + h) - potential(S, t - h)) / (2 * h)
    bend = (potential(S + h, t) - 2 * potential(S, t) + potential(S - h, t)) / h**2
    np.testing.assert_allclose(by_time, -bend / 2, rtol=1e-5)


@pytest.mark.parametrize("start", STARTS)
def test_the_sum_of_the_potentials_is_constant(start: float) -> None:
    hedger, rng = hedgers.NormalHedgeBH(start=start), np.random.default_rng(5)
    for n in (1, 2, 3, 100, 5000):
        assert hedger.time(hedger.init(n)) == start
        state = hedger.init(n)
        for _ in range(40):
            before = hedger.time(state)
            state = hedger.step(state, rng.choice([-1.0, 1.0], n))
            time = hedger.time(state)
            assert np.mean(potential(state.regrets / 2, time)) == pytest.approx(start**-0.5)
            assert time >= before * (1 - 1e-12)


def test_far_ahead() -> None:
    """The root is found where a Newton step goes 1 of ln 1e25, and from far on its wrong side."""
    hedger = hedgers.NormalHedgeBH()
    state = hedger.init(3)
    for lead in (1e-7, 1e-3, 1.0, 1e12, 1e3, 1e-9, 1e6):
        state = hedger.reweigh(state, np.array([[lead, lead / 2, -1.0]]))
        time = hedger.time(state)
        log_potential = np.maximum(state.regrets, 0.0) ** 2 / (8 * time) - math.log(time) / 2
        assert np.logaddexp.reduce(log_potential) == pytest.approx(math.log(3.0), abs=1e-9)


FACTORS = np.array([1.01, 1.1, 1.5, 2.0, 4.0, 10.0])


def steepest(factor: float) -> float:
    """Return the largest ``|rho| [S]+ / t`` for which the theorem about a step is proved."""
    return (math.sqrt(factor) - 1) / factor


def room(z: Floats | float, d: Floats, factor: float) -> Floats:
    """Return ln(1 + z) less the rise of the log potential: the inequality that a step rests on.

    ``z = rho S / t``, and the step of the time is ``d t = factor rho^2``.
    """
    rise = (2 * z + d / factor - factor * z**2) / (2 * (1 + d))
    return np.asarray(np.log1p(z) + np.log1p(d) / 2 - rise)


@pytest.mark.parametrize("factor", FACTORS)
def test_the_inequality_of_a_step(factor: float) -> None:
    most = steepest(factor)
    d = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 4001)])
    assert room(np.linspace(-most, most, 4001)[:, None], d, factor).min() >= 0.0
    if factor <= 4.0:
        assert room(-3.0 * most, d, factor).min() < 0.0  # it is not for all z


def moment(state: State, after: State, time: float) -> float:
    """Return the second moment of the regrets of those ahead, under the potential's derivative."""
    S, S_after = state.regrets / 2, after.regrets / 2
    rho = np.where(S > 0.0, S_after - S, np.maximum(S_after, 0.0))
    x = np.maximum(S_after, 0.0) ** 2 / time
    q = np.exp((x - x.max()) / 2) * (1 + x)
    return float(q @ rho**2 / q.sum())


def check_step(hedger: hedgers.NormalHedgeBH, state: State, after: State) -> float:
    """Check the step of the time in a round, and return the second moment."""
    t, t_after = hedger.time(state), hedger.time(after)
    second = moment(state, after, t_after)
    S = state.regrets / 2
    assert t_after - t <= (1 + math.sqrt(t)) * (1 + 1e-9)
    steep = np.max(np.maximum(S, 0.0) * np.abs(after.regrets / 2 - S)) / t
    for factor in FACTORS:
        if steep <= steepest(factor):
            assert t_after - t <= factor * second + 1e-9 * t
    return second


def check_time(hedger: hedgers.NormalHedgeBH, state: State, seen: float) -> None:
    limits = latest_start(len(state.weights), hedger.start, FACTORS) + FACTORS * seen
    assert hedger.time(state) <= limits.min() * (1 + 1e-9)


@pytest.mark.parametrize("nature", [*NATURES, *ADAPTIVE], ids=lambda nature: nature.__name__)
@pytest.mark.parametrize("start", STARTS)
def test_steps_of_the_time(nature: Nature, start: float) -> None:
    hedger = hedgers.NormalHedgeBH(start=start)
    for n, rated in ((2, False), (9, True), (200, False)):
        state, rng, seen = hedger.init(n), np.random.default_rng(3), 0.0
        for t in range(400):
            confidence = rng.random(n) * (rng.random(n) < 0.8) if rated else None
            after = hedger.step(state, nature(state, t, rng), confidence)
            seen += check_step(hedger, state, after)
            state = after
            check_time(hedger, state, seen)
        assert seen <= 400


@pytest.mark.parametrize("start", STARTS)
def test_a_greedy_nature(start: float) -> None:
    hedger = hedgers.NormalHedgeBH(start=start)
    for goal in (hedger.time, lambda state: state.best_regret):
        for n in (2, 12):
            state, seen = hedger.init(n), 0.0
            for _ in range(300):
                after = hedger.step(state, greedy(hedger, goal, state))
                seen += check_step(hedger, state, after)
                state = after
                assert state.best_regret <= hedger.bound(n, state.rounds).regret
                check_time(hedger, state, seen)


def test_a_small_start_needs_a_condition() -> None:
    """Where the leader always loses, ``t_0 + 2 V`` is not enough for the time."""
    hedger = hedgers.NormalHedgeBH(start=0.1)
    state, seen, steepest_step = hedger.init(100), 0.0, 0.0
    for _ in range(291):
        gains = np.ones(100)
        gains[state.regrets.argmax()] = -1.0
        after = hedger.step(state, gains)
        second = check_step(hedger, state, after)
        steepest_step = max(steepest_step, (hedger.time(after) - hedger.time(state)) / second)
        state, seen = after, seen + second
    assert hedger.time(state) > 0.1 + 2.6 * seen
    assert steepest_step > 4.7
    check_time(hedger, state, seen)


def test_other_weights_break_the_law_of_steps() -> None:
    """Where the leader is followed, the time runs faster than the second moments of the regrets."""
    ours, played = hedgers.NormalHedgeBH(start=60.0), hedgers.FollowTheLeader()
    state, told = played.init(4), ours.init(4)
    for _ in range(40):
        gains = np.where(np.arange(4) == state.regrets.argmax(), -1.0, 1.0)
        state, before = played.step(state, gains), told
        told = ours.reweigh(told, state.ledger.copy())
    with pytest.raises(AssertionError):
        check_step(ours, before, told)


def test_the_time_stands_still_while_one_expert_is_ahead() -> None:
    hedger = hedgers.NormalHedgeBH()
    gains = -np.ones((100_000, 10))
    gains[:, 0] = 1.0
    state = hedger.run(gains).state
    assert hedger.time(state) < 1.1
    assert hedger.bounds(state)[0] < 4.0


def test_the_promise_of_the_time_is_met() -> None:
    """The bound on a regret, at some time, is reached where all the potential is of one expert."""
    hedger = hedgers.NormalHedgeBH(start=2.0)
    state = hedger.reweigh(hedger.init(7), np.array([[20.0] + [0.0] * 6]))
    assert hedger._a_posteriori(state)[0] == pytest.approx(20.0)


def test_latest_start() -> None:
    for n in (1, 2, 10, 10**6):
        for start in (1e-100, 1e-3, 1.0, 100.0, 1e5, 1e100):
            for factor, time in zip(FACTORS, latest_start(n, start, FACTORS), strict=True):
                later = np.geomspace(start, 1e6 * (time + 1), 2001)
                leading = 2 * later * np.log1p(n * (np.sqrt(later / start) - 1))  # S^2 at most
                unsteady = later[leading > (steepest(factor) * later) ** 2]
                assert not unsteady.size or unsteady.max() <= time


def test_bad_starts() -> None:
    for start in (0.0, -1.0, math.nan, math.inf, 1e-200):
        with pytest.raises(ValueError, match="start must be in"):
            hedgers.NormalHedgeBH(start=start)
