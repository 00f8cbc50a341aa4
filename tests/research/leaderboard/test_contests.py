"""Contests: natures, panels, and hedgers of the caller's own."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from normalhedge.research.games import NATURES, Replay
from normalhedge.research.leaderboard import ContestSettings
from normalhedge.research.leaderboard._contests import NatureContest, PanelContest
from normalhedge.research.leaderboard._run import compare
from normalhedge.tables import blend
from normalhedge.tables._hindsight import hindsight
from tests.research.leaderboard.samples import SMALL, panel_file


def test_an_adversary_is_aimed_at_each() -> None:
    board = compare(["follow-the-leader", "normal-hedge"], [NatureContest("contrary", SMALL)])
    (standing,) = board.games
    worst = standing.worst("worst")
    assert worst[0] > 2 * worst[1]
    # Of a hedger it cannot be aimed at, nothing is known.
    board = compare(["squint", "normal-hedge"], [NatureContest("greedy", SMALL)])
    assert board.hedgers[board.order[0]] == "normal-hedge"
    assert math.isnan(board.mean_rank[0])
    assert board.overall()["contests"].tolist() == [1, 0]


@pytest.mark.parametrize("pooled", [False, True])
def test_hindsight_of_a_panel(tmp_path: Path, pooled: bool) -> None:
    path = panel_file(tmp_path / "p.csv", 12)
    table = pyarrow.csv.read_csv(path)
    result = blend(table, "y", by="series", time="day", pooled=pooled, experts=["a", "b", "c"])
    found = hindsight(result, quantile=0.6, switches=1)
    y = table["y"].to_numpy()
    x = np.array([[math.nan if v is None else v for v in table[c].to_pylist()] for c in "abc"]).T
    awake = ~np.isnan(x)
    even = (np.nanmean(x, axis=1) - y) ** 2
    losses = np.where(awake, (np.nan_to_num(x) - y[:, None]) ** 2, even[:, None])
    series = np.array(table["series"].to_pylist())
    games = [losses[series == s] for s in ("one", "two")]
    if pooled:
        games = [games[0] + games[1]]
    assert found.expert * 12 == pytest.approx(sum(g.sum(axis=0).min() for g in games))
    assert found.quantile * 12 == pytest.approx(sum(sorted(g.sum(axis=0))[1] for g in games))
    best = [
        min(
            g[np.arange(6), list(way)].sum()
            for way in itertools.product(range(3), repeat=6)
            if sum(a != b for a, b in itertools.pairwise(way)) <= 1
        )
        for g in games
    ]
    assert found.sequence * 12 == pytest.approx(sum(best))
    assert found.convex <= found.expert + 1e-6


def test_a_panel_takes_part(tmp_path: Path) -> None:
    columns = {"target": "y", "by": ("series",), "time": "day"}
    panel = PanelContest(panel_file(tmp_path / "p.csv"), columns, {}, memory=10)
    board = compare(["normal-hedge", "hedge"], [panel, NatureContest("independent-coins", SMALL)],
                    folder=tmp_path / "cells")  # fmt: skip
    (standing,) = board.panels
    table = pyarrow.csv.read_csv(tmp_path / "p.csv")
    for h, name in enumerate(board.hedgers):
        result = blend(table, "y", by="series", time="day", hedger=panel.hedger(name))
        summary = result.summary()
        assert standing.mean("loss")[h] == pytest.approx(summary.blend)
        assert standing.mean("worst")[h] >= summary.regret - 1e-9
        assert standing.yardsticks["uniform"] == pytest.approx(summary.uniform)
        ahead = (summary.uniform - summary.blend) * summary.settled
        assert standing.curves[h, -1] == pytest.approx(ahead)
    again = compare(["hedge"], [panel], folder=tmp_path / "cells")
    assert again.standings[0].mean("loss")[0] == standing.mean("loss")[1]
    assert board.overall()["contests"].tolist() == [2, 2]
    names = board.panel_columns()["hedger"].tolist()
    assert names[:2] == ["normal-hedge", "hedge"]
    assert "best convex combination" in names


@dataclass(frozen=True)
class Waves:
    """A nature of somebody's own."""

    experts: int = 3

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        yield np.sin(rng.random() + np.arange(rounds)[:, None] + np.arange(self.experts))


def test_a_nature_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = ContestSettings(rounds=40, runs=2)
    contest = NatureContest(Waves(), settings)
    assert (contest.name, contest.experts, contest.aimed) == ("Waves(experts=3)", 3, False)
    assert contest.key(0) is None
    board = compare(["hedge", "normal-hedge"], [contest], folder=tmp_path)
    assert np.isfinite(board.overall()["discounted_regret"]).all()
    assert not list(tmp_path.glob("*.npz"))  # a change of its code would not be noticed
    monkeypatch.setitem(NATURES, "waves", Waves)
    named = NatureContest("waves:experts=4", settings)
    assert (named.experts, named.key(0)) == (4, None)
    assert NatureContest(Replay(np.zeros((9, 2))), settings).rounds == 9
    monkeypatch.setitem(NATURES, "nothing", lambda: 3)
    for wrong in (3, Waves, "nothing"):
        with pytest.raises(TypeError, match="a nature must have experts and gains"):
            NatureContest(wrong, settings)  # type: ignore[arg-type]
