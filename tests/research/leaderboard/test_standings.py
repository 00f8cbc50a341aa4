"""Places and ties."""

import math

import numpy as np

from normalhedge.research.leaderboard._contests import NatureContest
from normalhedge.research.leaderboard._standings import Leaderboard, Standing
from normalhedge.research.leaderboard._yardsticks import GAME_SCORES
from tests.research.leaderboard.samples import SMALL


def test_places_and_ties() -> None:
    game = NatureContest("independent-coins", SMALL)
    scores = np.zeros((4, 3, len(GAME_SCORES)))
    # The second is as good as the first but for chance; the third is worse in every run; the last
    # could not take part.
    scores[:, :, 0] = np.array([[5, 1, 9], [4, 2, 9.6], [6, 2, 10], [math.nan] * 3])
    standing = Standing(game, ("a", "b", "c", "d"), scores, np.zeros((4, 1)), {})
    assert standing.tied.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(standing.ranks, [1.5, 1.5, 3, math.nan])
    board = Leaderboard(("a", "b", "c", "d"), (standing,))
    assert board.overall()["hedger"].tolist() == ["a", "b", "c", "d"]
    scores[:, :, 0] = np.array([[2, 2, 2], [1, 1, 1], [2, 2, 2], [3, 3, 3]])
    alike = Standing(game, ("a", "b", "c", "d"), scores, np.zeros((4, 1)), {})
    np.testing.assert_array_equal(alike.ranks, [2.5, 1, 2.5, 4])
    # The last is tied with the first but for chance: nobody who is not comes before them.
    scores[:, :, 0] = np.array([[1, 1, 1], [1.1, 1.1, 1.1], [1.2, 1.2, 1.2], [3, 0.9, 0.9]])
    mixed = Standing(game, ("a", "b", "c", "d"), scores, np.zeros((4, 1)), {})
    assert mixed.tied.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(mixed.ranks, [1.5, 3, 4, 1.5])
