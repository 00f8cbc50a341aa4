"""The verb `play`."""

import csv
import doctest
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from normalhedge import checks
from normalhedge.hedgers import HEDGERS
from normalhedge.research.games import NATURES
from tests.cli.command import call

PLAY = ("play", "--rounds", "60", "--experts", "10")


def test_play_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, *PLAY, "--runs", "3", "--hedger", "normal-hedge:c=1")
    assert code == 0
    assert "normal-hedge:c=1" in out
    assert "regret to the best expert" in out
    assert "3 runs" in out


def test_play_into_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, picture = tmp_path / "numbers.csv", tmp_path / "plot.png"
    code, _, _ = call(
        capsys, *PLAY, "--out", str(table), "--plot", str(picture), "--quantile", "0.5"
    )
    assert code == 0
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 60
    assert rows[0]["hedger"] == "normal-hedge"
    assert float(rows[-1]["quantile_regret_mean"]) <= float(rows[-1]["regret_mean"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    parquet = tmp_path / "numbers.parquet"
    call(capsys, *PLAY, "--out", str(parquet), "--every", "20")
    assert pq.read_table(parquet).num_rows == 2 * 3


@pytest.mark.parametrize("nature", ["greedy", "break-away", "independent-coins:gamma=0.1"])
def test_play_against_every_nature(capsys: pytest.CaptureFixture[str], nature: str) -> None:
    code, out, _ = call(capsys, *PLAY, "--nature", nature, "--hedger", "hedge-fixed:eta=0.3")
    assert code == 0
    assert "hedge-fixed" in out


def test_play_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "gains.csv"
    np.savetxt(path, np.random.default_rng(0).uniform(-1, 1, (50, 4)), delimiter=",")
    code, out, _ = call(capsys, "play", "--nature", f"replay:source={path}")
    assert code == 0
    assert "4 experts" in out


def mine(folder: Path) -> None:
    """Write the hedger and the nature of the page on own hedgers into a file, mine.py."""
    page = Path(__file__).parents[2] / "docs" / "own-hedgers.md"
    examples = doctest.DocTestParser().get_examples(page.read_text("utf-8"))
    wanted = ("import", "from", "class", "@dataclass")
    kept = (e.source for e in examples if not e.want and e.source.startswith(wanted))
    (folder / "mine.py").write_text("".join(kept), "utf-8")


def test_the_page_on_own_hedgers_in_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    added: list[tuple[dict[str, Any], str]] = [(HEDGERS, "mine:Softmax"), (NATURES, "mine:Waves")]
    for known, name in added:
        monkeypatch.setitem(known, name, None)
        del known[name]  # what the command adds is forgotten after the test
    monkeypatch.setenv("COLUMNS", "80")
    words = ["--hedger", "mine:Softmax", "--hedger", "mine:Softmax:rate=0.1", "--quantile", "0.4"]
    words += ["--hedger", "normal-hedge:memory=50", "--hedger", "normal-hedge:memory=500"]
    code, out, error = call(
        capsys, *PLAY, *words, "--nature", "mine:Waves:experts=4", "--runs", "2", "--table", "t.tex"
    )
    assert (code, error) == (0, "")
    assert "different rates and cannot be compared" in out
    assert "nan" not in out
    lines = [line for line in out.splitlines() if line.startswith(("mine", "normal"))]
    assert len(lines) == len(set(lines)) == 4
    table = Path("t.tex").read_text("utf-8")
    assert r"\begin{tabular}{lrrrrrrr} \toprule" in table
    assert "normal-hedge:memory=50 &" in table
    code, out, _ = call(capsys, *PLAY, *words, "--nature", "mine:Waves", "--discount", "0.02")
    assert code == 0
    assert "different rates" not in out
    out_folder = ("--out", str(tmp_path / "out"), "--rounds", "30", "--runs", "2", "--experts", "4")
    both = ("--hedger", "mine:Softmax", "--hedger", "hedge", "--nature", "mine:Waves")
    code, out, _ = call(capsys, "compare", *out_folder, *both, "--nature", "break-away")
    assert code == 0
    assert "mine:Softmax" in out
    assert "A: mine:Waves" in out
    checks.check_hedger(HEDGERS["mine:Softmax"]())
    for wrong, sentence in (
        ("mine:Soft", "the hedger mine:Soft cannot be imported"),
        ("nowhere:It", "the hedger nowhere:It cannot be imported"),
        ("mine:np", "mine:np must make a hedger or be one"),
    ):
        code, _, error = call(capsys, *PLAY, "--hedger", wrong)
        assert code == 2
        assert sentence in error


def test_figures_for_papers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "plot.svg"
    assert call(capsys, *PLAY, "--runs", "3", "--plot", str(picture))[0] == 0
    assert "<svg" in picture.read_text("utf-8")
    code, _, error = call(capsys, *PLAY, "--plot", str(tmp_path / "plot.pgf"))
    assert code == (0 if shutil.which("xelatex") else 2)
    assert code == 0 or "PGF needs xelatex, which is not installed" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nature", "god-and-bad"], "unknown nature 'god-and-bad': did you mean good-and-bad?"),
        (["--hedger", "normalhedge"], "unknown hedger 'normalhedge': did you mean normal-hedge?"),
        (["--hedger", "normal-hedge:halflife=3"], "did you mean half_life?"),
        (["--hedger", "normal-hedge:c"], "must be key=value"),
        (["--hedger", "normal-hedge:c=big"], "c must be a number, got 'big'"),
        (["--nature", "good-and-bad:gamma=1.5,f=0.1"], "gamma must be in [0, 1], got 1.5"),
        (["--nature", "good-and-bad:gamma=0.5,f=2"], "f must be in [0, 1], got 2"),
        (["--nature", "good-and-bad:gamma=0.5,f=0.01"], "at least one good expert"),
        (["--nature", "good-and-bad"], "good-and-bad needs gamma and f"),
        (["--nature", "replay:source=none.csv"], "there is no file none.csv"),
        (["--rounds", "0"], "rounds must be at least 1, got 0"),
        (["--rounds", "ten"], "'ten' is not a valid integer"),
        (["--runs", "0"], "runs must be at least 1, got 0"),
        (["--every", "0"], "every must be at least 1, got 0"),
        (["--experts", "0"], "experts must be at least 1, got 0"),
        (["--alpha", "1"], "alpha must be strictly between 0 and 1, got 1.0"),
        (["--out", "numbers.xls"], "must end in .csv or .parquet"),
        (["--plot", "plot.gif"], "must end in .png or .pdf or .svg"),
        (["--out", "/proc/nowhere/x.csv"], "/proc/nowhere"),
        (["--hodger", "hedge"], "--hodger"),
        (["--hedger", "hedge", "--hedger", "hedge"], "each --hedger must be different"),
        (["--experts", "1000000000000000"], "too large for this machine"),
        (["--nature", "replay:source=x[/b].csv"], "there is no file x[/b].csv"),
    ],
)
def test_bad_words_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, _, error = call(capsys, *PLAY, *arguments)
    assert code == 2
    assert words in error
    assert "Traceback" not in error
    assert error.strip().count("\n") == 0
