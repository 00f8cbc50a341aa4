"""What natures and attacks refuse."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.research.games import (
    Blocks,
    BreakAway,
    GoodAndBad,
    Greedy,
    IndependentCoins,
    Replay,
)
from normalhedge.research.games.attacks import attack, break_away, explore, hold
from tests.research.games.natures.examples import drawn

ATTACKS_OFF: list[tuple[Callable[[], object], str]] = [
    (lambda: attack(0.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 0.0"),
    (lambda: attack(1.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 1.0"),
    (lambda: attack(math.nan, 2, 1.0), "alpha must be strictly between 0 and 1, got nan"),
    (lambda: attack(0.1, 2, 0.0), "c must be a finite number > 1e-300, got 0.0"),
    (lambda: attack(0.1, 2, math.inf), "c must be a finite number > 1e-300, got inf"),
    (lambda: attack(0.1, 0, 1.0), "n_experts must be at least 1, got 0"),
    (
        lambda: attack(0.1, 2, 1.0, goal="fame"),  # type: ignore[arg-type]
        "goal must be one of potential, regret, got 'fame'",
    ),
    (lambda: hold(0.1, 2, 1.0, "fame"), "goal must be one of"),  # type: ignore[arg-type]
    (lambda: explore(0.1, (1, 1), 1.0, "fame"), "goal must be one of"),  # type: ignore[arg-type]
    (lambda: hold(2.0, 2, 1.0), "alpha must be strictly between 0 and 1, got 2.0"),
    (lambda: hold(0.1, 1, 1.0), "n_experts must be at least 2, got 1"),
    (lambda: break_away(0.1, 1, 1.0), "n_experts must be at least 2, got 1"),
    (lambda: break_away(0.1, 4, 1.0, leaders=3), "leaders must be at most half"),
    (lambda: break_away(0.1, 4, 1.0, half=4), "half less than n_experts"),
    (lambda: break_away(0.1, 4, -1.0), "c must be a finite number"),
    (lambda: break_away(0.1, 4, 1.0, alternate=-1.0), "alternate must be a finite number > 0"),
    (lambda: explore(0.1, (1,), 1.0), "sizes must be of two or three groups, got 1"),
    (lambda: explore(0.1, (1, 0), 1.0), "sizes must be at least 1, got 0"),
    (lambda: explore(0.1, (1, 1), 1.0, width=0.0), "width must be a finite number > 0"),
    (lambda: explore(0.1, (1, 1), 1.0, width=1e-6), "width must be at least 0.0.* here, got 1e-06"),
    (lambda: explore(0.1, (1, 1), 1.0, rounds=0), "rounds must be at least 1, got 0"),
    (lambda: explore(0.1, (1, 1), 1.0, start=np.ones((2, 3))), "start must have a column for each"),
    (lambda: explore(0.1, (1, 1), 1.0, start=np.zeros((2, 2))), "gains that are among levels"),
    (lambda: explore(0.1, (1, 1), 1.0, levels=()), r"levels must be numbers in \[-1, 1\]"),
    (lambda: explore(0.1, (1, 1), 1.0, levels=(2.0,)), r"levels must be numbers in \[-1, 1\]"),
]


NATURES_OFF: list[tuple[Callable[[], object], str]] = [
    (lambda: GoodAndBad(10, 1.2, 0.1, 0.01), r"gamma must be in \[0, 1\], got 1.2"),
    (lambda: GoodAndBad(10, -0.1, 0.1, 0.01), r"gamma must be in \[0, 1\], got -0.1"),
    (lambda: GoodAndBad(10, 0.2, 0.0, 0.01), r"f must be in \(0, 1\], got 0.0"),
    (lambda: GoodAndBad(10, 0.2, 1.1, 0.01), r"f must be in \[0, 1\], got 1.1"),
    (lambda: GoodAndBad(10, 0.2, 0.05, 0.01), "at least one good expert"),
    (lambda: GoodAndBad(0, 0.2, 0.1, 0.01), "experts must be at least 1, got 0"),
    (lambda: GoodAndBad(10, 0.2, 0.1, 1.0), "alpha must be strictly between 0 and 1"),
    (lambda: IndependentCoins(10, 0.2, 0.05), "at least one good expert"),
    (lambda: BreakAway(1, 0.1), "experts must be at least 2, got 1"),
    (lambda: Blocks(1, 3), "experts must be at least 2, got 1"),
    (lambda: Blocks(2, 0), "block must be at least 1, got 0"),
    (lambda: Greedy(1, NormalHedge(0.1)), "experts must be at least 2, got 1"),
    (lambda: Replay(np.zeros((0, 3))), r"got shape \(0, 3\)"),
    (lambda: Replay(np.zeros(3)), r"got shape \(3,\)"),
    (lambda: drawn(Replay(np.zeros((3, 2))), 4), "rounds must be at most 3, as recorded, got 4"),
    (lambda: drawn(Replay(np.full((3, 2), 2)), 3), "round 1 of expert 0 is 2"),
]


@pytest.mark.parametrize(("call", "words"), [*NATURES_OFF, *ATTACKS_OFF])
def test_bad_settings(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_number_of_experts_that_is_not_whole() -> None:
    with pytest.raises(TypeError, match="n_experts must be a whole number"):
        attack(0.1, 2.5, 1.0)  # type: ignore[arg-type]
