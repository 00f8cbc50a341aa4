"""The verb `play`."""

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

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
        (["--plot", "plot.gif"], "must end in .png or .pdf"),
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
