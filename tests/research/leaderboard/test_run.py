"""Everybody takes part, and finished runs are not played again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

from normalhedge import NormalHedge
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Silent
from normalhedge.hedgers import Hedger, Run
from normalhedge.research.leaderboard import _contests as contests
from normalhedge.research.leaderboard._contests import Entry, NatureContest, PanelContest
from normalhedge.research.leaderboard._run import FIELD, compare, default_natures
from normalhedge.research.leaderboard._yardsticks import GAME_SCORES
from normalhedge.tables import blend
from tests.research.leaderboard.samples import SMALL, panel_file
from tests.test_own_hedgers import Own, Totals


def test_everybody_takes_part() -> None:
    games = [NatureContest(name, SMALL) for name in default_natures(SMALL)]
    board = compare(FIELD, games)
    for standing in board.standings:
        regrets = standing.mean("mean")
        assert np.isfinite(regrets).all()
        assert standing.ranks.sum() == pytest.approx(len(FIELD) * (len(FIELD) + 1) / 2)
        assert standing.tied[regrets.argmin()]
        assert (standing.worst("worst") >= regrets).all()
        assert (standing.mean("sequence") >= standing.mean("ordinary") - 1e-9).all()
        assert (standing.mean("ordinary") >= standing.mean("quantile") - 1e-9).all()
    places = board.overall()["mean_rank"]
    assert (np.diff(places) >= 0).all()
    table = board.columns()
    assert len(table["hedger"]) == len(FIELD) * len(games)
    assert {len(column) for column in table.values()} == {len(table["hedger"])}
    # What the best gained does not depend on who played, but where an adversary is aimed.
    for standing in board.games:
        assert isinstance(standing.contest, NatureContest)
        if not standing.contest.aimed:
            assert np.ptp(standing.mean("best_expert")) == 0


def test_the_same_whatever_the_jobs() -> None:
    games = [NatureContest("good-and-bad:gamma=0.8,f=0.2", SMALL), NatureContest("contrary", SMALL)]
    one, two = (compare(["squint", "hedge", "boa"], games, jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one.standings, two.standings, strict=True):
        timeless = [k for k, name in enumerate(GAME_SCORES) if name != "seconds"]
        np.testing.assert_array_equal(a.scores[:, :, timeless], b.scores[:, :, timeless])
        np.testing.assert_array_equal(a.curves, b.curves)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[str, ...]]]:
    """Return a list that grows with each run that is played, and of whom."""
    played: list[tuple[int, tuple[str, ...]]] = []
    real = NatureContest.play

    def play(self: NatureContest, run: int, hedgers: Sequence[Hedger[Any]]) -> list[Floats]:
        played.append((run, tuple(type(hedger).__name__ for hedger in hedgers)))
        return real(self, run, hedgers)

    monkeypatch.setattr(NatureContest, "play", play)
    return played


def test_what_is_finished_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = counted(monkeypatch)
    game = NatureContest("independent-coins", SMALL)
    first = compare(["hedge", "squint"], [game], folder=tmp_path)
    assert sorted(played) == [(run, ("Hedge", "Squint")) for run in range(3)]
    again = compare(["hedge", "squint"], [game], folder=tmp_path)
    assert len(played) == 3
    np.testing.assert_array_equal(first.standings[0].scores, again.standings[0].scores)
    # One more hedger, one more run, and a cell that was damaged: only these are played.
    compare(["hedge", "boa"], [game], folder=tmp_path)
    assert sorted(played[3:]) == [(run, ("BOA",)) for run in range(3)]
    more = NatureContest("independent-coins", replace(SMALL, runs=4))
    compare(["hedge", "boa"], [more], folder=tmp_path)
    assert played[6:] == [(3, ("Hedge", "BOA"))]
    sorted(tmp_path.glob("*-0.npz"))[0].write_bytes(b"no")
    listener = Listener()
    compare(["hedge"], [game], folder=tmp_path, progress=listener)
    assert played[7:] == [(0, ("Hedge",))]
    assert "cannot be read" in listener.sentences[0]
    assert listener.units == listener.expected > 0
    # Another rate of discount is another game.
    faster = NatureContest("independent-coins", replace(SMALL, alpha=0.2))
    compare(["hedge"], [faster], folder=tmp_path)
    assert len(played) == 8 + 3
    # The runs at the first rate are still saved.
    compare(["hedge"], [game], folder=tmp_path)
    assert len(played) == 8 + 3


def test_what_other_code_kept_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = counted(monkeypatch)
    game = NatureContest("independent-coins", replace(SMALL, runs=1))
    columns = {"target": "y", "time": "day", "by": "series"}
    panel = PanelContest(panel_file(tmp_path / "p.csv"), columns, {})
    assert panel.key(0) != PanelContest(panel.path, panel.columns, {"even": 0.5}).key(0)
    folder = tmp_path / "cells"
    compare(["hedge"], [game], folder=folder)
    now = game.key(0), panel.key(0)
    monkeypatch.setattr(contests, "fingerprint", lambda *upper, without: f"{upper}, {without}")
    assert (game.key(0), panel.key(0)) != now
    compare(["hedge"], [game], folder=folder)
    assert len(played) == 2
    assert len(list(folder.iterdir())) == 1  # what the other code kept is written over
    compare(["hedge"], [game], folder=folder)
    assert len(played) == 2


class Listener(Silent):
    def __init__(self) -> None:
        self.expected = self.units = 0.0
        self.sentences: list[str] = []

    def total(self, units: float) -> None:
        self.expected = units

    def done(self, units: float, what: str) -> None:
        assert what
        self.units += units

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def test_a_hedger_of_ones_own_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = counted(monkeypatch)
    columns = {"target": "y", "by": ("series",), "time": "day"}
    panel = PanelContest(panel_file(tmp_path / "p.csv"), columns, {}, memory=10)
    steady = NatureContest("good-and-bad:gamma=0.8,f=0.2", replace(SMALL, runs=1))
    greedy, contrary = (NatureContest(name, steady.settings) for name in ("greedy", "contrary"))
    games = [steady, greedy, contrary]
    entries: dict[str, Entry] = {
        "mine": Own(),
        "short": NormalHedge(memory=5),
        "uniform": "uniform",
    }
    board = compare(entries, [panel, *games], folder=tmp_path / "cells")
    assert board.hedgers == ("mine", "short", "uniform")
    assert board.overall()["hedger"].tolist()[-1] == "uniform"
    regrets = [standing.mean(standing.contest.scores[0]) for standing in board.standings]
    # Greedy is aimed at hedgers with a potential, and at no others.
    taking_part = np.isfinite(regrets).tolist()
    assert taking_part == [[True] * 3, [True] * 3, [False, True, False], [True] * 3]
    expected = steady._yardsticks(0, steady._nature(Own())).score(Own())
    timeless = [k for k, name in enumerate(GAME_SCORES) if name != "seconds"]
    np.testing.assert_array_equal(board.games[0].scores[0, 0, timeless], expected[timeless])
    table = pyarrow.csv.read_csv(panel.path)
    alone = blend(table, "y", by="series", time="day", hedger=Own()).summary()
    assert board.panels[0].mean("loss")[0] == pytest.approx(alone.blend)
    # Hedgers of the package are kept under any name, and the caller's own are not.
    names = ("Own", "NormalHedge", "Uniform")
    assert [who for _, who in played] == [names] * 3
    again = compare([NormalHedge(memory=5), Own()], games, folder=tmp_path / "cells")
    assert again.hedgers == ("NormalHedge(alpha=0.2, c=1.0)", "Own(alpha=0.1, eta=0.5)")
    assert [who for _, who in played[3:]] == [("Own",)] * 3
    np.testing.assert_array_equal(again.games[0].curves, board.games[0].curves[[1, 0]])


class Wrong(Own):
    def run(self, *arguments: Any, **options: Any) -> Run[Totals]:
        found = super().run(*arguments, **options)
        return found._replace(gains=found.gains[1:])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([Own], TypeError, "must be a name, or have init, play, step and run: got <class"),
        ({"mine": object()}, TypeError, "must be a name, or have init, play, step and run"),
        ([Own(), Own()], ValueError, r"Own\(alpha=0.1, eta=0.5\) is there twice"),
        ([Wrong()], ValueError, r"a gain for each of 120 rounds, got an array of shape \(119,\)"),
        ({}, ValueError, "at least one hedger"),
    ],
)
def test_what_is_no_hedger_is_refused(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compare(given, [NatureContest("independent-coins", SMALL)])


def test_a_loss_of_ones_own_is_not_kept(tmp_path: Path) -> None:
    path = panel_file(tmp_path / "p.csv")
    columns = {"target": "y", "by": ("series",), "time": "day"}
    panel = PanelContest(path, columns, {"loss": lambda x, y: np.abs(x - y) ** 1.5})
    assert panel.key(0) is None
    board = compare(["hedge"], [panel], folder=tmp_path / "cells")
    assert np.isfinite(board.panels[0].mean("loss")).all()
    assert not list((tmp_path / "cells").glob("*.npz"))


def test_an_interrupted_comparison_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = NatureContest.play
    game = NatureContest("independent-coins", SMALL)

    def interrupted(self: NatureContest, run: int, hedgers: Sequence[Hedger[Any]]) -> list[Floats]:
        if run == 1:
            raise KeyboardInterrupt
        return real(self, run, hedgers)

    monkeypatch.setattr(NatureContest, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(["hedge"], [game], folder=tmp_path, jobs=1)
    assert len(list(tmp_path.glob("*-0.npz"))) == 1
    monkeypatch.setattr(NatureContest, "play", real)
    board = compare(["hedge"], [game], folder=tmp_path, jobs=1)
    assert np.isfinite(board.standings[0].mean("mean")).all()
