"""The game in continuous time, beside the game in rounds."""

import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.research.games import IndependentCoins, play
from normalhedge.research.games.attacks import hold
from normalhedge.research.games.continuous import drift, simulate, two_experts, weights


def test_weights_are_those_of_the_hedger() -> None:
    hedger = NormalHedge(0.04, c=1.3)
    gains = np.random.default_rng(0).uniform(-1.0, 1.0, (30, 6))
    state = hedger.run(gains).state
    np.testing.assert_allclose(
        weights(0.2 * state.regrets[None, :], 1.3)[0], state.weights, atol=1e-12
    )
    np.testing.assert_array_equal(weights(-np.ones((1, 4)), 1.0), [[0.25] * 4])


def test_halves_in_turns_reach_the_limit() -> None:
    for c in (0.75, 1.0):
        limit = math.exp(1.0 / (4.0 * c - 2.0))
        paths = [simulate(2, c, "turns", time=12.0, step=step) for step in (1e-2, 1e-3)]
        errors = [abs(path.potential[0, -1] - limit) for path in paths]
        assert errors[1] < 0.3 * errors[0] < 0.1


def test_coins_are_the_game_of_coins() -> None:
    """A path of step alpha has the potential of a game of fair coins, in the mean."""
    alpha, n = 0.01, 10
    paths = simulate(n, 1.0, "coins", time=5.0, step=alpha, paths=400)
    trace = play(NormalHedge(alpha), IndependentCoins(n), 500, runs=400, jobs=1)
    ends = paths.leader[:, -1], trace.final_regret[0] * math.sqrt(alpha)
    error = math.hypot(*(end.std() / 20.0 for end in ends))
    assert abs(ends[0].mean() - ends[1].mean()) < 4.0 * error
    np.testing.assert_allclose(paths.times[-1], 5.0)
    shared = simulate(n, 1.0, "shared", time=5.0, step=alpha, paths=5)
    np.testing.assert_allclose(shared.regrets[:, :5], shared.regrets[:, :1].repeat(5, axis=1))


@pytest.mark.parametrize("c", [0.75, 1.0, 2.0, 4.0])
def test_the_value_on_an_independent_grid(c: float) -> None:
    """Nowhere on a square grid of two regrets at or above the value does the potential rise."""
    value = two_experts(c)
    x, y = np.meshgrid(*[np.linspace(1e-4, 4.0, 1201)] * 2)
    level = 0.5 * (np.exp(x**2 / (2 * c)) + np.exp(y**2 / (2 * c)))
    w, v = (z / c * np.exp(z**2 / (2 * c)) for z in (x, y))
    bends = ((1 / c + (z / c) ** 2) * np.exp(z**2 / (2 * c)) for z in (x, y))
    bend_x, bend_y = bends
    rise = 2 * (bend_x * v**2 + bend_y * w**2) / (w + v) ** 2 - x * w - y * v
    near = 2.0 * (4.0 / 1200) * np.sqrt(np.maximum(level - 1.0, 1e-12)) * level / c
    assert (rise[level > value.potential + value.error] <= 1e-9).all()
    assert level[rise > 0.0].max() > value.potential - value.error - near[rise > 0.0].max()
    share = np.array([np.expm1(value.regrets[0] ** 2 / (2 * c)) / (2 * (value.potential - 1.0))])
    assert abs(drift(value.potential, share, c)[0]) < 1e-6


@pytest.mark.parametrize(("c", "rates"), [(1.0, (0.04, 0.0025)), (2.0, (0.0025, 1e-4))])
def test_the_value_and_the_attacks_in_rounds_meet(c: float, rates: tuple[float, ...]) -> None:
    value = two_experts(c).potential
    gaps = [abs(hold(alpha, 2, c).potential - value) / (value - 1.0) for alpha in rates]
    assert gaps[1] < 0.35 * gaps[0]
    assert gaps[1] < 0.025


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_experts": 1}, "n_experts must be at least 2"),
        ({"c": 0.5}, "c must be strictly between 0.5"),
        ({"step": 0.2}, "step must be in"),
        ({"step": 0.0}, "step must be in"),
        ({"time": 0.0}, "time must be in"),
        ({"paths": 0}, "paths must be at least 1"),
        ({"drive": "storm"}, "drive must be one of coins, shared, turns, got 'storm'"),
    ],
)
def test_simulators_refuse(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        simulate(**({"n_experts": 3, "c": 1.0} | options))  # type: ignore[arg-type]


def test_a_c_without_a_value() -> None:
    for c in (0.5, 0.5003):
        with pytest.raises(ValueError, match="c must be"):
            two_experts(c)
