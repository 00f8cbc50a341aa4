"""The scores of a game are what their names say."""

import itertools
import math

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import CompiledHedger, FixedShare, RegretMatching
from normalhedge.research.leaderboard import _yardsticks as yardsticks
from normalhedge.research.leaderboard._contests import NatureContest
from normalhedge.research.leaderboard._run import compare
from normalhedge.research.leaderboard._yardsticks import GAME_SCORES, ContestSettings, Yardsticks
from tests.research.leaderboard.samples import SMALL


@pytest.mark.parametrize(
    "hedger", [NormalHedge(0.1), FixedShare(0.5, 0.1), RegretMatching()], ids=repr
)
@pytest.mark.parametrize("changes", [None, np.array([3, 5, 9])], ids=["steady", "changing"])
def test_scores_are_what_they_say(hedger: CompiledHedger, changes: np.ndarray | None) -> None:
    alpha, rounds, n = 0.25, 12, 3
    gains = np.random.default_rng(4).uniform(-1, 1, (rounds, n))
    settings = ContestSettings(alpha=alpha, quantile=0.6, switches=2)
    scores = Yardsticks(gains, settings, changes).score(hedger)
    found = dict(zip(GAME_SCORES, scores, strict=False))
    state, earned = hedger.init(n), []
    for row in gains:
        earned.append(float(hedger.play(state) @ row))
        state = hedger.step(state, row)
    discounted = [
        max(
            sum((1 - alpha) ** (t - s) * (gains[s, i] - earned[s]) for s in range(t + 1))
            for i in range(n)
        )
        for t in range(rounds)
    ]
    assert found["mean"] == pytest.approx(np.mean(discounted))
    assert found["worst"] == pytest.approx(max(discounted))
    np.testing.assert_allclose(scores[len(GAME_SCORES) :], discounted)
    own, totals = sum(earned), sorted(gains.sum(axis=0))
    assert found["ordinary"] == pytest.approx(totals[-1] - own)
    assert found["quantile"] == pytest.approx(totals[-2] - own)  # two of three are 60 %
    switches = 2 if changes is None else 3
    best = max(
        gains[np.arange(rounds), list(way)].sum()
        for way in itertools.product(range(n), repeat=rounds)
        if sum(a != b for a, b in itertools.pairwise(way)) <= switches
    )
    assert found["sequence"] == pytest.approx(best - own)
    assert found["best_sequence"] == pytest.approx(best / rounds)
    assert found["best_expert"] == pytest.approx(totals[-1] / rounds)
    assert found["seconds"] > 0
    if changes is None:
        assert math.isnan(found["after"])
        return
    # Windows are 1/alpha = 4 rounds long, or up to the next change; the last one has only three.
    windows = [slice(3, 5), slice(5, 9)]
    after = [gains[w].sum(axis=0).max() - sum(earned[w]) for w in windows]
    assert found["after"] == pytest.approx(np.mean(after))


def test_large_games_leave_the_sequence_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardsticks, "LARGEST", 6 * 120 * 2)
    board = compare(["hedge"], [NatureContest("independent-coins", SMALL)])
    assert np.isnan(board.standings[0].mean("sequence")).all()
    assert np.isfinite(board.standings[0].mean("ordinary")).all()
