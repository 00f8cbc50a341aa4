import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from normalhedge import cli


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit code, output and errors."""
    code: object = 0
    try:
        cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, error = capsys.readouterr()
    return int(str(code)), out, error


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
        (["--plot", "plot.gif"], "must end in .pdf or .png"),
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pape"], "unknown command 'pape': did you mean paper?"),
        (["paper", "--only", "figur-1"], "did you mean figure-1?"),
        (["paper", "--jobs", "0"], "--jobs"),
        (["paper", "--seed", "-1"], "--seed"),
        (["paper", "--quick", "--out", "/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_bad_words_for_the_paper(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, _, error = call(capsys, *arguments)
    assert code == 2
    assert words in error


def test_an_output_folder_that_is_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("here")
    code, _, error = call(capsys, "paper", "--quick", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "out" in error


def test_the_paper_in_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(
        capsys, "paper", "--quick", "--only", "hedge-bound", "--out", str(tmp_path / "a[/b]" / "p")
    )
    assert code == 0
    assert "does not hold" in out
    assert (tmp_path / "a[/b]" / "p" / "report.html").exists()


def test_help_is_quick_and_names_the_verbs() -> None:
    program = (
        "import sys; from normalhedge.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'matplotlib', 'plotly', 'pyarrow', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "paper" in out.stdout


def test_a_missing_extra_is_named() -> None:
    program = "import sys; sys.modules['click'] = None; from normalhedge.cli import main; main([])"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert out.returncode == 2
    assert "pip install 'normalhedge[cli]'" in out.stderr


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_is_continued(tmp_path: Path, stop: signal.Signals) -> None:
    out = tmp_path / "paper"
    command = [sys.executable, "-m", "normalhedge", "paper", "--quick", "--only", "figure-3"]
    command += ["--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    cells = out / "cells"
    end = time.monotonic() + 120
    while not (cells.exists() and list(cells.glob("panel*.npz"))) and time.monotonic() < end:
        time.sleep(0.005)
    os.kill(process.pid, stop)
    _, error = process.communicate(timeout=60)
    assert process.returncode not in {0, 1}
    assert b"Traceback" not in error
    finished = {path.name: path.stat().st_mtime_ns for path in cells.glob("panel*.npz")}
    assert finished
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for name, when in finished.items():
        assert (cells / name).stat().st_mtime_ns == when
    assert (out / "report.html").exists()
    assert not list(cells.glob(".*"))
