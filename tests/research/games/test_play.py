import math
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import HEDGERS as NAMES, Hedge, named
from normalhedge.research.games import GoodAndBad, IndependentCoins, Replay, play

NATURE = GoodAndBad(20, 0.5, 0.1, 0.02)
HEDGERS = {"normal": NormalHedge(0.02, c=1.0), "hedge": Hedge.corrected(0.02, 20)}


def runs_by_hand(runs: int, rounds: int, seed: int = 0) -> list[np.ndarray]:
    seeds = np.random.SeedSequence(seed).spawn(runs)
    return [
        np.concatenate(list(NATURE.gains(rounds, np.random.default_rng(seed)))) for seed in seeds
    ]


def test_play_is_what_running_each_game_gives() -> None:
    trace = play(HEDGERS, NATURE, 300, 4, every=7, parts=3, quantile=0.25, keep_weights=True)
    games = runs_by_hand(4, 300)
    at = np.arange(7, 301, 7)
    np.testing.assert_array_equal(trace.rounds, at)
    for k, hedger in enumerate(HEDGERS.values()):
        outcomes = [hedger.run(game, keep_weights=True) for game in games]
        for curves, field in (
            (trace.regret, "best_regret"),
            (trace.potential, "log_potential"),
            (trace.gain, "gains"),
        ):
            values = np.array([getattr(outcome, field) for outcome in outcomes])
            np.testing.assert_allclose(curves.mean[k], values.mean(axis=0)[at - 1], atol=1e-9)
            spread = values.std(axis=0, ddof=1)[at - 1]
            np.testing.assert_allclose(curves.spread[k], spread, atol=1e-9)
        regrets = np.array([outcome.best_regret for outcome in outcomes])
        assert trace.highest_regret[k] == regrets.max()
        np.testing.assert_allclose(
            trace.part_regret[k], regrets.reshape(4, 3, 100).mean(axis=2), atol=1e-12
        )
        assert trace.weights is not None
        assert trace.quantile_regret is not None
        states = [hedger.run(games[0][:t]).state for t in at]
        np.testing.assert_array_equal(trace.weights[k], [state.weights for state in states])
        quantiles = np.mean(
            [[hedger.run(game[:t]).state.quantile_regret(0.25) for t in at] for game in games], 0
        )
        np.testing.assert_allclose(trace.quantile_regret.mean[k], quantiles, atol=1e-12)


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads() -> None:
    traces = [play(HEDGERS, NATURE, 200, 9, seed=5, jobs=jobs) for jobs in (1, 2, 5)]
    for other in traces[1:]:
        np.testing.assert_array_equal(traces[0].regret.mean, other.regret.mean)
        np.testing.assert_array_equal(traces[0].gain.spread, other.gain.spread)
    different = play(HEDGERS, NATURE, 200, 9, seed=6)
    assert not np.array_equal(different.regret.mean, traces[0].regret.mean)


def test_hedgers_meet_the_same_gains() -> None:
    twins = {"one": NormalHedge(0.1), "two": NormalHedge(0.1)}
    trace = play(twins, IndependentCoins(5), 100, 3)
    np.testing.assert_array_equal(trace.regret.mean[0], trace.regret.mean[1])


def test_a_sequence_of_hedgers_is_called_what_it_prints_as() -> None:
    trace = play([NormalHedge(0.1)], IndependentCoins(3), 5)
    assert trace.hedgers == ("NormalHedge(alpha=0.1, c=1.0)",)
    assert trace.regret.spread.max() == 0.0


def test_progress_is_told_of_every_round() -> None:
    told: list[float] = []
    play(HEDGERS, NATURE, 130, 6, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 6


class TooShort:
    """Somebody's nature, with a mistake."""

    experts = 2

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        yield rng.choice([-1.0, 1.0], (rounds - 1, 2))


def test_somebody_elses_nature() -> None:
    with pytest.raises(ValueError, match="gave 9 rounds of gains and not 10"):
        play([NormalHedge(0.1)], TooShort(), 10)


def test_memory_does_not_grow_with_the_rounds_that_are_not_recorded() -> None:
    hedgers = {str(c): NormalHedge(0.01, c) for c in (0.6, 1.0, 2.0, 4.0)}
    play(hedgers, IndependentCoins(2), 1000, every=1000)
    tracemalloc.start()
    play(hedgers, IndependentCoins(2), 2_000_000, every=2_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6  # the blocks, and not four times 48 MB


def test_parts_need_not_divide_the_rounds() -> None:
    trace = play(HEDGERS, NATURE, 103, 2, parts=4)
    game = runs_by_hand(2, 103)[1]
    regret = HEDGERS["normal"].run(game).best_regret
    expected = [regret[a:b].mean() for a, b in ((0, 25), (25, 51), (51, 77), (77, 103))]
    np.testing.assert_allclose(trace.part_regret[0, 1], expected)


class TooLong(TooShort):
    """Another mistake."""

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        yield rng.choice([-1.0, 1.0], (rounds + 1, 2))


def test_a_nature_that_does_not_stop() -> None:
    with pytest.raises(ValueError, match="gave more than 10 rounds"):
        play([NormalHedge(0.1)], TooLong(), 10)


def test_an_error_in_a_thread_is_told() -> None:
    bad = np.zeros((10, 2))
    bad[7, 1] = math.nan
    with pytest.raises(ValueError, match="round 8 of expert 1 is nan"):
        play([NormalHedge(0.1)], Replay(bad), 10, runs=5, jobs=3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rounds": 0}, "rounds must be at least 1, got 0"),
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"every": 11}, "at most rounds = 10"),
        ({"parts": 11}, "at most rounds = 10"),
        ({"quantile": 0.0}, r"quantile must be in \(0, 1\]"),
        ({"hedgers": []}, "at least one hedger"),
        ({"hedgers": [NormalHedge(0.1), NormalHedge(0.1)]}, "hedgers must differ"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
    ],
)
def test_bad_settings(options: dict[str, object], words: str) -> None:
    arguments: dict[str, object] = {"hedgers": HEDGERS, "nature": NATURE, "rounds": 10}
    with pytest.raises(ValueError, match=words):
        play(**(arguments | options))  # type: ignore[arg-type]


def test_play_takes_every_hedger_by_name() -> None:
    made = {name: named(name, 20, alpha=0.05) for name in NAMES if name != "hedge-fixed"}
    nature = GoodAndBad(experts=20, gamma=0.4, f=0.1, alpha=0.05)
    trace = play(made, nature, 100, runs=2, every=10, quantile=0.1, keep_weights=True, jobs=1)
    assert trace.regret.mean.shape == (len(made), 10)
    assert np.isfinite(trace.regret.mean).all()
    assert np.isfinite(trace.highest_regret).all()
    known = {name for name, hedger in made.items() if hedger.has_potential}
    for name, highest in zip(trace.hedgers, trace.highest_potential, strict=True):
        assert np.isfinite(highest) == (name in known)
