import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge import _tables, cli
from normalhedge.reports.figures import curves_plot, loss_plot, places_plot


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


HOSTILE = "\x1b[31mred\x07 <a href='https://example.org'>x</a>"


def test_names_do_nothing_to_a_terminal_or_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, report = tmp_path / "data.parquet", tmp_path / "report.html"
    y = np.arange(40.0)
    days = [f"<a href='{k:02}'>" for k in range(40)]
    columns = {"ds": days, "y": y, HOSTILE: y + 1, "+b": y + 2, "line\nbreak": y + 3}
    pq.write_table(pa.table(columns), data)
    words = ["blend", str(data), "--target", "y", "--time", "ds", "--report", str(report)]
    code, out, error = call(capsys, *words)
    assert code == 0
    for text in (out, error):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "\\x1b[31mred" in out
    assert "line\\nbreak" in out
    html = report.read_text("utf-8")
    assert "\x1b" not in html.rpartition("</script>")[2]
    plots = re.findall(r"Plotly\.newPlot\(\s*\"\w+\",\s*(\[.*?\]),\s*\{", html, re.DOTALL)
    drawn = "".join(plots)
    assert "\\u0026lt;a href=" in drawn or "&lt;a href=" in drawn
    assert "\\u003ca href=" not in drawn
    assert "<a href=" not in drawn
    code, _, error = call(capsys, "blend", str(data), "--target", HOSTILE[:-1])
    assert code == 2
    assert "\x1b" not in error


def test_labels_are_text() -> None:
    panels = [(HOSTILE, [HOSTILE], np.zeros((1, 3)), 3)]
    page = loss_plot("x", panels) + places_plot(
        "y", [HOSTILE], [HOSTILE], np.ones((1, 1)), [["<b>"]]
    )
    page += curves_plot("z", np.arange(3), {HOSTILE: np.zeros(3)}, [HOSTILE])
    for tag in ("a href", "b>"):
        assert f"<{tag}" not in page
        assert f"\\u003c{tag}" not in page


def test_no_cell_is_computed_by_a_spreadsheet(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, out = tmp_path / "data.parquet", tmp_path / "out.csv"
    y = -np.arange(4.0)
    words = ["=1+1", "@x", "-y", "plain"]
    pq.write_table(pa.table({"=ds": words, "y": y, "a": y - 1, "+b": y - 2}), data)
    given = ["blend", str(data), "--target", "y", "--time", "=ds", "--out", str(out), "--weights"]
    call(capsys, *given, "--safe-csv")
    with out.open() as file:
        head, *rows = list(csv.reader(file))
    assert head == ["'=ds", "y", "blend", "weight_a", "weight_+b"]
    assert [row[0] for row in rows] == ["'=1+1", "'@x", "'-y", "plain"]
    assert [float(row[1]) for row in rows] == y.tolist()
    call(capsys, *given)
    assert "'" not in out.read_text()
    table = tmp_path / "table.csv"
    _tables.write_table(table, {"=x": ["\ta", "b"], "n": [-1.0, 2.0]}, safe=True)
    assert table.read_text().splitlines() == ["'=x,n", "'\ta,-1.0", "b,2.0"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("end", [">/dev/full", ">&-", "| head -c 1 >/dev/null"])
def test_nothing_can_be_printed(end: str) -> None:
    words = f"{sys.executable} -m normalhedge {' '.join(PLAY)} --runs 1"
    out = subprocess.run(["sh", "-c", f"{words} {end}"], capture_output=True, check=False)
    assert b"Traceback" not in out.stderr
    assert out.stderr.strip().count(b"\n") == 0
