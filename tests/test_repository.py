"""The files at the top of the repository, for other people's machines, agree with the rest."""

import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import normalhedge
from docs import rooms
from normalhedge.boundary.extras import EXTRAS
from tests.matrix import ENDS, Requirement, parse, requirements

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
NOXFILE = (ROOT / "noxfile.py").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def jobs() -> list[Any]:
    return [job for path in WORKFLOWS for job in read(path)["jobs"].values()]


def commands(job: Any) -> list[str]:
    """Return the commands of a job, for every cell of its matrix."""
    cells: list[dict[str, str]] = [{}]
    if "strategy" in job:
        axes = {k: v for k, v in job["strategy"]["matrix"].items() if k != "include"}
        cells = [dict(zip(axes, cell, strict=True)) for cell in product(*axes.values())]
        cells += job["strategy"]["matrix"].get("include", [])
    runs = [step["run"] for step in job.get("steps", []) if "run" in step]
    lines = []
    for cell, command in product(cells, runs):
        line = command
        for name, value in cell.items():
            line = line.replace(f"${{{{ matrix.{name} }}}}", value)
        lines.append(line)
    return lines


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def sessions() -> set[str]:
    """Return the names of the sessions of nox."""
    decorated = re.compile(
        r'^@nox\.session(?:\((?:name="([\w-]+)")?.*\))?\ndef (\w+)', re.MULTILINE
    )
    return {name or function for name, function in decorated.findall(NOXFILE)}


def called(program: str, text: str) -> set[str]:
    """Return the targets, or sessions, that a text calls."""
    return set(re.findall(rf"(?<!\w){program} ([a-z-]+)", text))


def test_workflows_call_targets_and_sessions_that_exist() -> None:
    lines = "\n".join(command for job in jobs() for command in commands(job))
    assert {"docs", "system", "wheel"} <= called("make", lines) <= targets()
    assert (
        {"adapters", "cluster", "coverage", "cross", "matrix"}
        <= called("nox -s", lines)
        <= sessions()
    )


def test_make_has_a_dozen_targets_that_help_explains() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert set(re.findall(r"^([a-z-]+):.*  ## ", makefile, re.MULTILINE)) == targets()
    assert len(targets()) <= 14


def test_only_one_target_installs_programs_on_the_system() -> None:
    for path in (ROOT / "Makefile", ROOT / "noxfile.py", ROOT / ".ci" / "run"):
        assert "apt-get" not in path.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_targets_and_sessions_that_exist(page: Path) -> None:
    code = "\n".join(re.findall(r"`[^`\n]+`", page.read_text()))
    assert called("`make", code) <= targets()
    assert called("nox -s", code) <= sessions()


def test_contributors_read_of_every_session() -> None:
    assert called("nox -s", CONTRIBUTING) == sessions()


def test_the_map_of_the_rooms_is_the_import_contract() -> None:
    """After a change of rooms, `make format` draws the map."""
    assert rooms.MAP.findall(CONTRIBUTING) == [rooms.draw()]
    folders = {path.parent.name for path in (ROOT / "src" / "normalhedge").glob("*/__init__.py")}
    assert {room for layer in rooms.layers() for room in layer} == folders


def test_contributing_names_files_that_exist() -> None:
    """Paths begin at the repository, package, core, or a folder named before on the line."""
    paths = re.compile(r"(?!out/)[\w/*.-]+(\.(py|[ch]pp|js|md|rst|tex|toml)|/\w+)")
    count = 0
    for line in CONTRIBUTING.splitlines():
        folders = [ROOT, ROOT / "src" / "normalhedge", ROOT / "src" / "core"]
        for code in re.findall(r"`([^`]+)`", line):
            path = re.sub(r"<\w+>", "*", code)
            if paths.fullmatch(path):
                matches = [match for folder in folders for match in folder.glob(path)]
                assert matches, f"CONTRIBUTING.md names {code}, and there is no such file"
                folders.append(matches[0] if matches[0].is_dir() else matches[0].parent)
                count += 1
    assert count > 50


def test_published_extras_are_for_users() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert len(extras) <= 16
    assert set(EXTRAS.values()) <= set(extras)
    assert not [text for texts in extras.values() for text in texts if "==" in text]


def test_files_that_workflows_call_are_there() -> None:
    assert any(".ci/run" in commands(job) for job in jobs())
    assert (ROOT / ".ci" / "run").exists()
    for job in jobs():
        if "uses" in job:
            assert (ROOT / job["uses"]).exists()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_few_rights(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in path.read_text()
    for name, job in workflow["jobs"].items():
        rights = {right for right, kind in job.get("permissions", {}).items() if kind == "write"}
        assert rights <= {"publish": {"id-token"}, "deploy": {"id-token", "pages"}}.get(name, set())
        assert "uses" in job or "timeout-minutes" in job
        for step in job.get("steps", []):
            if "uses" in step:
                assert re.search(r"@(v\d+|release/v\d+)$", step["uses"])


def test_every_python_with_a_wheel_is_tested() -> None:
    tested = read(ROOT / ".github/workflows/ci.yml")["jobs"]["matrix"]["strategy"]["matrix"]
    built = re.findall(r"cp3(\d+)-", PROJECT["tool"]["cibuildwheel"]["build"])
    assert tested["python"] == [f"3.{minor}" for minor in built]
    assert PROJECT["project"]["requires-python"] == f">={tested['python'][0]}"
    assert {*tested["end"], *(cell["end"] for cell in tested["include"])} == set(ENDS)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_have_questions(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    names = [entry["id"] for entry in form["body"]]
    assert len(names) == len(set(names))
    assert any(entry.get("validations", {}).get("required") for entry in form["body"])


def test_the_citation_is_of_this_version() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == normalhedge.__version__
    assert PROJECT["project"]["license"].startswith(f"{citation['license']} AND ")
    supported = re.findall(r"^\| (\d+\.\d+) ", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    assert supported == [normalhedge.__version__.rpartition(".")[0]]


def test_the_oldest_dependencies_are_the_lower_bounds() -> None:
    assert parse("plotext>=5.3,<6").at("oldest") == "plotext==5.3.*"
    assert parse("plotext>=5.3,<6").at("newest") == "plotext<6"
    assert parse("dask[dataframe]>=2025.1") == Requirement("dask", "2025.1", ())
    assert parse("uvloop>=0.20; sys_platform != 'win32'") == Requirement("uvloop", "0.20", ())
    with pytest.raises(ValueError, match="NAME>=VERSION"):
        parse("@ file:///somewhere")
    wanted = {wish.name: wish for wish in requirements(PROJECT)}
    assert {"numpy", "pyarrow", "scikit-learn", "pandas"} <= set(wanted)
    assert all(wish.lowest is not None for wish in wanted.values())
    assert not {"mypy", "arch"} & set(wanted)  # contributors need these
