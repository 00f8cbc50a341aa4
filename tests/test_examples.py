"""Notebooks and scripts of the gallery run. `make docs` runs them, too, and shows the figures."""

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
PROGRAMS = NOTEBOOKS | SCRIPTS


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_runs(name: str) -> None:
    assert PROGRAMS[name].strip()
    subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "-"],
        input=PROGRAMS[name],
        cwd=EXAMPLES,
        env={**os.environ, "MPLBACKEND": "Agg"},
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
