"""The bench of panels, on a tiny one; and the goals on real forecasters, where their files are."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.panels import bench, goals, hubs, rolling, scores
from benchmarks.panels.__main__ import main, summary
from benchmarks.panels.picture import draw
from benchmarks.panels.split import SALT, kind

DEVELOPED = {
    "ausbeer", "austres", "co2", "elec-equip", "eu-deaths", "flusight", "interest-inflation",
    "macrodata", "pbs", "seatbelts", "shampoo", "trump-approval", "us-employment", "wineind", "wti",
}  # fmt: skip
JUDGED = {
    "airline", "elnino", "heartrate", "lynx", "nile", "seattle-temps", "seattle-weather",
    "sf-temps", "solar", "stocks", "sunspots", "taylor", "uschange", "vix", "water-flow",
    "woolyrnq",
}  # fmt: skip

here = pytest.mark.skipif(not hubs.DATA.is_dir(), reason="the panels are not here")


@pytest.fixture
def tiny() -> bench.Panel:
    """Two series of different scale; the first expert is good, the last one sleeps at times."""
    rng = np.random.default_rng(0)
    scale = np.repeat([1.0, 1000.0], 60)
    y = scale * rng.normal(size=120)
    frame = pd.DataFrame({"series": np.repeat(["a", "b"], 60), "time": [*range(60)] * 2, "y": y})
    for name, error in {"good": 0.1, "bad": 1.0, "worse": 2.0}.items():
        frame[name] = y + scale * error * rng.normal(size=120)
    frame.loc[::7, "worse"] = np.nan
    return bench.Panel("tiny", 2, frame)


def test_the_split_never_changes() -> None:
    """A panel to judge on must not become one to develop on, or the other way round."""
    assert SALT == 3
    assert {kind(source) for source in DEVELOPED} == {"develop"}
    assert {kind(source) for source in JUDGED} == {"judge"}
    assert {entry.source for entry in bench.entries()} >= DEVELOPED | JUDGED


def test_half_of_the_panels_are_to_judge_on() -> None:
    names = [entry.name for entry in bench.entries()]
    judge, develop = bench.entries("judge"), bench.entries("develop")
    assert len(set(names)) == len(names) == len(judge) + len(develop)
    later = {"stations", "innsbruck", "prices-be", "prices-de"}  # joined after the salt was chosen
    assert abs(len(judge) - sum(entry.source not in later for entry in develop)) <= 1


def test_plain_combinations(tiny: bench.Panel) -> None:
    rows, said = scores.plain(tiny)
    assert tiny.shape == (120, 3, 2)
    for k in range(len(rows)):
        awake = [x for x in tiny.frame.loc[k, ["good", "bad", "worse"]] if not np.isnan(x)]
        assert said["mean"][k] == pytest.approx(sum(awake) / len(awake))
        assert said["median"][k] == pytest.approx(
            sum(awake) / 2 if k % 7 == 0 else sorted(awake)[1]
        )


def test_every_series_counts_the_same() -> None:
    lost = {
        "mean": np.array([1.0, 3.0, 400.0]),
        "median": np.array([2.0, 6.0, 200.0]),
        "blend": np.array([2.0, 2.0, 300.0]),
    }
    found = scores.relative_losses(lost, np.array([0, 0, 1]), ["mean", "median"])
    assert found == {"mean": 1.5, "median": 1.5, "blend": 1.25}


def test_a_series_without_loss_does_not_count() -> None:
    lost = {"mean": np.array([1.0, 0.0]), "blend": np.array([2.0, 1.0])}
    assert scores.relative_losses(lost, np.array([0, 1]), ["mean"])["blend"] == 2.0


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_tiny_panel(tiny: bench.Panel, loss: str) -> None:
    found = scores.score(tiny, loss, ["default", "hedge"])
    assert list(found) == ["default", "hedge"]
    assert 0.0 < found["default"] < 1.0
    assert 0.0 < found["hedge"] < 2.0


def test_outcomes_that_come_late_help_less(tiny: bench.Panel) -> None:
    late = bench.Panel("late", 50, tiny.frame)
    assert scores.score(late, "square")["default"] > scores.score(tiny, "square")["default"]


def test_class_probabilities() -> None:
    rows = [
        ("a", t, 0.0, name, p, 1.0 - p) for t in range(9) for name, p in (("x", 0.8), ("y", 0.2))
    ]
    panel = bench.Panel(
        "c", 0, pd.DataFrame(rows, columns=["series", "time", "y", "model", "p", "q"])
    )
    _, said = scores.plain(panel)
    assert panel.shape == (9, 2, 1)
    assert said["mean"] == pytest.approx(np.full((9, 2), 0.5))
    assert all(scores.score(panel, loss)["default"] < 1.0 for loss in scores.losses_of(panel))


def test_an_expert_that_repeats_another_is_left_out(tiny: bench.Panel) -> None:
    frame = tiny.frame.assign(again=tiny.frame["worse"], other=tiny.frame["worse"] + 1.0)
    assert list(rolling.distinct(frame).columns[3:]) == ["good", "bad", "worse", "other"]


def test_a_panel_is_made_once(tiny: bench.Panel, tmp_path: Path) -> None:
    made = []

    def make() -> dict[int, pd.DataFrame]:
        made.append(1)
        return {1: tiny.frame, 4: tiny.frame.tail(60)}

    entries = [bench.Entry("tiny", horizon, horizon - 1, make) for horizon in (1, 4)]
    read = [bench.load(entry, tmp_path) for entry in entries]
    assert made == [1]
    assert [panel.shape for panel in read] == [(120, 3, 2), (60, 3, 1)]
    pd.testing.assert_frame_equal(read[0].frame, tiny.frame)


def test_summary_and_picture(tmp_path: Path) -> None:
    rows = [("a", "develop", "square", 0.9), ("b", "develop", "square", 1.6)]
    table = pd.DataFrame(rows, columns=["panel", "kind", "loss", "default"])
    assert list(summary(table, ["default"])) == [
        "\ndefault",
        "  square    within 1.02 on 1 of 2 panels; geometric mean 1.200; worst 1.600, b",
    ]
    draw(table, ["default"], tmp_path / "panels.png")
    assert (tmp_path / "panels.png").stat().st_size > 1000


def test_no_such_panel(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "nothing"])
    assert "there is no such panel" in capsys.readouterr().out


def test_pollsters() -> None:
    found = goals.trump_approval()
    assert found["plain mean"] == pytest.approx(0.662, abs=1e-3)
    assert found["best pollster"] == pytest.approx(1.111, abs=1e-3)
    assert found["auto"] < 0.43


@here
def test_flusight() -> None:
    found = goals.flusight()
    assert (found["single rule"] < found["hub ensemble"]).all()
    assert (found["auto"] < found["hub ensemble"]).sum() >= 3
    assert found["even weights"].round(4).tolist() == [0.5267, 0.5226, 0.5167, 0.5007]
    assert found["hub ensemble"].round(4).tolist() == [0.4902, 0.4770, 0.4682, 0.4511]


@here
def test_eu_deaths() -> None:
    found = goals.eu_deaths()
    better = found[["median", hubs.HUB]].min(axis=1)
    assert (found[["auto", "single rule"]].max(axis=1) <= 1.015 * better).all()
    assert (found["auto"] < found[hubs.HUB]).all()
    assert (found["single rule"] < found[hubs.HUB]).sum() >= 3
    assert found["median"][1] == pytest.approx(0.754, abs=1e-3)
