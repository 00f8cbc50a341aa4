"""DORM, DORM+ and AdaHedgeD: outcomes that come late."""

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger
from normalhedge.hedgers._late import LateHedger
from tests.family_oracles import normal
from tests.hedgers.examples import drawn_games

Kind = type[hedgers.DORM | hedgers.DORMPlus | hedgers.AdaHedgeD]

KINDS: tuple[Kind, ...] = (hedgers.DORM, hedgers.DORMPlus, hedgers.AdaHedgeD)

WITHOUT_DELAY: dict[Kind, CompiledHedger] = {
    hedgers.DORM: hedgers.RegretMatching(),
    hedgers.DORMPlus: hedgers.RegretMatchingPlus(),
    hedgers.AdaHedgeD: hedgers.AdaHedge(),
}

each_kind = pytest.mark.parametrize("kind", KINDS)


class Played(NamedTuple):
    """A game: the weights, the rises, and the quantities of the theorems."""

    weights: Floats
    rises: Floats
    errors: Floats  # e of each round
    moves: Floats  # what DORM+ adds to Q when the outcome of the round comes
    gaps: list[float]


def softmax(values: Floats, rate: float) -> Floats:
    if math.isinf(rate):
        return normal((values >= values.max() - 1e-12).astype(float))
    return normal(np.exp(rate * (values - values.max())))


def soft_lead(values: Floats, rate: float) -> float:
    lead = float(values.max())
    return (
        lead if math.isinf(rate) else lead + math.log(np.exp(rate * (values - lead)).sum()) / rate
    )


def late_game(hedger: LateHedger, gains: Floats, confidence: Floats | None = None) -> Played:
    """Play by the definitions, everything from the first round on again in each round."""
    rounds, n = gains.shape
    k = np.ones_like(gains) if confidence is None else confidence
    rises, errors = np.zeros((rounds, n)), np.zeros((rounds, n))
    plays: list[Floats] = []
    gaps: list[float] = []
    repeats = hedger.hint * (hedger.delay + 1)
    for t in range(rounds + hedger.delay + 1):
        known = max(t - hedger.delay, 0)
        hints = np.vstack([np.zeros(n), repeats * rises[:known]])
        hinted = rises[:known].sum(axis=0) + hints[-1]
        rate = math.log(n) / sum(gaps[:known]) if sum(gaps[:known]) > 0 else math.inf
        if isinstance(hedger, hedgers.DORMPlus):
            clipped = np.zeros(n)
            for s in range(known):
                clipped = np.maximum(clipped + rises[s] + hints[s + 1] - hints[s], 0)
            p = normal(clipped)
        elif isinstance(hedger, hedgers.AdaHedgeD):
            p = softmax(hinted, rate)
        else:
            p = normal(np.maximum(hinted, 0))
        plays.append(p)
        if t >= rounds:
            continue
        q = normal(p * k[t]) if (p * k[t]).sum() > 0 else k[t] / max(k[t].sum(), 1e-300)
        rises[t] = k[t] * (gains[t] - q @ gains[t])
        regrets = rises[: t + 1].sum(axis=0)
        errors[t] = regrets - hinted
        gaps.append(lost(regrets, hinted, rises[t], rate))
        if confidence is not None:
            plays[-1] = q
    padded = np.vstack([np.zeros((hedger.delay + 1, n)), rises])[: rounds + 1]
    moves = (1.0 + repeats) * padded[1:] - repeats * padded[:-1]
    return Played(np.array(plays), rises, errors, moves, gaps)


def lost(regrets: Floats, hinted: Floats, r: Floats, rate: float) -> float:
    """Return delta of AdaHedgeD."""

    def cost(y: Floats) -> float:
        ahead = soft_lead(regrets, rate) - soft_lead(y, rate)
        return ahead - float(softmax(y, rate) @ (regrets - y))

    e = regrets - hinted
    share = min(1.0, np.ptp(r) / np.ptp(e)) if np.ptp(e) > 0 else 1.0
    y = regrets - share * e
    drift, earned = (float(softmax(at, rate) @ r) for at in (regrets, y))
    return max(0.0, min(cost(hinted), drift, cost(y) + earned))


@pytest.mark.parametrize("hint", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("delay", [0, 1, 6, 50])
@each_kind
def test_it_is_the_definition(kind: Kind, delay: int, hint: float) -> None:
    hedger = kind(delay, hint)
    for gains, confidence in drawn_games():
        for rated in (None, confidence):
            game = late_game(hedger, gains, rated)
            run = hedger.run(gains, rated, keep_weights=True)
            assert run.weights is not None
            np.testing.assert_allclose(run.weights, game.weights[: len(gains)], atol=1e-9)
            np.testing.assert_allclose(run.state.weights, game.weights[-1], atol=1e-9)
            np.testing.assert_allclose(run.state.regrets, game.rises.sum(axis=0), atol=1e-9)
            np.testing.assert_allclose(run.gains, (run.weights * gains).sum(axis=1), atol=1e-9)
            if kind is hedgers.AdaHedgeD:
                assert run.state.totals[0] == pytest.approx(sum(game.gaps))


@each_kind
def test_without_delay_and_hint_it_is_known(kind: Kind) -> None:
    known = WITHOUT_DELAY[kind]
    for alpha in (0.0, 0.1):
        ours, theirs = kind(alpha=alpha), type(known)(alpha=alpha)  # type: ignore[call-arg]
        for gains, confidence in drawn_games():
            for rated in (None, confidence):
                one, other = (h.run(gains, rated, keep_weights=True) for h in (ours, theirs))
                assert one.weights is not None
                assert other.weights is not None
                np.testing.assert_allclose(one.weights, other.weights, rtol=1e-12, atol=1e-14)
                np.testing.assert_allclose(one.state.regrets, other.state.regrets, atol=1e-12)


@each_kind
def test_nothing_is_known_at_first(kind: Kind) -> None:
    gains = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    weights = kind(7).run(gains, keep_weights=True).weights
    assert weights is not None
    np.testing.assert_array_equal(weights[:8], 0.25)
    assert np.ptp(weights[8]) > 0.01
    # Unknown rounds change nothing.
    other = gains.copy()
    other[12:] *= -1
    again = kind(7).run(other, keep_weights=True).weights
    assert again is not None
    np.testing.assert_array_equal(again, weights)


@each_kind
def test_a_discount_is_a_scale_that_grows(kind: Kind) -> None:
    alpha = 0.1
    for gains, _ in drawn_games():
        growing = gains * (1 - alpha) ** -np.arange(len(gains))[:, None]
        game = late_game(kind(3, 0.5), growing)
        run = kind(3, 0.5, alpha).run(gains, keep_weights=True)
        assert run.weights is not None
        np.testing.assert_allclose(run.weights, game.weights[: len(gains)], atol=1e-8)
        np.testing.assert_allclose(run.state.weights, game.weights[-1], atol=1e-8)


# The bounds


def huber(errors: Floats, steps: Floats) -> Floats:
    """Return squares that are linear beyond a step."""
    squares: Floats = errors**2 - np.maximum(errors - steps, 0.0) ** 2
    return squares


def in_turns(n: int, rounds: int, delay: int) -> Floats:
    """Return gains of halves that win for delay + 1 rounds in turn."""
    turn = np.arange(rounds)[:, None] // (delay + 1) % 2
    return np.where((np.arange(n) < n // 2) == (turn == 0), 1.0, -1.0)


def break_away(n: int, rounds: int, delay: int) -> Floats:
    """Return gains of halves that take turns, and then of one expert that is better."""
    gains = in_turns(n, rounds, delay)
    gains[rounds // 2 :] = np.where(np.arange(n) == 0, 1.0, -1.0)
    return gains


def drawn(n: int, rounds: int, delay: int) -> Floats:
    return np.random.default_rng(delay).uniform(-1, 1, (rounds, n))


def slow(n: int, rounds: int, delay: int) -> Floats:
    """Return gains that are waves, four delays long."""
    waves = np.arange(rounds)[:, None] / (4 * delay + 8) + np.arange(n) / n
    return np.sin(2 * np.pi * waves)


GAMES: tuple[Callable[[int, int, int], Floats], ...] = (in_turns, break_away, drawn, slow)


@pytest.mark.parametrize("hint", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("delay", [0, 1, 5])
@each_kind
def test_theorems(kind: Kind, delay: int, hint: float) -> None:
    """The inequalities of the page, of each game, as it went."""
    hedger = kind(delay, hint)
    for nature in GAMES:
        game = late_game(hedger, gains := nature(4, 120, delay))
        regrets = game.rises.cumsum(axis=0)
        if kind is hedgers.AdaHedgeD:
            costs = np.cumsum(game.gaps)
            before = np.concatenate([np.zeros(delay + 1), costs])[: len(costs)]
            assert (regrets.max(axis=1) <= before + costs + 1e-9).all()
            squares = huber(np.ptp(game.errors, axis=1), np.ptp(game.rises, axis=1))
            assert (8 * before * game.gaps <= math.log(4) * squares + 1e-9).all()
        else:
            sizes = np.linalg.norm(game.errors, axis=1)
            plus = kind is hedgers.DORMPlus
            each = huber(sizes, np.linalg.norm(game.moves if plus else game.rises, axis=1))
            limits = each.cumsum() + plus * (sizes**2 - each)
            assert (np.square(np.maximum(regrets, 0)).sum(axis=1) <= limits + 1e-9).all()
        for t in range(1, 120, 17):
            state = hedger.run(gains[:t]).state
            assert (state.regrets <= hedger.bounds(state) + 1e-9).all()


def contrary(hedger: CompiledHedger, n: int, rounds: int, lag: int) -> Floats:
    """Return the regrets of the played weights: the half with the larger weights loses."""
    state, waiting, regrets = hedger.init(n), deque[Floats](), np.zeros(n)
    for _ in range(rounds):
        order = np.argsort(np.argsort(-state.weights + 1e-12 * np.arange(n)))
        gains = np.where(order < n / 2, -1.0, 1.0)
        regrets += gains - state.weights @ gains
        waiting.append(gains)
        if len(waiting) > lag:
            state = hedger.step(state, waiting.popleft())
    for gains in waiting:
        state = hedger.step(state, gains)
    if isinstance(hedger, LateHedger):  # it has measured the played weights
        np.testing.assert_allclose(state.regrets, regrets, atol=1e-9)
    return regrets


@each_kind
def test_against_what_is_played(kind: Kind) -> None:
    """With a delay it has a fraction of the regret of the same rule that ignores the delay."""
    for lag, least in ((0, 0.99), (5, 2.3), (24, 3.5)):
        ours, bound = kind(lag), kind(lag).bound(10, 2000).regret
        regret = contrary(ours, 10, 2000, lag).max()
        assert 0.1 * bound < regret <= bound
        assert contrary(WITHOUT_DELAY[kind], 10, 2000, lag).max() > least * regret
        hinted = kind(lag, 1.0)
        assert contrary(hinted, 10, 2000, lag).max() <= hinted.bound(10, 2000).regret


def test_bounds_grow_as_the_root_of_the_delay() -> None:
    for kind in (hedgers.DORM, hedgers.DORMPlus):
        known = WITHOUT_DELAY[kind].bound(10, 10**6).regret
        assert kind().bound(10, 10**6).regret == known
        assert kind(12).bound(10, 10**6).regret == pytest.approx(5 * known, rel=1e-4)
    assert hedgers.DORM(12, 1.0).bound(10, 100).regret == pytest.approx(
        math.sqrt(51) * hedgers.RegretMatching().bound(10, 100).regret
    )
    assert hedgers.DORMPlus(12, 1.0).bound(10, 100).regret == pytest.approx(
        26 * hedgers.RegretMatching().bound(10, 100).regret
    )
    log_n = math.log(10)
    assert hedgers.AdaHedgeD(12).bound(10, 10**8).regret == pytest.approx(
        2 * math.sqrt(25e8 * log_n), rel=1e-2
    )
    assert hedgers.AdaHedgeD(3).bound(1).regret == 0.0


def test_settings() -> None:
    for delay in (-1, 1.5, 10**6, "3", None, True):
        with pytest.raises((ValueError, TypeError), match="delay"):
            hedgers.DORM(delay)  # type: ignore[arg-type]
    for hint in (-0.1, 1.1, math.nan, "much"):
        with pytest.raises((ValueError, TypeError), match="hint"):
            hedgers.DORMPlus(1, hint)  # type: ignore[arg-type]
    assert hedgers.named("ada-hedge-d:delay=3,hint=1") == hedgers.AdaHedgeD(3, 1.0)
    assert hedgers.DORMPlus(2).row_names == (
        "clipped regret",
        "clipped regret 1 ago",
        "clipped regret 2 ago",
        "last rise",
    )
    assert hedgers.AdaHedgeD(1).total_names == ("gap", "gap 1 ago")
    with pytest.raises(ValueError, match="ledger has 4 rows"):
        hedgers.DORM(2).step(hedgers.DORM(3).init(2), [0.0, 1.0])
