"""Functions of the core that are called with arrays: whatever comes in, a sentence and no crash."""

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge, _core
from normalhedge.latent import random_categorical_bank
from normalhedge.mixtures.intervals import LONGEST_SEASON, Conformal

T, N, K = 6, 5, 3


def arguments() -> dict[str, tuple[Any, ...]]:
    """Return arguments that fit, for each function."""
    rng = np.random.default_rng(0)
    bank = random_categorical_bank(N, K, 2, rng)
    gains, scores = rng.uniform(-1.0, 1.0, (T, N)), bank.emission[1]
    beliefs = np.tile(bank.initial, (T + 1, 1, 1))
    forecasts, outcomes = rng.random((T, K, N)), np.array([0.0, 1.0, 2.0, np.nan, 0.0, 1.0])
    items, levels = np.arange(T, dtype=np.int32), np.array([0.5])
    sizes = np.array([1.0, 2.0])
    moves = np.array(list(itertools.product([-1.0, 1.0], repeat=2)))
    path, room = np.array([0, 3, 1], dtype=np.int16), 40
    hedger = NormalHedge(0.1)
    game = hedger.init(N)
    return {
        "best_sequence": (gains, 2, np.empty(T, dtype=np.int64)),
        "explore_groups": (
            sizes, moves, 0.1, 1.0, -0.5, 0.5, 8, path, 5, np.empty(64, dtype=np.int32),
            np.empty((room, 2)), np.empty(room), np.empty(room, dtype=np.int32),
            np.empty(room, dtype=np.int16),
        ),
        "fill_sleepers": (
            forecasts, outcomes, items, levels, "log", "mean", np.empty_like(forecasts)
        ),
        "filter_observe": (bank.init(), scores, bank.transition, 1.0),
        "filter_run": (
            beliefs, np.tile(scores, (T, 1, 1)), np.zeros(T), bank.transition, 1.0,
            np.zeros((T + 1, N)),
        ),
        "follow_groups": (sizes, np.ones((T, 2)), 0.1, 1.0, np.empty(T), np.empty(T)),
        "hold_groups": (sizes, 0.4, 0.1, 0.1, 1.0, 3, 4, np.empty((T, 2), dtype=np.int8)),
        "leads": (gains, 0.9, np.empty(T)),
        "run_with_gaps": (
            hedger._engine, game.weights, game.ledger, game.totals, gains, np.ones((T, N)),
            np.zeros(T), np.empty((T, N)),
        ),
        "write_loss_table": (
            forecasts, outcomes, items, levels, "l1", "mean", np.empty((T, N))
        ),
        "write_slope_table": (
            forecasts, outcomes, items, levels, "l1", np.empty_like(forecasts)
        ),
    }  # fmt: skip


FUNCTIONS = sorted(arguments())


FREE = {
    ("best_sequence", 0, 1),  # experts
    ("explore_groups", 1, 0),  # moves
    ("explore_groups", 7, 0),  # the length of a path
    ("fill_sleepers", 3, 0),  # levels
    ("hold_groups", 7, 0),  # rounds
    ("leads", 0, 1),  # experts
    ("write_loss_table", 0, 1),
    ("write_loss_table", 3, 0),
    ("write_slope_table", 3, 0),
}
"""Axes of arrays that may have any length, as nothing else has to be as long."""


def misshapen(array: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return arrays that have another length along one axis, and that axis."""
    found = []
    for axis, length in enumerate(array.shape):
        for other in {0, length - 1, length + 1, 2 * length} - {length, -1}:
            shape = (*array.shape[:axis], other, *array.shape[axis + 1 :])
            found.append((axis, np.resize(array, shape).astype(array.dtype)))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_fits_is_taken(name: str) -> None:
    getattr(_core, name)(*arguments()[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_does_not_fit_is_refused(name: str) -> None:
    function: Callable[..., Any] = getattr(_core, name)
    for place, argument in enumerate(arguments()[name]):
        for axis, wrong in misshapen(argument) if isinstance(argument, np.ndarray) else []:
            given = list(arguments()[name])
            given[place] = wrong
            if (name, place, axis) in FREE:
                with contextlib.suppress(ValueError):
                    function(*given)
            else:
                with pytest.raises(ValueError, match="must"):
                    function(*given)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_such_array_is_refused(name: str) -> None:
    function: Callable[..., Any] = getattr(_core, name)
    for place, argument in enumerate(arguments()[name]):
        wrongs: list[Any] = [None, 1j, b"no"]
        if isinstance(argument, np.ndarray):
            wrongs += [argument.tolist(), argument.astype(np.complex128), argument[..., np.newaxis]]
            if min(argument.shape) > 1 < argument.ndim:
                wrongs.append(np.asfortranarray(argument))
        for wrong in wrongs:
            if wrong is None and (name, place) == ("filter_observe", 1):
                continue  # a missing observation
            given = list(arguments()[name])
            given[place] = wrong
            with pytest.raises(TypeError):
                function(*given)
    with pytest.raises(TypeError, match="arguments, got 0"):
        function()


@pytest.mark.parametrize(
    ("name", "place", "wrong"),
    [
        ("best_sequence", 1, -1),
        ("best_sequence", 1, T),
        ("explore_groups", 5, 0.0),
        ("explore_groups", 6, 0),
        ("explore_groups", 6, 2**62),
        ("explore_groups", 7, np.array([4], dtype=np.int16)),
        ("explore_groups", 7, np.array([-1], dtype=np.int16)),
        ("hold_groups", 5, -1),
        ("hold_groups", 6, -1),
        ("fill_sleepers", 1, np.full(T, 3.0)),
        ("fill_sleepers", 1, np.full(T, -1.0)),
        ("fill_sleepers", 4, "cube"),
        ("fill_sleepers", 3, np.empty(0)),
        ("write_loss_table", 2, np.zeros(T + 1, dtype=np.int32)),
        ("write_loss_table", 5, "mode"),
    ],
)
def test_what_is_out_of_range_is_refused(name: str, place: int, wrong: Any) -> None:
    given = list(arguments()[name])
    given[place] = wrong
    with pytest.raises(ValueError, match=r"must|core"):
        getattr(_core, name)(*given)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf, 1e308, 0.0])
def test_strange_numbers_do_no_harm(name: str, strange: float) -> None:
    function: Callable[..., Any] = getattr(_core, name)
    for place, argument in enumerate(arguments()[name]):
        given = list(arguments()[name])
        if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
            given[place] = np.full_like(argument, strange)
        elif isinstance(argument, float):
            given[place] = strange
        else:
            continue
        try:
            function(*given)
        except ValueError as error:
            assert "must" in str(error)  # noqa: PT017


def test_rounds_out_of_range_are_not_played() -> None:
    given = list(arguments()["run_with_gaps"])
    given[4][3, 2] = 1.5
    assert _core.run_with_gaps(*given)[0] == 3


@pytest.mark.parametrize("season", [LONGEST_SEASON + 1.0, 2.0**63, 2.0**64, np.inf, np.nan, -1.0])
def test_a_season_that_no_game_has_room_for_is_refused(season: float) -> None:
    settings = Conformal().settings.copy()
    settings[0] = season
    calls: list[Callable[[], object]] = [
        lambda: _core.conformal_sizes(settings),
        lambda: _core.conformal_begin(settings, np.empty((1, 10))),
        lambda: _core.conformal_predict_one(settings, np.empty((1, 10)), 1.0, 0, 0, tuple),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="season of intervals must be at most 1000000"):
            call()


def test_the_longest_season_has_a_size() -> None:
    assert Conformal(season=LONGEST_SEASON).sizes[0] > 2 * LONGEST_SEASON


@pytest.mark.parametrize("kind", [int, list, 7, None])
def test_an_interval_of_no_tuple_is_refused(kind: Any) -> None:
    intervals = Conformal()
    with pytest.raises(TypeError, match="must be a type of tuples"):
        _core.conformal_predict_one(intervals.settings, intervals.init(), 1.0, 0, 0, kind)


def test_the_gamma_function_ends_for_every_number() -> None:
    result = np.empty(5)
    _core.log_gamma(np.array([-1e300, -np.inf, -0.5, np.nan, 0.5]), result)
    np.testing.assert_allclose(result, [np.nan] * 4 + [0.5 * np.log(np.pi)], rtol=1e-14)
