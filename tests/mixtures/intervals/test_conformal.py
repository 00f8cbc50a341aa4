"""Intervals: the core against its equations, laws, and a table against a loop."""

import json
from collections import deque

import numpy as np
import numpy.typing as npt
import pytest

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.intervals import Conformal
from tests.mixtures.intervals.oracle import Oracle


def residuals(seed: int, rounds: int) -> Floats:
    """Numbers whose spread changes, with ties, spikes and a bias."""
    rng = np.random.default_rng(seed)
    spread = np.exp(0.03 * np.cumsum(rng.normal(size=rounds)))
    y = spread * rng.normal(size=rounds) + 0.3
    y[rng.random(rounds) < 0.02] *= 1e4
    return np.asarray(np.where(rng.random(rounds) < 0.1, y.round(), y))


def play(
    intervals: Conformal, center: npt.NDArray[np.float64], outcomes: Floats, lag: int
) -> tuple[Floats, Floats, Floats]:
    """Return the bounds and the games of a loop over rounds."""
    games, waiting = intervals.init(), deque[tuple[Floats, float]]()
    low, high = np.empty((2, len(outcomes), len(intervals.levels)))
    for t, outcome in enumerate(outcomes):
        if len(waiting) > lag:
            games = intervals.observe(games, *waiting.popleft(), late=lag)
        told = intervals.predict(games, center[t], moment=t)
        low[t], high[t] = told.low, told.high
        waiting.append((told.token, float(outcome)))
    if len(waiting) > lag:
        games = intervals.observe(games, *waiting.popleft(), late=lag)
    return low, high, games


CASES = [
    ((0.9,), None, False, 0),
    ((0.5, 0.8, 0.99), None, False, 5),
    ((0.9,), 7, False, 0),
    ((0.6, 0.9), 4, False, 30),
    ((0.9,), None, True, 0),
    ((0.5, 0.9), 7, True, 11),
]


@pytest.mark.parametrize(("levels", "season", "quantiles", "lag"), CASES)
def test_the_core_computes_its_equations(
    levels: tuple[float, ...], season: int | None, quantiles: bool, lag: int
) -> None:
    rounds = 400
    y = residuals(1, rounds)
    rng = np.random.default_rng(2)
    center = rng.normal(size=rounds)
    half = np.sort(np.exp(rng.normal(size=(rounds, len(levels)))), axis=1)
    bounds = np.stack([center[:, None] - half, center[:, None] + 1.5 * half], axis=-1)
    intervals = Conformal(levels, season, quantiles)
    run = intervals.run(bounds if quantiles else center, center + y, lag=lag)

    oracle = Oracle(levels, season or 0, quantiles=quantiles)
    waiting = deque[tuple[object, float]]()
    for t in range(rounds):
        if len(waiting) > lag:
            oracle.observe(*waiting.popleft(), late=lag)
        bases = [(float(b[0]), float(b[1])) for b in bounds[t]]
        if not quantiles:
            bases = [(center[t], center[t])] * len(levels)
        pairs, token = oracle.predict(bases, t)
        waiting.append((token, float(center[t] + y[t])))
        assert run.low[t] == pytest.approx([low for low, _ in pairs], rel=1e-7, abs=1e-7), t
        assert run.high[t] == pytest.approx([high for _, high in pairs], rel=1e-7, abs=1e-7), t


@pytest.mark.parametrize(("levels", "season", "quantiles", "lag"), CASES)
def test_a_table_is_a_loop_to_the_bit(
    levels: tuple[float, ...], season: int | None, quantiles: bool, lag: int
) -> None:
    y = residuals(3, 300)
    center = np.zeros((300, len(levels), 2)) if quantiles else np.linspace(-1.0, 1.0, 300)
    center[..., 1:] += 0.5 * quantiles
    intervals = Conformal(levels, season, quantiles)
    run = intervals.run(center, y, lag=lag)
    low, high, games = play(intervals, center, y, lag)
    assert np.array_equal(run.low, low)
    assert np.array_equal(run.high, high)
    assert np.array_equal(run.games, games)


def test_outcomes_come_in_any_order_or_never() -> None:
    rng = np.random.default_rng(4)
    rounds = 400
    y, game = rng.normal(size=rounds), rng.integers(0, 3, size=rounds)
    known_at = np.arange(rounds) + 1 + rng.integers(0, 40, size=rounds)
    known_at[rng.random(rounds) < 0.1] = rounds + 1
    y[rng.random(rounds) < 0.05] = np.nan
    intervals = Conformal((0.5, 0.9), season=5)
    run = intervals.run(np.zeros(rounds), y, known_at=known_at, game=game)

    games = intervals.init(3)
    tokens: dict[int, Floats] = {}
    for t in range(rounds + 1):
        for j in np.flatnonzero(known_at == t).tolist():
            late = int(np.sum(game[j + 1 : t] == game[j]))
            games = intervals.observe(games, tokens.pop(j), y[j], int(game[j]), late)
        if t < rounds:
            told = intervals.predict(games, 0.0, game=int(game[t]), moment=t)
            tokens[t] = told.token
            assert np.array_equal(run.low[t], told.low)
            assert np.array_equal(run.high[t], told.high)
    assert np.array_equal(run.games, games)


def test_games_do_not_know_each_other() -> None:
    y = np.stack([residuals(5, 200), residuals(6, 200)], axis=1)
    intervals = Conformal()
    game, known_at = np.tile([0, 1], 200), np.minimum(np.arange(400) + 2, 400)
    together = intervals.run(np.zeros(400), y.ravel(), game=game, known_at=known_at)
    for k in range(2):
        alone = intervals.run(np.zeros(200), y[:, k])
        assert np.array_equal(together.low[k::2], alone.low)
        assert np.array_equal(together.games[k], alone.games[0])


def test_several_rounds_at_once_are_each_by_itself() -> None:
    intervals = Conformal((0.5, 0.9), season=3)
    games = intervals.run(np.zeros(90), residuals(7, 90), game=np.arange(90) % 3).games
    centers, which, moments = np.array([1.0, -2.0, 5.0]), np.array([2, 0, 1]), np.array([5, 6, 7])
    told = intervals.predict(games, centers, which, moments)
    after = intervals.observe(games, told.token, [0.0, 1.0, 2.0], which, late=4)
    for j in range(3):
        one = intervals.predict(games, centers[j], int(which[j]), int(moments[j]))
        assert np.array_equal(told.low[j], one.low)
        assert np.array_equal(told.high[j], one.high)
        single = intervals.observe(games, one.token, float(j), int(which[j]), 4)
        assert np.array_equal(after[which[j]], single[which[j]])


def test_observe_changes_nothing_unless_in_place() -> None:
    intervals = Conformal()
    games = intervals.init(2)
    before = games.copy()
    told = intervals.predict(games, 1.0)
    after = intervals.observe(games, told.token, 2.0)
    assert np.array_equal(games, before)
    assert intervals.observe(games, told.token, 2.0, in_place=True) is games
    assert np.array_equal(games, after)
    assert not np.array_equal(games, before)


def test_games_and_tokens_survive_json_to_the_bit() -> None:
    y = residuals(8, 300)
    intervals = Conformal((0.8, 0.95), season=7)
    first = intervals.run(np.zeros(150), y[:150])
    told = intervals.predict(first.games, 0.0, moment=150)
    games = np.array(json.loads(json.dumps(first.games.tolist())))
    token = np.array(json.loads(json.dumps(told.token.tolist())))
    assert np.array_equal(games, first.games)
    learned = intervals.observe(games, token, y[150])
    rest = intervals.run(np.zeros(149), y[151:], games=learned, moment=np.arange(151, 300))
    whole = intervals.run(np.zeros(300), y)
    assert np.array_equal(rest.low, whole.low[151:])
    assert np.array_equal(rest.games, whole.games)


def test_intervals_of_several_levels_are_nested() -> None:
    intervals = Conformal((0.99, 0.5, 0.9, 0.1))
    assert intervals.levels == (0.1, 0.5, 0.9, 0.99)
    for seed in range(20):
        run = intervals.run(np.zeros(2000), residuals(seed, 2000), lag=seed)
        assert (run.low <= run.high).all()
        assert (run.low[:, 1:] <= run.low[:, :-1]).all()
        assert (run.high[:, 1:] >= run.high[:, :-1]).all()


def test_units_and_signs_do_not_matter() -> None:
    y = residuals(9, 1000)
    intervals = Conformal((0.5, 0.9), season=7)
    run = intervals.run(np.zeros(1000), y, lag=3)
    scaled = intervals.run(np.zeros(1000), 1024.0 * y, lag=3)
    assert np.array_equal(scaled.high, 1024.0 * run.high)
    mirrored = intervals.run(np.zeros(1000), -y, lag=3)
    assert np.array_equal(mirrored.low, -run.high)
    assert np.array_equal(mirrored.high, -run.low)
    moved = intervals.run(np.full(1000, 5.0), 5.0 + y, lag=3)
    assert moved.high[1:] == pytest.approx(5.0 + run.high[1:], rel=1e-6)


def test_a_game_without_outcomes_has_infinite_intervals() -> None:
    intervals = Conformal((0.5, 0.9))
    run = intervals.run(np.zeros(50), residuals(10, 50), lag=9)
    assert np.isneginf(run.low[:10]).all()
    assert np.isposinf(run.high[:10]).all()
    assert np.isfinite(run.low[10:]).all()
    assert intervals.counts(run.games)[0, :, 0].tolist() == [31.0, 31.0]


def test_bounds_are_themselves_before_the_first_outcome() -> None:
    intervals = Conformal((0.5, 0.9), quantiles=True)
    told = intervals.predict(intervals.init(), [(-1.0, 1.0), (3.0, -2.0)])
    assert told.low.tolist() == [-1.0, -2.0]
    assert told.high.tolist() == [1.0, 3.0]


def test_a_forecast_that_is_not_a_number_has_no_interval_and_teaches_nothing() -> None:
    intervals = Conformal()
    games = intervals.run(np.zeros(20), residuals(11, 20)).games
    told = intervals.predict(games, np.nan)
    assert np.isnan(told.low).all()
    assert np.isnan(told.high).all()
    assert np.array_equal(intervals.observe(games, told.token, 1.0), games)
    told = intervals.predict(games, 0.0)
    assert np.array_equal(intervals.observe(games, told.token, np.nan), games)


@pytest.mark.parametrize(("levels", "season", "quantiles", "lag"), CASES)
def test_a_table_may_be_cut_anywhere(
    levels: tuple[float, ...], season: int | None, quantiles: bool, lag: int
) -> None:
    # Rounds of two games; those that wait at the cut are the first of the second table.
    rounds, cut = 120, 70
    y, rng = residuals(3, rounds), np.random.default_rng(4)
    center = rng.normal(size=(rounds, len(levels), 2)) if quantiles else rng.normal(size=rounds)
    game = rng.integers(0, 2, size=rounds)
    intervals = Conformal(levels, season, quantiles)
    whole = intervals.run(center, y, lag=lag, game=game, games=intervals.init(2))
    known = np.arange(rounds) + 1 + lag
    first = intervals.run(
        center[:cut], y[:cut], known_at=np.where(known[:cut] <= cut, known[:cut], cut + 1),
        game=game[:cut], games=intervals.init(2),
    )  # fmt: skip
    np.testing.assert_array_equal(first.waiting, np.arange(cut)[cut - lag :])
    both = np.r_[first.waiting, cut:rounds]
    second = intervals.run(
        center[both], y[both], known_at=np.maximum(known[both], cut + 1) - cut + lag,
        game=game[both], moment=both, games=first.games, tokens=first.tokens,
        numbers=first.numbers, predicted=first.predicted,
    )  # fmt: skip
    np.testing.assert_array_equal(second.games, whole.games)
    np.testing.assert_array_equal(second.predicted, np.bincount(game))
    for name in ("low", "high"):
        expected, found = getattr(whole, name), getattr(second, name)
        np.testing.assert_array_equal(getattr(first, name), expected[:cut])
        np.testing.assert_array_equal(found, expected[both])


def test_there_is_no_interval_without_a_forecast() -> None:
    intervals = Conformal((0.5, 0.9))
    for games in (intervals.init(), intervals.run([1.0, 2.0], [1.5, 1.0]).games):
        told = intervals.predict(games, np.nan)
        assert np.isnan([told.low, told.high]).all()
        np.testing.assert_array_equal(intervals.observe(games, told.token, 1.0), games)
