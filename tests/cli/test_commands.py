"""The group of commands."""

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest

from normalhedge import cli
from normalhedge.cli._commands import group


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


def test_the_verbs_are_the_files_that_have_a_command() -> None:
    context = click.Context(group)
    found = {}
    for path in Path(cli.__file__).parent.glob("_[a-z]*.py"):
        module = importlib.import_module(f"normalhedge.cli.{path.stem}")
        if hasattr(module, "command"):
            found[path.stem[1:].replace("_", "-")] = module.command
    assert sorted(found) == sorted(group.list_commands(context))
    for verb, command in found.items():
        assert command.name == verb
        assert group.get_command(context, verb) is command


def test_a_missing_extra_is_named() -> None:
    program = "import sys; sys.modules['click'] = None; from normalhedge.cli import main; main([])"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert out.returncode == 2
    assert "pip install 'normalhedge[cli]'" in out.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("end", [">/dev/full", ">&-", "| head -c 1 >/dev/null"])
def test_nothing_can_be_printed(end: str) -> None:
    words = f"{sys.executable} -m normalhedge play --rounds 60 --experts 10 --runs 1"
    out = subprocess.run(["sh", "-c", f"{words} {end}"], capture_output=True, check=False)
    assert b"Traceback" not in out.stderr
    assert out.stderr.strip().count(b"\n") == 0
