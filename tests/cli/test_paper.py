"""The verb `paper`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.command import call


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


def test_a_figure_with_other_settings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("paper", "--quick", "--out", str(tmp_path))
    changed = ("--only", "figure-3", "--experts", "20", "--alpha", "0.05")
    code, _, _ = call(capsys, *words, *changed)
    assert code == 0
    table = pq.read_table(tmp_path / "figure-3.parquet").to_pydict()
    assert (set(table["experts"]), set(table["alpha"])) == ({20}, {0.05})
    assert (max(table["round"]), set(table["gamma"])) == (200, {0.2, 0.8})
    assert (tmp_path / "figure-3.svg").exists()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "normalhedge paper --seed 0 --experts 20 --alpha 0.05 --quick --only figure-3" in page
    assert "not a claim" in page.lower()
    for bad, sentence in (
        (("--only", "pulse", "--experts", "20"), "unknown figure of the paper 'pulse'"),
        (("--experts", "0"), "experts must be at least 1"),
        (("--alpha", "1"), "alpha must be strictly between 0 and 1"),
        (("--only", "figure-1", "--experts", "20"), "at least one good expert"),
    ):
        code, _, error = call(capsys, *words, *bad)
        assert code == 2
        assert sentence in error


def test_the_paper_in_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(
        capsys, "paper", "--quick", "--only", "hedge-bound", "--out", str(tmp_path / "a[/b]" / "p")
    )
    assert code == 0
    assert "does not hold" in out
    assert (tmp_path / "a[/b]" / "p" / "report.html").exists()


def _interruptible() -> None:
    """Listen to interrupts again: what a script starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_is_continued(tmp_path: Path, stop: signal.Signals) -> None:
    for attempt in range(10):  # a run may end before it is stopped
        out = tmp_path / f"paper {attempt}"
        command = [sys.executable, "-m", "normalhedge", "paper", "--quick", "--only", "figure-3"]
        command += ["--out", str(out)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=_interruptible,  # noqa: PLW1509 -- it calls nothing that a thread may hold
        )
        cells = out / "cells"
        end = time.monotonic() + 120
        while not (cells.exists() and list(cells.glob("panel*.npz"))) and time.monotonic() < end:
            time.sleep(0.005)
        os.kill(process.pid, stop)
        _, error = process.communicate(timeout=60)
        if process.returncode:
            break
    assert process.returncode not in {0, 1}
    assert b"Traceback" not in error
    finished = {path.name: path.stat().st_mtime_ns for path in cells.glob("panel*.npz")}
    assert finished
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for name, when in finished.items():
        assert (cells / name).stat().st_mtime_ns == when
    assert (out / "report.html").exists()
    assert not list(cells.glob(".*"))
