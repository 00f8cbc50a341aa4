"""Wrong arguments of intervals get a sentence, and change nothing."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge.mixtures.intervals import Conformal


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Conformal(levels=()), "at least one level"),
        (lambda: Conformal(levels=(0.9, 1.0)), "strictly between 0 and 1"),
        (lambda: Conformal(levels=(90,)), "strictly between 0 and 1, got 90"),
        (lambda: Conformal(levels=(0.9, 0.9)), "levels must differ"),
        (lambda: Conformal(levels="90%"), "levels must be numbers"),  # type: ignore[arg-type]
        (lambda: Conformal(levels=(None,)), "a level must be a number"),  # type: ignore[arg-type]
        (lambda: Conformal(season=1), "at least 2 rounds"),
        (lambda: Conformal(season=0), "season must be at least 1"),
        (lambda: Conformal(season=10**6 + 1), "season must be at most 1,000,000, got 1000001"),
        (lambda: Conformal(season=2**63), "season must be at most 1,000,000"),
        (lambda: Conformal(season=2.5), "season must be a whole number"),  # type: ignore[arg-type]
        (lambda: Conformal().init(0), "games must be at least 1"),
        (lambda: Conformal().bound(0), "rounds must be at least 1"),
        (lambda: Conformal().bound(10, -1), "delay must be a finite number >= 0"),
    ],
)
def test_settings(make: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"center": "1"}, "center must be real numbers"),
        ({"center": [[1.0, 2.0]]}, "with quantiles=True, bounds are accepted"),
        ({"game": 2}, "game must be from 0 to 1, got 2"),
        ({"game": -1}, "game must be from 0 to 1, got -1"),
        ({"game": 0.5}, "game must be whole numbers"),
        ({"game": [0, 1]}, "game must be one whole number, or 1"),
        ({"moment": 1.5}, "moment must be whole numbers"),
        ({"games": [[0.0]]}, "games must be a float64 array of"),
        ({"games": np.zeros((2, 3))}, "that init of the same Conformal returned"),
    ],
)
def test_predict(arguments: dict[str, Any], words: str) -> None:
    intervals = Conformal()
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        intervals.predict(**{"games": intervals.init(2), "center": 1.0, **arguments})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"token": [1.0, 2.0]}, "numbers that predict of the same Conformal returned"),
        ({"token": np.full(34, -1.0)}, "a token of intervals is damaged"),
        ({"token": np.full(34, np.nan)}, "a token of intervals is damaged"),
        ({"outcome": "1"}, "outcome must be real numbers"),
        ({"outcome": [1.0, 2.0]}, "outcome must be one number for each token, 1, got (2,)"),
        ({"outcome": None}, "outcome must be real numbers"),
        ({"late": -1}, "late must be at least 0, got -1"),
        ({"late": 0.5}, "late must be whole numbers"),
        ({"game": 7}, "game must be from 0 to 1, got 7"),
    ],
)
@pytest.mark.parametrize("in_place", [False, True])
def test_observe(arguments: dict[str, Any], words: str, in_place: bool) -> None:
    intervals = Conformal()
    games = intervals.init(2)
    before = games.copy()
    told = intervals.predict(games, 1.0)
    given: dict[str, Any] = {"token": told.token, "outcome": 1.0, **arguments}
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        intervals.observe(games, **given, in_place=in_place)
    assert np.array_equal(games, before)


def test_a_read_only_state_is_not_changed_in_place() -> None:
    intervals = Conformal()
    games = intervals.init()
    told = intervals.predict(games, 1.0)
    games.flags.writeable = False
    with pytest.raises(ValueError, match="must be writeable"):
        intervals.observe(games, told.token, 1.0, in_place=True)
    intervals.observe(games, told.token, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"center": 1.0}, "center must have a row for each round"),
        ({"outcomes": [1.0]}, "outcomes must be one number for each center, 3, got (1,)"),
        ({"lag": -1}, "lag must be at least 1"),
        ({"lag": 1.5}, "lag must be a whole number"),
        ({"known_at": [1, 1, 3]}, "known_at must be after the round itself, got 1 for round 1"),
        ({"known_at": [1, 2, 3], "lag": 1}, "give one of them"),
        ({"known_at": [1]}, "known_at must be one whole number, or 3"),
        ({"game": [0, 1, -1]}, "game must be from 0 to"),
        ({"moment": [0.0, 1.0, 2.0]}, "moment must be whole numbers"),
    ],
)
def test_run(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"center": [1.0, 2.0, 3.0], "outcomes": [1.0, 2.0, 3.0], **arguments}
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        Conformal().run(**given)


def test_pairs_must_fit_the_levels() -> None:
    intervals = Conformal((0.5, 0.9), quantiles=True)
    with pytest.raises(ValueError, match=re.escape("shape (2, 2)")):
        intervals.predict(intervals.init(), [0.0, 1.0])
    single = Conformal(quantiles=True)
    assert single.predict(single.init(), (0.0, 1.0)).high.tolist() == [1.0]


def test_one_level_may_be_a_number() -> None:
    assert Conformal(0.8) == Conformal((0.8,))  # type: ignore[arg-type]


def test_a_table_without_rounds_is_empty() -> None:
    run = Conformal((0.5, 0.9)).run([], [])
    assert run.low.shape == (0, 2)
    assert run.games.shape[0] == 1
