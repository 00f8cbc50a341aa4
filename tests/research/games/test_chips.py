"""The chip game, beside the value of the game by brute force."""

import itertools
import math
from functools import cache

import numpy as np
import pytest

from normalhedge.hedgers import Hedger
from normalhedge.research.games import IndependentCoins, play
from normalhedge.research.games.chips import BinomialWeights, BoostByMajority, Chips, ways

LOST = -(10**9)


@cache
def value(chips: tuple[int, ...]) -> int:
    """Return the most mistakes of the best vote; a chip is the number of mistakes it may make."""
    if not chips:
        return LOST  # not allowed: some expert keeps within its mistakes
    best = 0
    for split in itertools.product((0, 1), repeat=len(chips)):
        if not 0 < sum(split) < len(chips):
            continue  # experts that agree are followed
        after = [
            tuple(
                sorted(
                    j - (s != label) for j, s in zip(chips, split, strict=True) if j >= (s != label)
                )
            )
            for label in (0, 1)
        ]
        if chips == after[0] or chips == after[1]:
            continue
        zero, one = (value(chips_after) for chips_after in after)
        best = max(best, min(max(zero, 1 + one), max(one, 1 + zero)))
    return max(best, most_if_all_agree(chips))


def most_if_all_agree(chips: tuple[int, ...]) -> int:
    """All experts say the same: the vote errs with them, as long as one may."""
    after = tuple(sorted(j - 1 for j in chips if j))
    return 1 + value(after) if after else 0


def worst_of(hedger: BinomialWeights, n: int) -> int:
    """Return the most mistakes of the vote against every sequence that keeps an expert alive."""
    k = hedger.mistakes
    seen: dict[tuple[float, ...], int] = {}

    def follow(state: Chips) -> int:
        alive = state.positions <= k
        key = (*sorted(state.positions[alive]), state.errors)
        if key in seen:
            return seen[key]
        most = state.errors
        for gains in itertools.product((-1.0, 1.0), repeat=n):
            if (np.array(gains)[alive] > 0).all():
                continue  # nothing changes
            after = hedger.step(state, gains)
            if after.positions.min() <= k:
                most = max(most, follow(after))
        seen[key] = most
        return most

    return follow(hedger.init(n))


@pytest.mark.parametrize(
    ("n", "k"), [(1, 0), (1, 2), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (3, 2)]
)
def test_the_vote_makes_as_few_mistakes_as_are_promised(n: int, k: int) -> None:
    hedger = BinomialWeights(k)
    promised, reached, best = hedger.most_mistakes(n), worst_of(hedger, n), value((k,) * n)
    assert best <= reached <= promised
    assert promised == max(q for q in range(60) if 2**q <= n * ways(q, k))
    if k == 0 or n <= 2:
        assert best == promised  # the promise cannot be smaller


def test_halving_and_many_experts() -> None:
    assert [BinomialWeights(0).most_mistakes(n) for n in (1, 2, 3, 1000, 10**9)] == [0, 1, 1, 9, 29]
    assert BinomialWeights(1000).most_mistakes(10**6) > 2000
    rng = np.random.default_rng(0)
    for n, k in ((50, 3), (7, 10)):
        hedger = BinomialWeights(k)
        for _ in range(5):
            state = hedger.init(n)
            good = rng.permutation(np.repeat([-1.0, 1.0], [k, 60 - k]))
            for t in range(60):
                gains = np.where(state.weights > np.median(state.weights), -1.0, 1.0)
                gains = np.where(rng.random(n) < 0.1, -gains, gains)
                gains[0] = good[t]
                state = hedger.step(state, gains)
            assert state.errors <= hedger.most_mistakes(n)


def test_when_nobody_keeps_the_promise() -> None:
    hedger = BinomialWeights(0)
    state = hedger.step(hedger.step(hedger.init(3), [-1, -1, -1]), [1, -1, 1])
    np.testing.assert_allclose(state.weights, [0.5, 0.0, 0.5])


def chance(hedger: BoostByMajority, position: int, after: int) -> float:
    """Return the chance by adding up all sequences of coins."""
    total = 0.0
    for steps in itertools.product((-1, 1), repeat=hedger.rounds - after):
        if position + sum(steps) >= 0:
            total += math.prod(0.5 - hedger.gamma if s > 0 else 0.5 + hedger.gamma for s in steps)
    return total


@pytest.mark.parametrize("rounds", [1, 4, 7])
def test_potential_and_weights_are_chances_of_coins(rounds: int) -> None:
    hedger = BoostByMajority(rounds, 0.15)
    for after in range(rounds + 1):
        for position in range(-after, after + 1, 2):
            slow = chance(hedger, position, after)
            assert hedger.potential(position, after) == pytest.approx(slow, abs=1e-12)
    state = hedger.init(5)
    for t, row in enumerate(np.random.default_rng(0).choice([-1.0, 1.0], (rounds, 5))):
        raw = np.array(
            [
                hedger.potential(int(s) + 1, t + 1) - hedger.potential(int(s) - 1, t + 1)
                for s in state.positions
            ]
        )
        if raw.any():
            np.testing.assert_allclose(state.weights, raw / raw.sum(), atol=1e-12)
        state = hedger.step(state, row)


def test_few_experts_end_above_zero_while_the_hedger_loses() -> None:
    """Every sequence of small games in which it loses 2 gamma in each round."""
    hedger, n = BoostByMajority(4, 0.1), 4
    shares = []

    def follow(state: Chips) -> None:
        if state.rounds == hedger.rounds:
            shares.append((state.positions >= 0).mean())
            return
        for gains in itertools.product((-1.0, 1.0), repeat=n):
            if state.weights @ gains <= -2.0 * hedger.gamma + 1e-12:
                follow(hedger.step(state, gains))

    follow(hedger.init(n))
    assert 0.0 < max(shares) <= hedger.share()


def test_coins_reach_the_share() -> None:
    hedger, n = BoostByMajority(15, 0.1), 20_000
    coins = np.random.default_rng(0).random((15, n)) < 0.5 - hedger.gamma
    share = ((2.0 * coins - 1.0).sum(axis=0) >= 0.0).mean()
    assert abs(share - hedger.share()) < 4.0 * math.sqrt(0.25 / n)


def test_in_games() -> None:
    hedgers = {"votes": BinomialWeights(20), "boosts": BoostByMajority(60, 0.1)}
    assert all(isinstance(hedger, Hedger) for hedger in hedgers.values())
    trace = play(hedgers, IndependentCoins(6), 60, quantile=0.5)
    assert np.isfinite(trace.regret.mean).all()


@pytest.mark.parametrize("hedger", [BinomialWeights(2), BoostByMajority(9, 0.2)])
def test_what_a_chip_game_refuses(hedger: Hedger) -> None:  # type: ignore[type-arg]
    state = hedger.init(3)
    for gains, words in (([1, 0, 1], "must be -1 or"), ([1, 1], "shape"), ([np.nan] * 3, "gains")):
        with pytest.raises(ValueError, match=words):
            hedger.step(state, gains)
    with pytest.raises(ValueError, match="all experts must be awake"):
        hedger.step(state, [1, 1, 1], [1, 0, 1])


def test_bad_settings() -> None:
    for make, words in (
        (lambda: BinomialWeights(-1), "mistakes must be at least 0"),
        (lambda: BoostByMajority(0, 0.1), "rounds must be at least 1"),
        (lambda: BoostByMajority(9, 0.5), "gamma must be strictly between 0 and 0.5"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
