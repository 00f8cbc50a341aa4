"""Attacks on the promises of the family, each of which once broke one or comes near to it."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.special import gammaln

from normalhedge import hedgers
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger, State
from tests.test_family import FAMILY

# FlipFlop: spells of hedging that end with one expert far ahead, and of following that end in ties.


def _flip_flop_is_led_about(hedger: hedgers.FlipFlop, n: int, rounds: int) -> float:
    """Play against FlipFlop; return its largest regret over Delta_flip + 2 Delta_flop."""
    state, worst = hedger.init(n), 0.0
    for _ in range(rounds):
        flopped, flip, flop = state.totals
        regrets = state.regrets
        leads = regrets.argmax()
        gains = np.ones(n)
        gains[leads] = -1.0  # towards a tie, and across
        ending = flopped and flop > 0.9 * hedger.balance * flip
        if ending and math.log(n) / flop * (regrets.max() - regrets.min()) < 3.5:
            gains = -gains  # let one get ahead before the spell ends
        state = hedger.step(state, gains)
        assert state.best_regret <= hedger.bounds(state)[0]
        worst = max(worst, state.best_regret / (state.totals[1] + 2.0 * state.totals[2]))
    assert state.best_regret <= hedger.bound(n, rounds).regret
    return worst


@pytest.mark.parametrize(("n", "alpha"), [(2, 0.0), (10, 0.0), (10, 1e-4), (100, 0.003)])
def test_flip_flop_pays_for_every_spell(n: int, alpha: float) -> None:
    """Without the term for spells that ended the bound would be false."""
    worst = _flip_flop_is_led_about(hedgers.FlipFlop(alpha), n, 6000)
    assert worst > 1.02 or alpha == 0.003  # few spells fit into so short a memory


def test_flip_flop_beside_its_paper() -> None:
    hedger, n, rounds = hedgers.FlipFlop(), 10, 1000
    most = math.sqrt(rounds * math.log(n)) + 2 * (2 / 3 * math.log(n) + 1)
    assert hedger.bound(n, rounds).regret == pytest.approx(5.64 * most + 2, rel=1e-3)
    assert hedger.bound(1, rounds).regret == 0.0


@pytest.mark.parametrize("ahead", [0.0, 0.05, 0.2, 0.5])
def test_flip_flop_beside_follow_the_leader(ahead: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        gains = rng.choice([-1.0, 1.0], (400, 2 + seed % 5))
        gains[:, 0] = np.where(rng.random(400) < 0.5 + ahead, 1.0, -1.0)
        followed = hedgers.FollowTheLeader().run(gains).state.best_regret
        assert hedgers.FlipFlop().run(gains).state.best_regret <= 5.64 * followed + 6.0


# AdaHedge: a rate so high that the exponents differ by less than their rounding


def test_mixability_gap_at_any_rate() -> None:
    """At an infinite rate the gap is what the leader gains on the hedger."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = rng.dirichlet(np.ones(3))
        gains = rng.uniform(-1.0, 1.0, 3)
        level = float(weights @ gains)
        for exponent in (16, 19, 20, 25, 40, 150, 280):
            eta = 10.0**exponent
            before = math.log(3) / eta
            state = State(weights, [np.log(weights) / eta], [before], 1, 3, 0.0)
            found = hedgers.AdaHedge().step(state, gains).totals[0] - before
            assert found == pytest.approx(gains.max() - level, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-17, 1e-20, 1e-150, 1e-280])
def test_ada_hedge_when_gains_become_large(scale: float) -> None:
    """A rate learnt from tiny gains falls in the first round of large ones."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for hedger in (hedgers.AdaHedge(), hedgers.FlipFlop()):
            state = hedger.run(scale * rng.choice([-1.0, 0.0, 1.0], (20, 2))).state
            for _ in range(5):
                state = hedger.step(state, rng.choice([-1.0, 1.0], 2))
                assert state.best_regret <= hedger.bounds(state)[0] + 1e-9


# Discounts so small that 1 - alpha is 1

FORGETFUL: list[CompiledHedger] = [
    hedgers.AdaHedge(),
    hedgers.DecreasingHedge(),
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


# What is promised of those that are there


def test_leaving_does_not_lower_what_others_are_promised() -> None:
    hedger = hedgers.AdaNormalHedge()
    gains = np.tile([1.0, -1.0, 1.0, -1.0], (500, 1))
    awake = np.ones((500, 4))
    awake[1:, 3] = 0.0  # a young clock
    state = hedger.run(gains, awake).state
    before, after = hedger.bounds(state), hedger.bounds(hedger.leave(state, [0, 1, 2]))
    assert after[0] >= before[3]


def test_clipped_regrets_bound_regrets_in_spite_of_rounding() -> None:
    rng = np.random.default_rng(1)
    for alpha in (0.0, 0.003, 0.1):
        hedger = hedgers.RegretMatchingPlus(alpha)
        state = hedger.init(10)
        for _ in range(2000):
            gains = np.ones(10)
            gains[state.weights.argmax()] = rng.uniform(-1, 0)
            state = hedger.step(state, gains)
            assert (state.regrets <= hedger.bounds(state)).all()


def test_no_theorem_is_named_where_none_is() -> None:
    families = (hedgers.AdaNormalHedge, hedgers.BOA, hedgers.CoinBetting, hedgers.MLPoly)
    others = (hedgers.MLProd, hedgers.NormalHedge2009, hedgers.NormalHedgeDT, hedgers.Squint)
    for make in (*families, *others):
        assert "no theorem" in str(make(alpha=0.1).bound(5, 100))
    for hedger in (hedgers.OptimisticHedge(0.5, 0.1), hedgers.FixedShare(0.5, 0.1, 0.1)):
        assert "no theorem" in str(hedger.bound(5, 100))


def test_states_of_other_hedgers_are_refused() -> None:
    """The core would read and write beyond the ledger."""
    gains = np.zeros(3)
    for hedger in BOUNDED.values():
        for other in BOUNDED.values():
            state = other.init(3)
            if (len(state.ledger), len(state.totals)) == (
                hedger._engine.rows,
                hedger._engine.totals,
            ):
                continue
            for use in (
                lambda: hedger.step(state, gains),  # noqa: B023 -- used at once
                lambda: hedger.step(state, gains, in_place=True),  # noqa: B023
                lambda: hedger.run(gains[None], state=state),  # noqa: B023
                lambda: hedger.play(state),  # noqa: B023
                lambda: hedger.bounds(state),  # noqa: B023
                lambda: hedger.join(state),  # noqa: B023
                lambda: hedger.leave(state, 0),  # noqa: B023
            ):
                with pytest.raises(
                    ValueError, match=f"state must be one of {type(hedger).__name__}"
                ):
                    use()


@pytest.mark.parametrize("hedger", [hedgers.Squint(), hedgers.NormalHedge(0.1)], ids=repr)
def test_arrays_of_any_kind_are_read(hedger: Any) -> None:
    """What pandas and memory maps hand out: read-only, not aligned, not in rows, swapped bytes."""
    gains = np.eye(3)
    frozen = gains.copy()
    frozen.flags.writeable = False
    odd = np.frombuffer(b"x" + gains.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(3, 3)

    def use(table: Floats) -> list[Floats]:
        found = []
        for confidence in (None, table):
            state = hedger.run(table, confidence).state
            row = None if confidence is None else confidence[0]
            found.append(hedger.step(state, table[0], row).weights)
            found.append(hedger.step(state, table[0], row, in_place=True).weights)
        return found

    expected = use(gains)
    for other in (frozen, odd, gains.T, np.asfortranarray(gains), gains.astype(">f8"), gains == 1):
        if other.dtype == np.bool_:
            continue
        for one, two in zip(expected, use(other), strict=True):
            np.testing.assert_array_equal(one, two)


# Yardsticks


def test_follow_the_leader_can_be_led_astray() -> None:
    n, rounds, hedger = 5, 1000, hedgers.FollowTheLeader()
    state = hedger.run(np.linspace(0.0, 0.5, n)[None]).state  # no two are tied
    for _ in range(rounds):
        gains = np.ones(n)
        gains[state.weights.argmax()] = -1.0
        state = hedger.step(state, gains)
    assert state.best_regret == pytest.approx(2 * rounds * (n - 1) / n, rel=0.01)


# Squint: what its potential alone allows


def test_squint_bound_follows_from_its_potential() -> None:
    """The largest S that the kept potential leaves to an expert, all others as low as can be."""
    nodes, shares = np.polynomial.legendre.leggauss(400)
    u = (nodes + 1) / 2
    eta, width = u**4 / 2, 2 * u**3  # dense where eta is small

    def potential(regret: float, squares: float) -> float:
        exponent = np.minimum(eta * regret - eta**2 * squares, 700.0)
        return float(shares / 2 @ (width * np.expm1(exponent) / eta))

    for rounds in (1, 10, 1000, 100_000):
        for n in (2, 10, 1000):
            budget = -(n - 1) * potential(-rounds, rounds)
            for squares in {0.0, 1.0, rounds / 10, float(rounds)}:

                def spare(regret: float, squares: float = squares, budget: float = budget) -> float:
                    return potential(regret, squares) - budget

                most = rounds if spare(rounds) <= 0 else optimize.brentq(spare, -1.0, rounds)
                promised = hedgers.squint._improper(squares, rounds, 1 / n)
                assert 2 * most <= promised


# What the proofs of others rest on, round by round


def test_a_round_of_normal_hedge_dt_adds_little() -> None:
    """The average of the potential after +1 and after -1 exceeds that before by b / 2t at most."""

    def potential(S: Floats, t: float) -> Floats:
        return np.exp(np.maximum(S, 0.0) ** 2 / (3 * t))

    for t in (2, 3, 5, 10, 100, 10_000):
        S = np.linspace(-3.0, min(t - 1.0, math.sqrt(1500.0 * t)), 20_001)
        after = (potential(S + 1, t) + potential(S - 1, t)) / 2
        assert (after - potential(S, t - 1)).max() <= math.expm1(4 / 3) / (2 * t)


def test_a_round_of_ada_normal_hedge_adds_little() -> None:
    """Phi(S + r, C + |r|) <= Phi(S, C) + w r + 3 |r| / 2(C + 1)."""

    def potential(S: Floats, clock: Floats) -> Floats:
        return np.exp(np.maximum(S, 0.0) ** 2 / (3 * clock))

    r = np.linspace(-1.0, 1.0, 201)[None, :]
    for clock in (1e-6, 0.01, 0.3, 1.0, 3.0, 30.0, 1000.0):
        C = np.full((1, 1), clock)
        S = np.linspace(-min(clock, 3.0), min(clock, math.sqrt(900.0 * clock)), 501)[:, None]
        w = (potential(S + 1, C + 1) - potential(S - 1, C + 1)) / 2
        before = potential(S, C)
        more = potential(S + r, C + np.abs(r)) - before - w * r
        assert (more <= 1.5 * np.abs(r) / (C + 1) + 1e-12 * before).all()


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


# Every short game

UNBOUNDED = {"FollowTheLeader", "Uniform", "VariableShare"}
BOUNDED = {name: hedger for name, hedger in FAMILY.items() if name not in UNBOUNDED}

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


# Those that adapt to the weights: a half that is ahead loses; a leader is held at nearly all.

Nature = Callable[[State, int], Floats]


def _halves(state: State, _t: int) -> Floats:
    n = len(state.weights)
    order = np.argsort(np.argsort(-state.weights + 1e-12 * np.arange(n)))
    return np.where(order < n / 2, -1.0, 1.0)


def _held(state: State, t: int) -> Floats:
    gains = np.ones(len(state.weights))
    leads = state.regrets.argmax()
    gains[leads] = -1.0
    return -gains if t // 300 % 3 == 2 and state.weights[leads] < 0.97 else gains


def _takes_turns(state: State, t: int) -> Floats:
    n = len(state.weights)
    if t % 500 < 400:
        return np.where((np.arange(n) < n // 2) == (t % 2 == 0), 1.0, -1.0)
    return np.where(np.arange(n) == t // 500 % n, 1.0, -1.0)


@pytest.mark.parametrize("nature", [_halves, _held, _takes_turns], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_long_game_breaks_a_bound(name: str, nature: Nature) -> None:
    hedger = BOUNDED[name]
    for n in (2, 10):
        state = hedger.init(n)
        for t in range(2000):
            state = hedger.step(state, nature(state, t))
            if t % 50 == 0 or t % 500 > 490:
                assert (state.regrets <= hedger.bounds(state) + 1e-9).all()
