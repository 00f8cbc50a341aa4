"""Auto on the leaderboard, and the hedger that is recommended."""

import math
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from normalhedge.cli import main
from normalhedge.cli._options import blend_words
from normalhedge.mixtures.rules import Automatic
from normalhedge.research.leaderboard._contests import PANEL_SCORES, NatureContest, PanelContest
from normalhedge.research.leaderboard._run import FIELD_ON_PANELS, compare
from normalhedge.research.leaderboard._standings import Standing, recommend
from normalhedge.research.leaderboard._yardsticks import ContestSettings
from normalhedge.tables import blend

SMALL = ContestSettings(alpha=0.1, experts=6, rounds=60, runs=2)


def panel(folder: Path, rows: int = 80) -> Path:
    rng = np.random.default_rng(0)
    y = rng.normal(size=rows)
    forecasts = {
        name: y + rng.normal(0, s, rows) for name, s in zip("abc", (1, 0.5, 2), strict=True)
    }
    series = np.where(np.arange(rows) % 2 == 0, "one", "two")
    table = pa.table({"day": np.arange(rows) // 2, "of": series, "y": y, **forecasts})
    path = folder / "the panel.csv"
    pyarrow.csv.write_csv(table, path)
    return path


def test_auto_takes_part_on_panels_only(tmp_path: Path) -> None:
    columns = {"target": "y", "by": ("of",), "time": "day"}
    contest = PanelContest(panel(tmp_path), columns, {"combine": "median", "even": 0.1})
    game = NatureContest("independent-coins", SMALL)
    board = compare(["squint", "auto"], [game, contest], folder=tmp_path / "cells")
    table = pyarrow.csv.read_csv(contest.path)
    found = blend(table, "y", by="of", time="day")  # what a single rule is told is not for it
    assert isinstance(found.mixture.settings.hedger, Automatic)
    standing = board.panels[0]
    assert standing.mean("loss")[1] == pytest.approx(found.summary().blend)
    losses = np.square(np.array(found.frame["blend"]) - np.array(table["y"]))
    assert standing.mean("loss")[1] == pytest.approx(losses.mean())
    assert standing.mean("late")[1] == pytest.approx(losses[40:].mean())
    assert np.isfinite(standing.mean("worst")).tolist() == [True, False]
    # All are measured against the same even weights.
    saved = 80 * (standing.yardsticks["uniform"] - standing.mean("loss"))
    np.testing.assert_allclose(standing.curves[:, -1], saved, atol=1e-9)
    assert np.isfinite(board.games[0].mean("mean")).tolist() == [True, False]
    assert np.isnan(board.games[0].curves[1]).all()
    assert sorted(board.overall()["contests"].tolist()) == [1, 2]
    assert "mean_loss_in_second_half" in board.panel_columns()
    again = compare({"mine": Automatic()}, [contest], folder=tmp_path / "cells")
    assert again.panels[0].mean("seconds")[0] == standing.mean("seconds")[1]  # it was kept
    with pytest.raises(ValueError, match="auto combines forecasts, and takes part on panels only"):
        compare(["squint", "auto"], [game])
    # Nobody in the game.
    alone = compare(["auto"], [game, contest])
    assert np.isnan(alone.games[0].ranks).all()


def standing(contest: PanelContest, **losses: tuple[float, float]) -> Standing:
    """Return a standing of losses, on the whole and in the second half."""
    scores = np.array([[[*both, 0.0, 0.0]] for both in losses.values()])
    assert PANEL_SCORES[:2] == ("loss", "late")
    names = tuple(name.replace("_", "-") for name in losses)
    return Standing(contest, names, scores, np.zeros((len(losses), 1)), {})


def test_auto_is_recommended_unless_a_rule_is_clearly_better(tmp_path: Path) -> None:
    contest = PanelContest(panel(tmp_path), {"target": "y", "experts": ("a", "b", "c")}, {})

    def advice(**losses: tuple[float, float]) -> tuple[str, str]:
        found = recommend(standing(contest, **losses))
        assert found is not None
        return found

    assert advice(squint=(1.0, 1.0), boa=(2.0, 2.0), auto=(1.03, 1.2)) == (
        "auto",
        "on this panel auto loses 3.0 % more than the best single rule, squint; nobody knows that "
        "beforehand",
    )
    assert advice(squint=(1.0, 1.0), auto=(0.8, 0.8)) == (
        "auto",
        "on this panel auto loses 20 % less than the best single rule, squint",
    )
    # On the whole only, or in the second half only.
    hedger, reason = advice(squint=(1.0, 1.0), auto=(1.2, 1.04))
    assert hedger == "auto"
    assert (
        "20 % more than the best single rule, squint, but in the second half 4.0 % more" in reason
    )
    assert advice(squint=(1.0, 1.0), auto=(1.04, 1.2))[0] == "auto"
    assert advice(squint=(1.0, math.nan), auto=(1.2, math.nan))[0] == "auto"
    # In both; where the best one is not better in both, another may be.
    assert advice(squint=(1.0, 1.0), auto=(1.2, 1.07)) == (
        "squint",
        "on this panel auto loses 20 % more than squint, and 7.0 % more than it in the second half",
    )
    assert advice(squint=(1.0, 1.5), boa=(1.1, 1.0), auto=(1.2, 1.2))[0] == "boa"
    assert "nothing is lost by squint" in advice(squint=(0.0, 0.0), auto=(0.5, 0.5))[1]
    assert advice(squint=(0.0, 0.0), auto=(0.0, 0.0))[0] == "auto"
    # Losses below zero, as of portfolios.
    assert advice(squint=(-1.0, -1.0), auto=(-0.98, -0.98))[0] == "auto"
    assert advice(squint=(-1.0, -1.0), auto=(-1.2, -1.2)) == (
        "auto",
        "on this panel auto loses 20 % less than the best single rule, squint",
    )
    assert advice(squint=(-1.0, -1.0), auto=(-0.9, -0.9))[0] == "squint"
    assert recommend(standing(contest, squint=(1.0, 1.0))) is None
    assert recommend(standing(contest, auto=(1.0, 1.0))) is None


NOTHING: dict[str, Any] = {
    "target": None, "by": (), "time": None, "lag": 0, "cutoff": None, "model": None,
    "forecast": None, "classes": (), "level": None, "quantiles": (), "pooled": None,
    "dayfirst": None,
    "loss": None, "combine": None,
    "gradient": None, "even": None, "include": (), "columns": (), "memory": 20.0,
}  # fmt: skip


def test_the_command_has_all_options_of_the_panel() -> None:
    path = Path("my data.csv")
    assert blend_words(path, "auto", NOTHING) == (["normalhedge", "blend", "my data.csv"], [])
    given = NOTHING | {
        "target": "y's", "by": ("a", "b c"), "lag": 3, "pooled": False, "loss": "absolute",
        "columns": ("m1", "m2"), "combine": "median", "gradient": False, "even": 0.25,
        "include": ("mean", "median"), "memory": 50.0,
    }  # fmt: skip
    words, left_out = blend_words(path, "auto:guard=false", given)
    assert shlex.join(words) == (
        "normalhedge blend 'my data.csv' --experts m1,m2 --target 'y'\"'\"'s' --by 'a,b c' --lag 3 "
        "--separate --loss absolute --hedger auto:guard=false"
    )
    assert left_out == ["--combine", "--no-gradient", "--even", "--include"]
    words, left_out = blend_words(Path("-x.csv"), "squint", given | {"pooled": True})
    assert words[2] == "./-x.csv"
    assert shlex.join(words[3:]).endswith(
        "--pooled --loss absolute --combine median --no-gradient --even 0.25 --include mean,median "
        "--hedger squint --memory 50.0"
    )
    assert left_out == []
    assert "--memory" not in blend_words(path, "squint:alpha=0", given)[0]


@pytest.mark.parametrize("hedgers", [["squint", "auto"], ["fixed-share", "boa"], []])
def test_the_output_ends_with_a_command_to_paste(
    hedgers: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = panel(tmp_path)
    words = ["--panel", str(path), "--target", "y", "--by", "of", "--time", "day", "--lag", "1"]
    named = [word for name in hedgers for word in ("--hedger", name)]
    main(["compare", *words, *named, "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    if hedgers and "auto" not in hedgers:
        assert "normalhedge blend" not in said
        return
    reason, command = said.rstrip().splitlines()[-2:]
    assert reason.startswith("On this panel auto loses ")
    pasted = shlex.split(command)
    assert pasted[:3] == ["normalhedge", "blend", str(path)]
    if not hedgers:
        assert len(FIELD_ON_PANELS) == len(set(FIELD_ON_PANELS))
        losses = pyarrow.csv.read_csv(tmp_path / "out" / "panels.csv").to_pydict()
        assert set(FIELD_ON_PANELS) <= set(losses["hedger"])
    # The pasted command has the loss of the table.
    main(pasted[1:])
    blended = re.search(r"^ *blend +([\d.]+)", capsys.readouterr().out, re.MULTILINE)
    assert blended is not None
    hedger = pasted[pasted.index("--hedger") + 1] if "--hedger" in pasted else "auto"
    line = re.search(rf"^{re.escape(hedger)} +([\d.]+) +[\d.]+% ", said, re.MULTILINE)
    assert line is not None
    assert float(blended[1]) == pytest.approx(float(line[1]), rel=1e-4)
    assert "So use " in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_guard_can_be_switched_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["blend", str(panel(tmp_path)), "--target", "y", "--by", "of", "--time", "day"]
    main([*words, "--hedger", "auto:guard=false"])
    assert "guard off" in capsys.readouterr().out
    for wrong in ("auto:guard=maybe", "auto:guard=1"):
        with pytest.raises(SystemExit):
            main([*words, "--hedger", wrong])
        assert "guard must be true or false" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--hedger", "auto:gard=false"])
    assert "did you mean guard" in capsys.readouterr().err
