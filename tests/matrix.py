"""The tests with the oldest and the newest dependencies: ``python -m tests.matrix``.

The bounds are those of ``pyproject.toml``. The oldest is the lower bound of each requirement, the
newest whatever a new user gets today. Needs Python alone; each end has a venv of its own.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
ENDS = ("oldest", "newest")
APART = {"sktime", "darts", "dask", "spark", "docs"}
"""Extras whose dependencies want others than the rest; they are tested in venvs of their own."""


class Requirement(NamedTuple):
    """A name, a lower bound if there is one, and what else is asked of a version."""

    name: str
    lowest: str | None
    others: tuple[str, ...]

    def at(self, end: str) -> str:
        """Return what pip is asked for: the release of the lower bound, or any that is allowed."""
        if end == "oldest" and self.lowest is not None:
            return f"{self.name}=={self.lowest}.*"
        return self.name + ",".join(self.others)


class Outcome(NamedTuple):
    """What came of one end: the versions, and the last words of the tests."""

    end: str
    versions: Mapping[str, str]
    passed: bool
    summary: str


def parse(text: str) -> Requirement:
    """Return the parts of a requirement, such as ``plotext>=5.3,<6``; markers do not count."""
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?\s*([^;]*)(?:;.*)?", text)
    if found is None:
        raise ValueError(f"cannot read the requirement {text!r}: write NAME>=VERSION")
    bounds = [bound.strip() for bound in found[2].split(",") if bound]
    lowest = next((bound[2:] for bound in bounds if bound.startswith(">=")), None)
    return Requirement(found[1].lower(), lowest, tuple(b for b in bounds if not b.startswith(">=")))


def requirements(project: Mapping[str, Any]) -> list[Requirement]:
    """Return what the package needs, with all extras that users install, and the tests.

    Extras with exact versions (``==``) are for our own benches, and do not count.

    Parameters
    ----------
    project
        The content of ``pyproject.toml``.
    """
    extras = project["project"]["optional-dependencies"]
    texts = [*project["project"]["dependencies"], *project["dependency-groups"]["matrix"]]
    for name, wanted in extras.items():
        if name not in APART and not any("==" in text for text in wanted):
            texts += [text for text in wanted if not text.startswith("normalhedge[")]
    return sorted({parse(text) for text in texts})


def install(end: str, wanted: Sequence[Requirement]) -> Path:
    """Make the venv of an end; return its Python.

    Parameters
    ----------
    end
        ``"oldest"`` or ``"newest"``.
    wanted
        The requirements.
    """
    folder = ROOT / f".venv-{end}"
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", str(ROOT), *(one.at(end) for one in wanted)], check=True)
    return python


def versions(python: Path, wanted: Sequence[Requirement]) -> dict[str, str]:
    """Return the installed version of each requirement, and that of Python.

    Parameters
    ----------
    python
        The Python of a venv.
    wanted
        The requirements.
    """
    program = (
        "import json, sys, importlib.metadata as m, platform\n"
        "found = {name: m.version(name) for name in sys.argv[1:]}\n"
        "print(json.dumps({'python': platform.python_version(), **found}))"
    )
    names = [one.name for one in wanted]
    done = subprocess.run(
        [python, "-c", program, *names], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of a table: a row for each requirement, a column for each end.

    Parameters
    ----------
    outcomes
        What came of each end.
    """
    yield "| | " + " | ".join(one.end for one in outcomes) + " |"
    yield "|---" * (len(outcomes) + 1) + "|"
    for name in outcomes[0].versions:
        yield f"| {name} | " + " | ".join(one.versions[name] for one in outcomes) + " |"
    yield "| tests | " + " | ".join(one.summary for one in outcomes) + " |"


def tested(python: Path, end: str, chosen: Sequence[str]) -> tuple[bool, str]:
    """Run tests as they speak; return whether they passed, and their last line.

    Parameters
    ----------
    python
        The Python of a venv.
    end
        ``"oldest"`` or ``"newest"``.
    chosen
        Arguments of pytest.
    """
    command = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"]
    if end == "oldest":  # an old matplotlib calls what a new pyparsing will not have for long
        command += ["-W", "ignore::DeprecationWarning"]
    last = ""
    with subprocess.Popen(
        [*command, *chosen], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    return running.returncode == 0, last


def main() -> None:
    """Run the tests with the ends that are named, and print the table."""
    parser = argparse.ArgumentParser(prog="make matrix", description=__doc__)
    parser.add_argument("--only", choices=ENDS, help="default: both")
    parser.add_argument("--tests", default="", help="arguments of pytest; default: all tests")
    given = parser.parse_args()
    wanted = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    outcomes = []
    for end in [given.only] if given.only else ENDS:
        print(f"installing the {end} dependencies into .venv-{end}", flush=True)
        python = install(end, wanted)
        outcomes.append(
            Outcome(end, versions(python, wanted), *tested(python, end, given.tests.split()))
        )
    print("\n".join(table(outcomes)))
    sys.exit(not all(one.passed for one in outcomes))


if __name__ == "__main__":
    main()
