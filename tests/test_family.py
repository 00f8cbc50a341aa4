"""The family: each algorithm against its paper, its bound, and what breaks others."""

import dataclasses
import itertools
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from river import base, ensemble, optim
from scipy import integrate

from normalhedge import certificates, checks, hedgers
from normalhedge._inputs import Floats
from normalhedge.games import GoodAndBad, play
from normalhedge.hedgers import HEDGERS, CompiledHedger, State
from tests import family_oracles as oracles

FAMILY: dict[str, CompiledHedger] = {
    "AdaHedge": hedgers.AdaHedge(),
    "AdaNormalHedge": hedgers.AdaNormalHedge(),
    "BatesGranger": hedgers.BatesGranger(),
    "BOA": hedgers.BOA(),
    "CoinBetting": hedgers.CoinBetting(),
    "DecreasingHedge": hedgers.DecreasingHedge(),
    "FixedShare": hedgers.FixedShare(eta=1.0, share=0.1),
    "FlipFlop": hedgers.FlipFlop(),
    "FollowTheLeader": hedgers.FollowTheLeader(),
    "MLPoly": hedgers.MLPoly(),
    "MLPolyOpera": hedgers.MLPolyOpera(),
    "MLProd": hedgers.MLProd(),
    "NormalHedge2009": hedgers.NormalHedge2009(),
    "NormalHedgeDT": hedgers.NormalHedgeDT(),
    "OptimisticHedge": hedgers.OptimisticHedge(eta=0.5),
    "RegretMatching": hedgers.RegretMatching(),
    "RegretMatchingPlus": hedgers.RegretMatchingPlus(),
    "Squint": hedgers.Squint(),
    "Uniform": hedgers.Uniform(),
    "VariableShare": hedgers.VariableShare(eta=1.0, share=0.1),
}


def discounted(hedger: Any, alpha: float) -> CompiledHedger:
    changed: CompiledHedger = dataclasses.replace(hedger, alpha=alpha)
    return changed


EVERYONE = [*FAMILY.values(), *(discounted(hedger, 0.2) for hedger in FAMILY.values())]

each = pytest.mark.parametrize("hedger", FAMILY.values(), ids=FAMILY.keys())


# Laws


def _drawn() -> list[checks.Game]:
    """Return the games the laws are tried on, drawn once for all hedgers."""
    games: list[checks.Game] = []

    @settings(
        max_examples=50,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(checks.games())
    def collect(game: checks.Game) -> None:
        games.append(game)

    collect()
    return games


GAMES = _drawn()


@pytest.mark.parametrize("hedger", EVERYONE, ids=repr)
def test_laws(hedger: CompiledHedger) -> None:
    assert set(hedger.breaks) <= set(checks.LAWS)
    for name, body in checks.BODIES.items():
        if name not in hedger.breaks:
            for game in GAMES:
                body(hedger, game)


def test_laws_that_are_declared_broken_are_broken() -> None:
    rng = np.random.default_rng(0)
    long = checks.Game(rng.choice([-1.0, 1.0], (60, 4)), np.ones((60, 4)))
    for hedger in FAMILY.values():
        for name, reason in hedger.breaks.items():
            assert reason
            with pytest.raises(AssertionError):
                checks.BODIES[name](hedger, long)


def test_check_hedger_leaves_out_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("weights_are_a_distribution", "only_differences_matter", "a_sleeper_changes_nothing")
    monkeypatch.setattr(checks, "LAWS", {name: checks.LAWS[name] for name in names})
    checks.check_hedger(FAMILY["VariableShare"])

    class Dishonest(hedgers.VariableShare):
        breaks = {"a_sleeper_changes_nothing": "as it is"}  # noqa: RUF012

    with pytest.raises(AssertionError, match="breaks the law only_differences_matter"):
        checks.check_hedger(Dishonest(1.0, 0.5))

    class Confused(hedgers.Uniform):
        breaks = {"no_such_law": "?"}  # noqa: RUF012

    with pytest.raises(AssertionError, match="no_such_law"):
        checks.check_hedger(Confused())


# Papers


def _games() -> Iterator[tuple[Floats, Floats]]:
    rng = np.random.default_rng(1)
    for rounds, n in ((40, 2), (60, 5), (25, 17)):
        gains = rng.uniform(-1, 1, (rounds, n))
        gains[::3] = rng.choice([-1.0, 1.0], gains[::3].shape)
        gains[:, 0] = np.clip(gains[:, 0] + 0.3, -1, 1)
        confidence = rng.random((rounds, n)) * (rng.random((rounds, n)) < 0.6)
        confidence[:, 0] = np.maximum(confidence[:, 0], 0.25)
        yield gains, confidence


@pytest.mark.parametrize("name", FAMILY)
def test_each_is_its_paper(name: str) -> None:
    for gains, confidence in _games():
        for rated in (None, confidence):
            oracle: oracles.Oracle = getattr(oracles, name)(gains.shape[1])
            played, last = oracles.fold(oracle, gains, rated)
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
    for gains, _ in _games():
        growing = gains * (1 - alpha) ** -np.arange(len(gains))[:, None]
        played, last = oracles.fold(getattr(oracles, name)(gains.shape[1]), growing)
        run = discounted(FAMILY[name], alpha).run(gains, keep_weights=True)
        assert run.weights is not None
        np.testing.assert_allclose(run.weights, played, atol=1e-8)
        np.testing.assert_allclose(run.state.weights, last, atol=1e-8)


@pytest.mark.parametrize(
    "name", ["AdaNormalHedge", "BatesGranger", "BOA", "MLPoly", "MLProd", "NormalHedgeDT", "Squint"]
)
def test_a_discount_is_of_every_sum(name: str) -> None:
    """All that is summed up decays before a round is added, and so do logarithms of products."""
    alpha, gains = 0.1, np.random.default_rng(3).uniform(-1.0, 1.0, (60, 4))
    run = discounted(FAMILY[name], alpha).run(gains, keep_weights=True)
    oracle: Any = getattr(oracles, name)(4)
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


def test_decreasing_rate_with_a_discount() -> None:
    gains, alpha = next(_games())[0], 0.1
    n, R, time = 2, np.zeros(2), 1.0
    run = hedgers.DecreasingHedge(alpha).run(gains, keep_weights=True)
    assert run.weights is not None
    for row, played in zip(gains, run.weights, strict=True):
        p = oracles.normal(np.exp(math.sqrt(math.log(n) / time) * (1 - alpha) * R))
        np.testing.assert_allclose(played, p, atol=1e-12)
        R = (1 - alpha) * R + row - p @ row
        time = 1 + (1 - alpha) ** 2 * time


@pytest.mark.parametrize("power", [0.5, 2.0, 7.0])
def test_powers_of_bates_and_granger(power: float) -> None:
    for gains, confidence in _games():
        for rated in (None, confidence):
            oracle = oracles.BatesGranger(gains.shape[1], power)
            played, last = oracles.fold(oracle, gains, rated)
            run = hedgers.BatesGranger(power=power).run(gains, rated, keep_weights=True)
            assert run.weights is not None
            np.testing.assert_allclose(run.weights, played, atol=1e-10)
            np.testing.assert_allclose(run.state.weights, last, atol=1e-10)


def test_bates_and_granger_where_nothing_is_lost() -> None:
    hedger, gains = hedgers.BatesGranger(), np.ones((5, 3))
    np.testing.assert_allclose(hedger.run(gains).state.weights, 1 / 3)
    gains[:, 2] = -1.0
    assert hedger.run(gains).state.weights[2] < 0.15
    asleep = hedger.run(gains, np.zeros((5, 3))).state
    np.testing.assert_allclose(asleep.weights, 1 / 3)
    assert asleep.totals.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shift", [3.0, 20.0])
def test_shifted_coin_betting(shift: float) -> None:
    for gains, _ in _games():
        played, _ = oracles.fold(oracles.CoinBetting(gains.shape[1], shift), gains)
        run = hedgers.CoinBetting(shift).run(gains, keep_weights=True)
        assert run.weights is not None
        np.testing.assert_allclose(run.weights, played, atol=1e-10)


# Closed forms


@pytest.mark.parametrize(
    "regret", [-300.0, -9.0, -4.0, -1.0, 0.0, 1e-9, 0.5, 3.9, 4.1, 20.0, 300.0]
)
@pytest.mark.parametrize("squares", [1e-12, 1e-3, 1.0, 3.99, 4.01, 30.0, 1e3, 1e5])
def test_squint_integral(regret: float, squares: float) -> None:
    hedger = hedgers.Squint()
    state = hedger.init(2)
    ledger = state.ledger.copy()
    ledger[:, 0] = 2 * regret, max(squares, abs(regret) * 1e-6)
    weights = hedger.reweigh(state, ledger).weights
    score = math.log(weights[0]) - math.log(weights[1] / 0.5)  # the other's integral is 1/2
    V = ledger[1, 0]
    peak = min(max(regret / (2 * V), 0.0), 0.5)
    top = peak * regret - peak**2 * V

    def integrand(eta: float) -> float:
        return math.exp(eta * regret - eta**2 * V - top)

    width = min(0.5, 12 / math.sqrt(V), 60 / max(abs(regret - 2 * peak * V), 1e-9))
    edges = (max(peak - width, 0.0), peak, min(peak + width, 0.5))
    value = sum(
        integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0]
        for a, b in itertools.pairwise(edges)
        if b > a
    )
    expected = top + math.log(value)
    assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_squint_keeps_its_potential() -> None:
    hedger, rng = hedgers.Squint(), np.random.default_rng(2)
    nodes, shares = np.polynomial.legendre.leggauss(200)
    eta = (nodes + 1)[:, None] / 4
    state = hedger.init(6)
    for _ in range(300):
        state = hedger.step(state, np.where(state.weights > rng.random(6) / 3, -1.0, 1.0))
        exponent = eta * state.regrets / 2 - eta**2 * state.ledger[1]
        assert (shares @ (np.expm1(exponent) / eta)).sum() <= 1e-9


def test_fixed_share_is_bayes_over_all_sequences() -> None:
    n, rounds, eta, share = 3, 6, 0.7, 0.25
    gains = np.random.default_rng(3).uniform(-1, 1, (rounds, n))
    run = hedgers.FixedShare(eta, share).run(gains, keep_weights=True)
    assert run.weights is not None
    for t in range(rounds):
        masses = np.zeros(n)
        for sequence in itertools.product(range(n), repeat=t + 1):
            mass = 1 / n
            for a, b in itertools.pairwise(sequence):
                mass *= (1 - share) * (a == b) + share / n
            mass *= math.exp(eta * sum(gains[s, e] for s, e in enumerate(sequence[:-1])))
            masses[sequence[-1]] += mass
        np.testing.assert_allclose(run.weights[t], masses / masses.sum(), atol=1e-12)


def test_fixed_share_against_the_best_sequence() -> None:
    n, rounds, switches = 4, 400, 3
    rng = np.random.default_rng(4)
    best = np.repeat(rng.permutation(n), rounds // n)
    gains = rng.choice([-1.0, 1.0], (rounds, n))
    gains[np.arange(rounds), best] = np.where(rng.random(rounds) < 0.9, 1.0, -1.0)
    for hedger in (hedgers.FixedShare(0.5, 0.01), hedgers.FixedShare(0.1, 0.3)):
        run = hedger.run(gains)
        regret = gains[np.arange(rounds), best].sum() - run.gains.sum()
        assert regret <= hedger.bound(n, rounds, switches=switches).regret
    tuned = hedgers.FixedShare.tuned(0.01, n)
    assert tuned.share == tuned.alpha == 0.01
    s = 0.1
    least = hedgers.FixedShare.tuned(0.0, n, share=s)
    nats = s * math.log(n / s) - (1 - s) * math.log(1 - s)
    assert least.eta == pytest.approx(math.sqrt(2 * nats))
    assert hedgers.VariableShare.tuned(0.0, n, share=s).eta == least.eta
    with pytest.raises(ValueError, match="fewer than rounds"):
        tuned.bound(n, 10, switches=10)


def test_variable_share_takes_nothing_from_who_does_not_lose() -> None:
    hedger = hedgers.VariableShare(eta=2.0, share=0.2)
    state = hedger.run(np.tile([1.0, -1.0, -1.0], (40, 1))).state
    assert state.weights[0] > 1 - 1e-15
    after = hedger.run(np.tile([-1.0, 1.0, -1.0], (8, 1)), state=state).state
    assert after.weights[1] > 0.9


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


def test_normal_hedge_2009_solves_its_equation() -> None:
    hedger, rng = hedgers.NormalHedge2009(), np.random.default_rng(5)
    for n in (2, 3, 100, 5000):
        state = hedger.run(rng.choice([-1.0, 1.0], (20, n))).state
        positive = np.maximum(state.regrets, 0)
        assert np.mean(np.exp(positive**2 / (2 * hedger.spread(state)))) == pytest.approx(math.e)
    assert hedger.spread(hedger.init(3)) == 0.0


# Outside


class Column(base.Regressor):
    """Predicts what it is shown."""

    def __init__(self, name: int) -> None:
        self.name = name

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing."""

    def predict_one(self, x: Any) -> Any:
        return x[self.name]


def test_river_ewa() -> None:
    """Hedge at a fixed rate, which Fixed Share is when it shares nothing to speak of."""
    rng = np.random.default_rng(6)
    said, truth = rng.random((50, 4)), rng.random(50)
    ewa: Any = ensemble.EWARegressor(
        [Column(i) for i in range(4)], loss=optim.losses.Absolute(), learning_rate=0.3
    )
    gains = 1 - 2 * np.abs(said - truth[:, None])
    hedger = hedgers.FixedShare(eta=0.15, share=1e-300)
    state = hedger.init(4)
    for row, y, gain in zip(said, truth, gains, strict=True):
        ewa.learn_one(dict(enumerate(row)), y)
        state = hedger.step(state, gain)
        np.testing.assert_allclose(state.weights, ewa.weights, rtol=1e-12)


def test_opera() -> None:
    """The recursion of MLpol in the R package opera, on losses of any range; some asleep."""
    for gains, confidence in _games():
        for scale in (1.0, 1e-7, 0.3):
            losses, awake = -scale * gains, np.ceil(confidence)
            n = gains.shape[1]
            B, R, eta = 0.0, np.zeros(n), np.full(n, math.exp(700))
            run = hedgers.MLPolyOpera().run(scale * gains, awake, keep_weights=True)
            assert run.weights is not None
            for row, up, played in zip(losses, awake, run.weights, strict=True):
                w = eta * np.maximum(R, 0) if (up * R).max() > 0 else np.ones(n)
                p = up * (w / w.sum()) / (up * (w / w.sum())).sum()
                np.testing.assert_allclose(played, p, rtol=1e-9, atol=1e-12)
                r = up * (p @ row - row)
                R = R + r
                wider = max(B, float((r * r).max()))
                eta = 1 / (1 / eta + r * r + wider - B)
                B = wider


def test_sktime() -> None:
    """What sktime 1.2.0's NormalHedgeEnsemble gives for these losses; its c is by bisection."""
    losses = (1 + np.sin(np.outer(np.arange(1, 31), [1.0, 1.3, 1.7, 2.1, 2.9]))) / 2
    theirs = [0.1939195950969, 0.1357529434215, 0.1774215751799, 0.2148875329091, 0.2780183533926]
    state = hedgers.NormalHedge2009().run(1 - 2 * losses).state
    np.testing.assert_allclose(state.weights, theirs, atol=1e-11)


# Bounds

Nature = Callable[[State, int, np.random.Generator], Floats]


def _coins(state: State, _t: int, rng: np.random.Generator) -> Floats:
    return rng.choice([-1.0, 1.0], len(state.weights))


def _one_is_better(state: State, _t: int, rng: np.random.Generator) -> Floats:
    gains = _coins(state, 0, rng)
    gains[0] = 1.0 if rng.random() < 0.7 else -1.0
    return gains


def _spite(state: State, _t: int, _rng: np.random.Generator) -> Floats:
    """Those with more than an even share of the weight lose."""
    n = len(state.weights)
    return np.where(state.weights * n > 1 + 1e-9, -1.0, 1.0)


def _alternate_then_break_away(state: State, t: int, _rng: np.random.Generator) -> Floats:
    n = len(state.weights)
    if t < 150:
        return np.where((np.arange(n) < n // 2) == (t % 2 == 0), 1.0, -1.0)
    return np.where(np.arange(n) == 0, 1.0, -1.0)


def _steep(state: State, _t: int, _rng: np.random.Generator) -> Floats:
    """The further ahead, the less."""
    order = np.argsort(np.argsort(state.regrets + 1e-9 * np.arange(len(state.weights))))
    return 1.0 - 2.0 * order / max(len(order) - 1, 1)


NATURES: list[Nature] = [_coins, _one_is_better, _spite, _alternate_then_break_away, _steep]


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
        assert isinstance(bound, certificates.Bound)
        assert bool(bound) == (name not in NEVER_BOUNDED)
    for name in ("AdaHedge", "FlipFlop", "RegretMatching", "RegretMatchingPlus", "DecreasingHedge"):
        forever = discounted(FAMILY[name], 0.01)
        assert forever.bound(10, 10**9).regret < 400
        assert forever.bound(10, 10**9).regret == pytest.approx(forever.bound(10, 10**4).regret)
    for name in ("Squint", "MLPoly", "MLProd", "BOA", "AdaNormalHedge", "NormalHedgeDT"):
        assert "no theorem" in str(discounted(FAMILY[name], 0.01).bound(10, 1000))
    assert hedgers.CoinBetting.tuned(1000).bound(10, 1000).regret == pytest.approx(
        2 * math.sqrt(3000 * (3 + math.log(10)))
    )
    assert not hedgers.CoinBetting(7.0).bound(10, 1000)


def test_tuned_coin_betting_keeps_its_bound() -> None:
    hedger, n, rng = hedgers.CoinBetting.tuned(300), 8, np.random.default_rng(8)
    for nature in NATURES:
        state = hedger.init(n)
        for t in range(300):
            state = hedger.step(state, nature(state, t, rng))
        assert state.best_regret <= hedger.bound(n, 300).regret


# Extremes


def _sound(state: State) -> None:
    assert np.isfinite(state.ledger).all()
    assert np.isfinite(state.totals).all()
    assert (state.weights >= 0).all()
    assert abs(state.weights.sum() - 1) < 1e-9


@each
def test_extremes(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(9)
    for hedged in (hedger, discounted(hedger, 1e-6), discounted(hedger, 0.999)):
        for n in (1, 2, 30):
            for scale in (1.0, 1e-12, 1e-200):
                gains = scale * rng.uniform(-1, 1, (200, n))
                _sound(hedged.run(gains).state)
                _sound(hedged.run(gains, (rng.random((200, n)) < 0.3) * 1e-9).state)
            steady = np.zeros((3000, n))
            steady[:, 0] = 1.0
            _sound(hedged.run(steady).state)
            _sound(hedged.run(-steady).state)


@each
def test_tiny_gains_count(hedger: CompiledHedger) -> None:
    """Where one expert leads by 1e-12 a round, it never has less weight than the others."""
    gains = np.zeros((50, 4))
    gains[:, 2] = 1e-12
    weights = hedger.run(gains).state.weights
    assert weights[2] >= weights.max() - 1e-12


@each
def test_a_million_rounds_and_a_million_experts(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(10)
    block = rng.choice([-1.0, 1.0], (1000, 3))
    block[:, 0] = np.where(rng.random(1000) < 0.6, 1.0, -1.0)
    _sound(hedger.run(np.tile(block, (1000, 1))).state)
    wide = rng.uniform(-1, 1, 1_000_000)
    state = hedger.step(hedger.init(1_000_000), wide)
    _sound(hedger.step(state, wide, in_place=True))


@pytest.mark.parametrize("name", ["AdaHedge", "DecreasingHedge", "OptimisticHedge"])
def test_those_awake_are_weighed_although_the_leader_sleeps(name: str) -> None:
    hedger = FAMILY[name]
    gains = np.tile([1.0, -0.2, -1.0], (5000, 1))
    state = hedger.run(gains).state
    played = hedger.play(state, [0.0, 1.0, 1.0])
    assert state.weights[1] < 1e-6
    assert played[1] > 0.99


# Protocol


@pytest.mark.parametrize("hedger", EVERYONE, ids=repr)
def test_run_and_in_place_are_step_to_the_bit(hedger: CompiledHedger) -> None:
    rng = np.random.default_rng(11)
    gains = rng.uniform(-1, 1, (40, 37))
    for confidence in (None, rng.random((40, 37)) * (rng.random((40, 37)) < 0.7)):
        state = own = hedger.init(37)
        own = pickle.loads(pickle.dumps(own))
        for t, row in enumerate(gains):
            now = None if confidence is None else confidence[t]
            state = hedger.step(state, row, now)
            own = hedger.step(own, row, now, in_place=True)
        run = hedger.run(gains, confidence)
        for other in (own, run.state, State.from_json(state.to_json())):
            for a, b in zip(state, other, strict=True):
                np.testing.assert_array_equal(a, b)


@each
def test_bad_input_leaves_the_state_as_it_was(hedger: CompiledHedger) -> None:
    state = hedger.run(np.eye(3)).state
    before = pickle.dumps(state)
    with pytest.raises(ValueError, match=r"gains\[1\] is 2.0"):
        hedger.step(state, [0.0, 2.0, 0.0], in_place=True)
    with pytest.raises(ValueError, match=r"confidence\[0\] is -1.0"):
        hedger.step(state, [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0], in_place=True)
    with pytest.raises(ValueError, match=r"gains\[1, 2\] is nan"):
        hedger.run([[0.0, 0.0, 0.0], [0.0, 0.0, np.nan]], state=state)
    with pytest.raises(ValueError, match="columns"):
        hedger.run(np.zeros((2, 4)), state=state)
    with pytest.raises(TypeError, match="State"):
        hedger.step((1, 2), np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        hedger.leave(state, [0, 1, 2])
    with pytest.raises(ValueError, match="alpha"):
        discounted(hedger, 1.0)
    assert pickle.dumps(state) == before


def test_states_are_made_of_what_can_be_a_state() -> None:
    state = hedgers.Squint().init(3)
    for change in (
        {"ledger": np.zeros((4, 2))},
        {"ledger": np.full((4, 3), np.nan)},
        {"weights": [0.5, 0.5, 0.5]},
        {"joined": 2},
        {"totals": [[1.0]]},
    ):
        with pytest.raises(ValueError, match=next(iter(change))):
            state._replace(**change)


def test_play_takes_every_hedger_by_name() -> None:
    made = {
        name: checks_made
        for name, factory in HEDGERS.items()
        if name != "hedge-fixed"
        for checks_made in [_make(name, factory)]
    }
    nature = GoodAndBad(experts=20, gamma=0.4, f=0.1, alpha=0.05)
    trace = play(made, nature, 100, runs=2, every=10, quantile=0.1, keep_weights=True, jobs=1)
    assert trace.regret.mean.shape == (len(made), 10)
    assert np.isfinite(trace.regret.mean).all()
    assert np.isfinite(trace.highest_regret).all()
    known = {name for name, hedger in made.items() if hedger.has_potential}
    for name, highest in zip(trace.hedgers, trace.highest_potential, strict=True):
        assert np.isfinite(highest) == (name in known)


def _make(name: str, factory: Callable[..., Any]) -> Any:
    from normalhedge import _names  # noqa: PLC0415

    return _names.make("hedger", name, {name: factory}, alpha=0.05, n_experts=20)
