"""The command that shows the leaderboard."""

import re
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from normalhedge.cli import main
from tests.research.leaderboard.samples import panel_file


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(["compare", *words])
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as error:
        main(["compare", *words])
    assert error.value.code == 2
    return capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = panel_file(tmp_path / "p.csv")
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
    path = panel_file(tmp_path / "p.csv")
    main(["compare", "--hedger", "hedge", "--panel", str(path), "--target", "y", "--by", "series",
          "--out", str(tmp_path / "out")])  # fmt: skip
    assert "notes: experts: day, a, b, c" in capsys.readouterr().err


def test_even_weights_without_a_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("day,y,a,b\n1,1,0.5,1.5\n2,2,1,3\n")
    words = ["--hedger", "uniform", "--panel", str(path), "--target", "y", "--time", "day"]
    said = run(capsys, *words, "--out", str(tmp_path / "out"))
    assert re.search(r"uniform weights +0 +- ", said)
    shares = pyarrow.csv.read_csv(tmp_path / "out" / "panels.csv")["relative_to_uniform"]
    assert not np.isfinite(np.array(shares.to_pylist(), dtype=float)).any()
