"""The pages and the code name the same things, and commands on pages print what pages say."""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures import LOSSES, losses

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = DOCS / "algorithms"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
WITH_COMMANDS = [page for page in sorted(DOCS.rglob("*.md")) if CONSOLE.search(page.read_text())]


def test_every_hedger_has_a_page() -> None:
    pages = {page.name: page.read_text() for page in PAGES.glob("*.md")}
    index = pages.pop("README.md")
    for name in HEDGERS:
        assert any(re.search(rf"\b{name}\b", page) for page in pages.values()), name
    for name in pages:
        assert f"({name})" in index


def test_every_page_has_the_same_parts() -> None:
    for page in PAGES.glob("*.md"):
        text = page.read_text()
        assert ">>> " in text
        if page.name != "README.md":
            parts = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
            assert parts[:3] == ["Equations", "Guarantees", "Cost"]
            assert parts[3].startswith("When to choose")


def test_the_guide_has_every_loss() -> None:
    guide = (DOCS / "guides" / "losses.md").read_text()
    core = (ROOT / "src" / "core" / "losses.hpp").read_text()
    for name, make in LOSSES.items():
        loss = make([0.5]) if name == "crps" else make()
        assert re.search(rf'^\|.*`"{name}[":]', guide, flags=re.MULTILINE), f"{name} has no row"
        assert f"\n    {loss.kind} " in str(losses.__doc__), f"the docstring lacks {loss.kind}"
        assert f"\n//     {loss.kind} " in core, f"the head of losses.hpp lacks {loss.kind}"
        assert type(loss).__name__ in losses.__all__, f"{type(loss).__name__} is not in __all__"


def commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, lines that begin with $, and what they should print."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "temperatures.csv", tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    check = doctest.OutputChecker()
    for block in CONSOLE.findall(page.read_text()):
        for command, expected in commands(block):
            ran = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path, "COLUMNS": "200"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert check.check_output(expected, ran.stdout, flags), f"{command}\n{ran.stdout}"


def test_commands_are_found() -> None:
    assert commands("$ one\n$ two\nsays\nthis\n") == [("one", ""), ("two", "says\nthis\n")]
    assert DOCS / "start.md" in WITH_COMMANDS


def test_the_start_page_installs_what_it_uses() -> None:
    text = (DOCS / "start.md").read_text()
    block = text.split("```sh\n")[1].split("```")[0]
    install = next(line.split("#")[0] for line in block.splitlines() if line.startswith("pip "))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installed = set(re.findall(r"[\w-]+", install)) | {"normalhedge"}
    for extra in re.findall(r"\.\[([\w,]+)\]", install)[0].split(","):
        installed |= {re.split(r"\W", need)[0] for need in extras["optional-dependencies"][extra]}
    used = set(re.findall(r"^>>> (?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert {"pandas", "normalhedge"} <= used
    assert used <= installed
    assert "$ normalhedge" in text
    assert "cli" in install
