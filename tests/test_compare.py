import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pytest

from normalhedge import NormalHedge
from normalhedge._inputs import Floats
from normalhedge.cli import main
from normalhedge.experiments import contests, yardsticks
from normalhedge.experiments.contests import Entry, Game, Panel
from normalhedge.experiments.leaderboard import FIELD, compare, natures_met
from normalhedge.experiments.standings import Leaderboard, Standing
from normalhedge.experiments.yardsticks import GAME_SCORES, Settings, Yardsticks
from normalhedge.games import BreakAway, GoodAndBad
from normalhedge.hedgers import CompiledHedger, FixedShare, Hedger, RegretMatching, Run
from normalhedge.reports.figures import curves_plot
from normalhedge.tables import blend
from normalhedge.tables.hindsight import hindsight

SMALL = Settings(alpha=0.1, experts=6, rounds=120, runs=3, quantile=0.5, switches=2)


@pytest.mark.parametrize(
    "hedger", [NormalHedge(0.1), FixedShare(0.5, 0.1), RegretMatching()], ids=repr
)
@pytest.mark.parametrize("changes", [None, np.array([3, 5, 9])], ids=["steady", "changing"])
def test_scores_are_what_they_say(hedger: CompiledHedger, changes: np.ndarray | None) -> None:
    alpha, rounds, n = 0.25, 12, 3
    gains = np.random.default_rng(4).uniform(-1, 1, (rounds, n))
    settings = Settings(alpha=alpha, quantile=0.6, switches=2)
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


def test_natures_know_when_they_change() -> None:
    moving = GoodAndBad(10, 1.0, 0.1, 0.1)
    assert moving.switches(35).tolist() == [10, 20, 30]
    gains = np.concatenate(list(moving.gains(35, np.random.default_rng(0))))
    for start in (0, *moving.switches(35)):
        assert (gains[start : start + 5, start // 10] == 1).all()
    breaking = BreakAway(4, 0.5)
    gains = np.concatenate(list(breaking.gains(70, np.random.default_rng(0))))
    alone = (gains == [1, -1, -1, -1]).all(axis=1)
    assert breaking.switches(70).tolist() == (1 + np.flatnonzero(np.diff(alone))).tolist()


def test_everybody_takes_part() -> None:
    games = [Game(name, SMALL) for name in natures_met(SMALL)]
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
        assert isinstance(standing.contest, Game)
        if not standing.contest.aimed:
            assert np.ptp(standing.mean("best_expert")) == 0


def test_an_adversary_is_aimed_at_each() -> None:
    board = compare(["follow-the-leader", "normal-hedge"], [Game("contrary", SMALL)])
    (standing,) = board.games
    worst = standing.worst("worst")
    assert worst[0] > 2 * worst[1]
    # Of a hedger it cannot be aimed at, nothing is known.
    board = compare(["squint", "normal-hedge"], [Game("greedy", SMALL)])
    assert board.hedgers[board.order[0]] == "normal-hedge"
    assert math.isnan(board.mean_rank[0])
    assert board.overall()["contests"].tolist() == [1, 0]


def test_the_same_whatever_the_jobs() -> None:
    games = [Game("good-and-bad:gamma=0.8,f=0.2", SMALL), Game("contrary", SMALL)]
    one, two = (compare(["squint", "hedge", "boa"], games, jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one.standings, two.standings, strict=True):
        timeless = [k for k, name in enumerate(GAME_SCORES) if name != "seconds"]
        np.testing.assert_array_equal(a.scores[:, :, timeless], b.scores[:, :, timeless])
        np.testing.assert_array_equal(a.curves, b.curves)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[str, ...]]]:
    """Return a list that grows with each run that is played, and of whom."""
    played: list[tuple[int, tuple[str, ...]]] = []
    real = Game.play

    def play(self: Game, run: int, hedgers: Sequence[Hedger[Any]]) -> list[Floats]:
        played.append((run, tuple(type(hedger).__name__ for hedger in hedgers)))
        return real(self, run, hedgers)

    monkeypatch.setattr(Game, "play", play)
    return played


def test_what_is_finished_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = counted(monkeypatch)
    game = Game("independent-coins", SMALL)
    first = compare(["hedge", "squint"], [game], folder=tmp_path)
    assert sorted(played) == [(run, ("Hedge", "Squint")) for run in range(3)]
    again = compare(["hedge", "squint"], [game], folder=tmp_path)
    assert len(played) == 3
    np.testing.assert_array_equal(first.standings[0].scores, again.standings[0].scores)
    # One more hedger, one more run, and a cell that was damaged: only these are played.
    compare(["hedge", "boa"], [game], folder=tmp_path)
    assert sorted(played[3:]) == [(run, ("BOA",)) for run in range(3)]
    more = Game("independent-coins", Settings(**{**vars(SMALL), "runs": 4}))
    compare(["hedge", "boa"], [more], folder=tmp_path)
    assert played[6:] == [(3, ("Hedge", "BOA"))]
    sorted(tmp_path.glob("*-0.npz"))[0].write_bytes(b"no")
    said: list[str] = []
    compare(["hedge"], [game], folder=tmp_path, say=said.append)
    assert played[7:] == [(0, ("Hedge",))]
    assert "cannot be read" in said[0]
    # Another rate of discount is another game.
    compare(["hedge"], [Game("independent-coins", Settings(**{**vars(SMALL), "alpha": 0.2}))],
            folder=tmp_path)  # fmt: skip
    assert len(played) == 8 + 3
    # It does not cost what was there before.
    compare(["hedge"], [game], folder=tmp_path)
    assert len(played) == 8 + 3


def test_what_other_code_kept_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = counted(monkeypatch)
    game = Game("independent-coins", Settings(**{**vars(SMALL), "runs": 1}))
    panel = Panel(_panel(tmp_path / "p.csv"), {"target": "y", "time": "day", "by": "series"}, {})
    assert panel.key(0) != Panel(panel.path, panel.columns, {"even": 0.5}).key(0)
    folder = tmp_path / "cells"
    compare(["hedge"], [game], folder=folder)
    now = game.key(0), panel.key(0)
    monkeypatch.setattr(contests, "fingerprint", lambda *upper: f"other {upper}")
    assert (game.key(0), panel.key(0)) != now
    compare(["hedge"], [game], folder=folder)
    assert len(played) == 2
    assert len(list(folder.iterdir())) == 1  # what the other code kept is written over
    compare(["hedge"], [game], folder=folder)
    assert len(played) == 2


class Leading(NamedTuple):
    weights: Floats
    totals: Floats


@dataclass(frozen=True)
class Leaders:
    """A hedger of one's own: even weights on all experts whose total is near the largest."""

    near: float = 3.0

    def init(self, n: int) -> Leading:
        return Leading(np.full(n, 1.0 / n), np.zeros(n))

    def play(self, state: Leading, confidence: npt.ArrayLike | None = None) -> Floats:
        shares = state.weights * (1.0 if confidence is None else np.asarray(confidence))
        return shares / (shares.sum() or 1.0)

    def step(
        self, state: Leading, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None
    ) -> Leading:
        rated = np.ones(len(state.totals)) if confidence is None else np.asarray(confidence)
        told = np.where(rated > 0.0, gains, 0.0)
        totals = state.totals + rated * (told - self.play(state, confidence) @ told)
        ahead = totals >= totals.max() - self.near
        return Leading(ahead / ahead.sum(), totals)

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: Leading | None = None,
        keep_weights: bool = False,
    ) -> Run[Leading]:
        table = np.asarray(gains, dtype=float)
        rated = np.ones_like(table) if confidence is None else np.asarray(confidence)
        now = self.init(table.shape[1]) if state is None else state
        played, leads = np.empty_like(table), np.empty(len(table))
        for t, row in enumerate(table):
            played[t] = self.play(now, rated[t])
            now = self.step(now, row, rated[t])
            leads[t] = now.totals.max()
        earned = np.where(rated > 0.0, table, 0.0)
        own = np.where(rated.any(axis=1), (played * earned).sum(axis=1), math.nan)
        return Run(now, own, leads, np.full(len(table), math.nan), played if keep_weights else None)


def test_a_hedger_of_ones_own_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = counted(monkeypatch)
    columns = {"target": "y", "by": ("series",), "time": "day"}
    panel = Panel(_panel(tmp_path / "p.csv"), columns, {}, memory=10)
    steady = Game("good-and-bad:gamma=0.8,f=0.2", Settings(**{**vars(SMALL), "runs": 1}))
    greedy, contrary = (Game(name, steady.settings) for name in ("greedy", "contrary"))
    games = [steady, greedy, contrary]
    entries: dict[str, Entry] = {
        "mine": Leaders(),
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
    expected = steady._yardsticks(0, steady._nature(Leaders())).score(Leaders())
    timeless = [k for k, name in enumerate(GAME_SCORES) if name != "seconds"]
    np.testing.assert_array_equal(board.games[0].scores[0, 0, timeless], expected[timeless])
    table = pyarrow.csv.read_csv(panel.path)
    alone = blend(table, "y", by="series", time="day", hedger=Leaders()).summary()
    assert board.panels[0].mean("loss")[0] == pytest.approx(alone.blend)
    # Those of the package are kept, whatever they are called, and one's own are not.
    names = ("Leaders", "NormalHedge", "Uniform")
    assert [who for _, who in played] == [names] * 3
    again = compare([NormalHedge(memory=5), Leaders()], games, folder=tmp_path / "cells")
    assert again.hedgers == ("NormalHedge(alpha=0.2, c=1.0)", "Leaders(near=3.0)")
    assert [who for _, who in played[3:]] == [("Leaders",)] * 3
    np.testing.assert_array_equal(again.games[0].curves, board.games[0].curves[[1, 0]])


class Wrong(Leaders):
    def run(self, *arguments: Any, **options: Any) -> Run[Leading]:
        found = super().run(*arguments, **options)
        return found._replace(gains=found.gains[1:])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([Leaders], TypeError, "must be a name, or have init, play, step and run: got <class"),
        ({"mine": object()}, TypeError, "must be a name, or have init, play, step and run"),
        ([Leaders(), Leaders()], ValueError, r"Leaders\(near=3.0\) is there twice"),
        ([Wrong()], ValueError, r"a gain for each of 120 rounds, got an array of shape \(119,\)"),
        ({}, ValueError, "at least one hedger"),
    ],
)
def test_what_is_no_hedger_is_refused(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compare(given, [Game("independent-coins", SMALL)])


def test_a_loss_of_ones_own_is_not_kept(tmp_path: Path) -> None:
    path = _panel(tmp_path / "p.csv")
    columns = {"target": "y", "by": ("series",), "time": "day"}
    panel = Panel(path, columns, {"loss": lambda x, y: np.abs(x - y) ** 1.5})
    assert panel.key(0) is None
    board = compare(["hedge"], [panel], folder=tmp_path / "cells")
    assert np.isfinite(board.panels[0].mean("loss")).all()
    assert not list((tmp_path / "cells").glob("*.npz"))


def test_an_interrupted_comparison_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Game.play
    game = Game("independent-coins", SMALL)

    def interrupted(self: Game, run: int, hedgers: Sequence[Hedger[Any]]) -> list[Floats]:
        if run == 1:
            raise KeyboardInterrupt
        return real(self, run, hedgers)

    monkeypatch.setattr(Game, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(["hedge"], [game], folder=tmp_path, jobs=1)
    assert len(list(tmp_path.glob("*-0.npz"))) == 1
    monkeypatch.setattr(Game, "play", real)
    board = compare(["hedge"], [game], folder=tmp_path, jobs=1)
    assert np.isfinite(board.standings[0].mean("mean")).all()


def test_places_and_ties() -> None:
    game = Game("independent-coins", SMALL)
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


def _panel(path: Path, rows: int = 40) -> Path:
    rng = np.random.default_rng(0)
    y = rng.normal(size=rows)
    forecasts = {
        name: y + rng.normal(0, s, rows) for name, s in zip("abc", (1, 0.5, 2), strict=True)
    }
    forecasts["c"][::3] = math.nan
    columns = {name: pa.array(values, from_pandas=True) for name, values in forecasts.items()}
    series = np.where(np.arange(rows) % 2 == 0, "one", "two")
    table = pa.table({"day": np.arange(rows) // 2, "series": series, "y": y, **columns})
    pyarrow.csv.write_csv(table, path)
    return path


@pytest.mark.parametrize("pooled", [False, True])
def test_hindsight_of_a_panel(tmp_path: Path, pooled: bool) -> None:
    path = _panel(tmp_path / "p.csv", 12)
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
    panel = Panel(_panel(tmp_path / "p.csv"), columns, {}, memory=10)
    board = compare(["normal-hedge", "hedge"], [panel, Game("independent-coins", SMALL)],
                    folder=tmp_path / "cells")  # fmt: skip
    (standing,) = board.panels
    table = pyarrow.csv.read_csv(tmp_path / "p.csv")
    for h, name in enumerate(board.hedgers):
        result = blend(table, "y", by="series", time="day", hedger=panel.hedger(name))
        summary = result.summary()
        assert standing.mean("loss")[h] == pytest.approx(summary.blend)
        assert standing.mean("worst")[h] == pytest.approx(summary.regret)
        assert standing.yardsticks["uniform"] == pytest.approx(summary.uniform)
        ahead = (summary.uniform - summary.blend) * summary.settled
        assert standing.curves[h, -1] == pytest.approx(ahead)
    again = compare(["hedge"], [panel], folder=tmp_path / "cells")
    assert again.standings[0].mean("loss")[0] == standing.mean("loss")[1]
    assert board.overall()["contests"].tolist() == [2, 2]
    names = board.panel_columns()["hedger"].tolist()
    assert names[:2] == ["normal-hedge", "hedge"]
    assert "best convex combination" in names


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(["compare", *words])
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as error:
        main(["compare", *words])
    assert error.value.code == 2
    return capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _panel(tmp_path / "p.csv")
    recorded = tmp_path / "gains.csv"
    recorded.write_text("a,b\n" + "1,-1\n0.5,0\n" * 30)
    out = tmp_path / "out"
    words = ["--quick", "--rounds", "100", "--runs", "2", "--experts", "5", "--out", str(out)]
    words += ["--hedger", "normal-hedge", "--hedger", "hedge", "--nature", "break-away"]
    words += ["--nature", f"replay:source={recorded}"]
    words += ["--panel", str(path), "--target", "y", "--by", "series", "--time", "day"]
    said = run(capsys, *words)
    assert "The leaderboard" in said
    assert "A: break-away" in said
    assert "best sequence of experts, in hindsight" in said
    names = ("leaderboard.csv", "games.csv", "panels.csv", "report.html")
    assert all((out / name).exists() for name in names)
    games = pyarrow.csv.read_csv(out / "games.csv").to_pydict()
    assert set(games["rounds"]) == {100, 60}
    assert set(games["experts"]) == {5, 2}
    assert games["runs"] == [1, 1, 1, 1]
    page = (out / "report.html").read_text("utf-8")
    assert "Who came where" in page
    assert "p.csv" in page
    assert "Own regret" in page
    again = run(capsys, *words)
    assert again == said  # the times too: nothing was played


def test_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = ("--out", str(tmp_path / "out"))
    assert "did you mean contrary" in refused(capsys, "--nature", "contrry", *nothing)
    assert "unknown hedger" in refused(capsys, "--hedger", "hedgehog", *nothing)
    assert "belongs to a --panel" in refused(capsys, "--target", "y", *nothing)
    assert "there is no file" in refused(capsys, "--panel", "none.csv", *nothing)
    assert "there is no file" in refused(capsys, "--nature", "replay:source=no.csv", *nothing)
    assert "alpha must be" in refused(capsys, "--alpha", "2", *nothing)
    assert "runs must be" in refused(capsys, "--runs", "0", *nothing)
    assert "boa is there twice" in refused(capsys, "--hedger", "boa", "--hedger", "boa", *nothing)
    assert "hedge-fixed needs eta" in refused(capsys, "--hedger", "hedge-fixed", *nothing)
    assert "too many" in refused(capsys, "--experts", "1000000", "--rounds", "100000", *nothing)
    assert "runs are too many" in refused(capsys, "--runs", "10000000", *nothing)
    for words in (["--loss", "absolute"], ["--even", "0.1"], ["--memory", "9"], ["--no-gradient"]):
        assert "belongs to a --panel" in refused(capsys, *words, *nothing)
    recorded = tmp_path / "gains.csv"
    recorded.write_text("a,b\n")
    said = refused(capsys, "--nature", f"replay:source={recorded}", *nothing)
    assert "there is no round" in said
    open_ended = tmp_path / "open.csv"
    open_ended.write_text("day,y,a,b\n1,,0.5,1\n2,,1,0.5\n")
    said = refused(capsys, "--panel", str(open_ended), "--target", "y", "--time", "day", *nothing)
    assert "no row has an outcome" in said
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _panel(tmp_path / "p.csv")
    main(["compare", "--hedger", "hedge", "--panel", str(path), "--target", "y", "--by", "series",
          "--out", str(tmp_path / "out")])  # fmt: skip
    assert "guessed: experts: day, a, b, c" in capsys.readouterr().err


def test_even_weights_without_a_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("day,y,a,b\n1,1,0.5,1.5\n2,2,1,3\n")
    words = ["--hedger", "uniform", "--panel", str(path), "--target", "y", "--time", "day"]
    said = run(capsys, *words, "--out", str(tmp_path / "out"))
    assert re.search(r"uniform weights +0 +- ", said)
    shares = pyarrow.csv.read_csv(tmp_path / "out" / "panels.csv")["relative_to_uniform"]
    assert not np.isfinite(np.array(shares.to_pylist(), dtype=float)).any()


def test_curves_can_be_told_apart() -> None:
    names = [str(k) for k in range(40)]
    page = curves_plot("x", np.arange(2), {name: np.zeros(2) for name in names}, names)
    styles = re.findall(r'"line":({"color":[^}]*"dash"[^}]*})', page)
    assert len(styles) == 40
    assert len(set(styles)) == 40


def test_large_games_leave_the_sequence_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardsticks, "LARGEST", 6 * 120 * 2)
    board = compare(["hedge"], [Game("independent-coins", SMALL)])
    assert np.isnan(board.standings[0].mean("sequence")).all()
    assert np.isfinite(board.standings[0].mean("ordinary")).all()
