"""Notebooks and scripts of the gallery run. `make docs` runs all of them and shows the figures."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
NOTEBOOKS = {
    path.name: "\n".join(CELL.findall(path.read_text())) for path in sorted(EXAMPLES.glob("*.md"))
}
SCRIPTS = {path.name: path.read_text() for path in sorted((EXAMPLES / "gallery").glob("plot_*.py"))}


def ran(program: str) -> None:
    """Run a program in the folder of the examples, without a display."""
    assert program.strip()
    subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "-"],
        input=program,
        cwd=EXAMPLES,
        env={**os.environ, "MPLBACKEND": "Agg"},
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs(name: str) -> None:
    ran(NOTEBOOKS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_of_the_gallery_runs(name: str) -> None:
    ran(SCRIPTS[name])
