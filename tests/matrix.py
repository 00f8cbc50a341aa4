"""The tests with the oldest and the newest dependencies: ``python -m tests.matrix``.

``pyproject.toml`` has the bounds. The oldest version is the lower bound of each requirement, the
newest is the one that a new user gets today. Needs Python alone; each end has a venv of its own.
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
APART = {"sktime", "darts", "dask", "spark"}
"""Extras whose dependencies do not go with the rest; they are tested in venvs of their own."""


class Requirement(NamedTuple):
    """A name, a lower bound if there is one, and other bounds."""

    name: str
    lowest: str | None
    others: tuple[str, ...]

    def at(self, end: str) -> str:
        """Return the text for pip: the release of the lower bound, or any allowed one."""
        if end == "oldest" and self.lowest is not None:
            return f"{self.name}=={self.lowest}.*"
        return self.name + ",".join(self.others)


class Outcome(NamedTuple):
    """The result of one end: the versions, and the last line of the tests."""

    end: str
    versions: Mapping[str, str]
    passed: bool
    summary: str


def parse(text: str) -> Requirement:
    """Return the parts of a requirement, such as ``plotext>=5.3,<6``; markers do not count."""
    match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?\s*([^;]*)(?:;.*)?", text)
    if match is None:
        raise ValueError(f"cannot read the requirement {text!r}: write NAME>=VERSION")
    bounds = [bound.strip() for bound in match[2].split(",") if bound]
    lowest = next((bound[2:] for bound in bounds if bound.startswith(">=")), None)
    return Requirement(match[1].lower(), lowest, tuple(b for b in bounds if not b.startswith(">=")))


def requirements(project: Mapping[str, Any]) -> list[Requirement]:
    """Return the requirements of the package, of its extras and of the tests."""
    extras = project["project"]["optional-dependencies"]
    texts = [*project["project"]["dependencies"], *project["dependency-groups"]["matrix"]]
    for name, wanted in extras.items():
        if name not in APART:
            texts += [text for text in wanted if not text.startswith("normalhedge[")]
    return sorted({parse(text) for text in texts})


def install(end: str, wanted: Sequence[Requirement]) -> Path:
    """Make the venv of an end; return its Python."""
    folder = ROOT / ".nox" / end
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", str(ROOT), *(wish.at(end) for wish in wanted)], check=True)
    return python


def versions(python: Path, wanted: Sequence[Requirement]) -> dict[str, str]:
    """Return the version of each requirement in the venv of a Python, and of this Python."""
    program = (
        "import json, sys, importlib.metadata as m, platform\n"
        "versions = {name: m.version(name) for name in sys.argv[1:]}\n"
        "print(json.dumps({'python': platform.python_version(), **versions}))"
    )
    names = [wish.name for wish in wanted]
    done = subprocess.run(
        [python, "-c", program, *names], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of a table: a row for each requirement, a column for each end."""
    yield "| | " + " | ".join(outcome.end for outcome in outcomes) + " |"
    yield "|---" * (len(outcomes) + 1) + "|"
    for name in outcomes[0].versions:
        yield f"| {name} | " + " | ".join(outcome.versions[name] for outcome in outcomes) + " |"
    yield "| tests | " + " | ".join(outcome.summary for outcome in outcomes) + " |"


def run_tests(python: Path, end: str, arguments: Sequence[str]) -> tuple[bool, str]:
    """Run pytest and print its lines; return whether all passed, and the last line."""
    command = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"]
    if end == "oldest":  # an old matplotlib calls functions that a new pyparsing deprecates
        command += ["-W", "ignore::DeprecationWarning"]
    last = ""
    with subprocess.Popen(
        [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    return running.returncode == 0, last


def main() -> None:
    """Run the tests at one end or both, and print the table."""
    parser = argparse.ArgumentParser(prog="nox -s matrix --", description=__doc__)
    parser.add_argument("--only", choices=ENDS, help="default: both")
    parser.add_argument("--tests", default="", help="arguments of pytest; default: all tests")
    arguments = parser.parse_args()
    wanted = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    outcomes = []
    for end in [arguments.only] if arguments.only else ENDS:
        print(f"installing the {end} dependencies into .nox/{end}", flush=True)
        python = install(end, wanted)
        passed, summary = run_tests(python, end, arguments.tests.split())
        outcomes.append(Outcome(end, versions(python, wanted), passed, summary))
    print("\n".join(table(outcomes)))
    sys.exit(not all(outcome.passed for outcome in outcomes))


if __name__ == "__main__":
    main()
