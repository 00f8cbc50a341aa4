"""Attacks reach what they claim when they are replayed."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.research.games import Nature, play
from normalhedge.research.games.attacks import (
    Attack,
    Groups,
    attack,
    attempts,
    break_away,
    explore,
    hold,
)
from tests.adversaries import alternate_then_break_away

FOUND: list[Callable[[], Attack]] = [
    lambda: hold(0.05, 7, 0.6),
    lambda: hold(0.02, 50, 4.0, "regret"),
    lambda: break_away(0.03, 9, 1.0, half=4, leaders=2, alternate=3.0),
    lambda: break_away(0.03, 5, 1.0, leaders=2),
    lambda: explore(0.1, (1, 1), 0.7),
    lambda: explore(0.1, (1, 1, 1), 2.0, "regret", width=0.1),
    lambda: explore(0.05, (2, 5), 1.0),
    lambda: attempts(0.1, 4, 1.0)["greedy"],
    lambda: attack(0.1, 1, 1.0),
]


@pytest.mark.parametrize("found", FOUND)
def test_a_replay_reaches_what_is_claimed(found: Callable[[], Attack]) -> None:
    claimed = found()
    replayed = claimed.replay()
    assert replayed.log_potential == pytest.approx(claimed.log_potential, rel=1e-9, abs=1e-12)
    assert replayed.regret == pytest.approx(claimed.regret, rel=1e-9, abs=1e-12)
    assert claimed.gains.shape == (claimed.rounds, len(claimed.sizes))
    assert np.abs(claimed.gains).max() <= 1
    assert not claimed.gains.flags.writeable


def test_groups_are_a_nature_and_equal_single_experts() -> None:
    found = break_away(0.05, 9, 1.0)
    assert found.sizes == (1, 3, 5)
    np.testing.assert_array_equal(
        np.concatenate(list(found.nature.gains(found.rounds, np.random.default_rng(0)))),
        alternate_then_break_away(9, 0.05)[: found.rounds],
    )
    assert isinstance(found.nature, Nature)
    trace = play([NormalHedge(0.05, 1.0)], found.nature, found.rounds)
    assert trace.highest_potential[0] == pytest.approx(found.log_potential, rel=1e-12)
    assert trace.highest_regret[0] * math.sqrt(0.05) == pytest.approx(found.regret, rel=1e-12)
    with pytest.raises(ValueError, match="rounds must be at most 2, got 3"):
        list(Groups((1, 2), np.ones((2, 2))).gains(3, np.random.default_rng(0)))


def test_it_prints() -> None:
    found = break_away(0.1, 4, 1.0)
    assert str(found).startswith("alternate 2 of 4, break away 1: potential 1.7")
    assert repr(found).startswith("<Attack alpha=0.1 c=1 alternate")
