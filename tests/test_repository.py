"""What stands at the top of the repository, for other people's machines, agrees with the rest."""

import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import normalhedge
from tests.matrix import ENDS, Requirement, parse, requirements

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
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
    found = []
    for cell, command in product(cells, runs):
        filled = command
        for name, value in cell.items():
            filled = filled.replace(f"${{{{ matrix.{name} }}}}", value)
        found.append(filled)
    return found


def test_workflows_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {
        target
        for job in jobs()
        for command in commands(job)
        for target in re.findall(r"\bmake ([a-z-]+)", command)
    }
    assert {"adapters", "cluster", "coverage", "docs", "matrix", "wheel"} <= called
    assert called <= targets


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
    assert citation["license"] == PROJECT["project"]["license"]


def test_the_oldest_dependencies_are_the_lower_bounds() -> None:
    assert parse("plotext>=5.3,<6").at("oldest") == "plotext==5.3.*"
    assert parse("plotext>=5.3,<6").at("newest") == "plotext<6"
    assert parse("dask[dataframe]>=2025.1") == Requirement("dask", "2025.1", ())
    assert parse("uvloop>=0.20; sys_platform != 'win32'") == Requirement("uvloop", "0.20", ())
    with pytest.raises(ValueError, match="NAME>=VERSION"):
        parse("@ file:///somewhere")
    wanted = {one.name: one for one in requirements(PROJECT)}
    assert {"numpy", "pyarrow", "scikit-learn", "pandas"} <= set(wanted)
    assert all(one.lowest is not None for one in wanted.values())
    assert not {"mypy", "arch"} & set(wanted)  # of extras with exact versions
