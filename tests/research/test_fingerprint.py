"""The fingerprint: it changes with the code that computes, and with no other code."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from normalhedge.research._fingerprint import NOW, PACKAGE, SHOWN, UPPER, contents, fingerprint
from normalhedge.research.paper._parts import PARTS

PAGE_VERSION = '"normalhedge": normalhedge.__version__,'


def copied(folder: Path) -> tuple[Path, Path]:
    """Copy the package; return its folder, and a file in place of the core."""
    package = folder / "normalhedge"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    core = folder / "_core.so"
    core.write_bytes(b"core")
    return package, core


@pytest.mark.parametrize("upper", [(), ("latent",), ("mixtures", "tables"), ("mixtures", "latent")])
@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("hedgers/_normal_hedge.py", ""),
        ("boundary/inputs.py", ""),
        ("research/_cells.py", ""),
        ("research/leaderboard/_contests.py", ""),
        ("research/paper/_reproduce.py", ""),
        ("research/paper/_part.py", ""),
        ("guarantees/proofs/index.json", ""),
        ("latent/banks/_hmm_bank.py", "latent"),
        ("mixtures/_mixture.py", "mixtures"),
        ("tables/_rounds.py", "tables"),
        ("cli/_paper.py", "nowhere"),
        ("reports/_page.py", "nowhere"),
        ("reports/plots.py", "nowhere"),
        ("research/paper/_comparisons.py", "nowhere"),
        ("research/leaderboard/_page.py", "nowhere"),
        ("py.typed", "nowhere"),
    ],
)
def test_the_fingerprint_changes_with_what_computes(
    tmp_path: Path, upper: tuple[str, ...], name: str, layer: str
) -> None:
    package, core = copied(tmp_path)
    before = fingerprint(*upper, code=contents(package, core))
    moved = package.rename(tmp_path / "elsewhere")
    assert fingerprint(*upper, code=contents(moved, core)) == before
    content = bytearray((moved / name).read_bytes() or b"x")
    content[-1] ^= 1
    (moved / name).write_bytes(content)
    after = fingerprint(*upper, code=contents(moved, core))
    assert (after != before) == (layer in ("", *upper))


def test_the_fingerprint_has_the_core_and_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, core = copied(tmp_path)
    before = contents(package, core)
    core.write_bytes(b"cor3")
    assert fingerprint(code=contents(package, core)) != fingerprint(code=before)
    core.write_bytes(b"core")
    assert contents(package, core) == before
    assert before["core"] != NOW["core"]
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"another {name}")
    after = contents(package, core)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"numpy", "scipy", "latent/hmmlearn"}
    only = {**before, "latent/hmmlearn": "another"}
    assert fingerprint(code=only) == fingerprint(code=before)
    assert fingerprint("latent", code=only) != fingerprint("latent", code=before)
    assert len({fingerprint(), fingerprint("latent"), fingerprint("mixtures")}) == 3
    with pytest.raises(ValueError, match="upper must be of latent, mixtures, tables, got games"):
        fingerprint("games")


def test_a_part_depends_on_its_own_file_and_on_no_other_part(tmp_path: Path) -> None:
    package, core = copied(tmp_path)

    def codes() -> dict[str, str]:
        code = contents(package, core)
        everything = {part.id: set(part.paths) for part in PARTS}
        return {
            name: fingerprint(without=set().union(*everything.values()) - own, code=code)
            for name, own in everything.items()
        }

    before = codes()
    for part in PARTS:
        for path in part.paths:
            assert (package / path).exists()
            with (package / path).open("a") as file:
                file.write("# changed")
        after = codes()
        changed = {name for name, code in after.items() if code != before[name]}
        # Files that only judge are in no fingerprint.
        assert changed == ({part.id} if part.choices else set())
        before = after


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, as paths."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found |= {name.partition(".")[2].replace(".", "/") + ".py" for name in names}
    return {name for name in found if (PACKAGE / name).exists()}


def test_what_the_fingerprint_leaves_out_computes_nothing() -> None:
    """Nothing that measures imports what only judges or shows, and no key has a version."""
    assert all((PACKAGE / name).exists() for name in SHOWN)
    shown = {name for name in SHOWN if name.startswith("research/")}
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("research/**/*.py")}
    for name in files:
        text = (PACKAGE / name).read_text("utf-8")
        # A page names the version; a key does not.
        said = [line.strip() for line in text.splitlines() if "__version__" in line]
        assert {*said} <= {PAGE_VERSION, '"numpy": np.__version__,'}, name
    # A claim is what a judge returns; the two files that run the work write the pages, too.
    claim = "research/paper/_claim.py"
    runners = {
        "research/leaderboard/__init__.py",
        "research/leaderboard/_run.py",
        "research/paper/__init__.py",
        "research/paper/_reproduce.py",
    }
    for name in files - shown - runners:
        assert not imported(PACKAGE / name) & (shown - {claim}), name
    # A part that measures imports no other part, whose files its fingerprint leaves out.
    for part in PARTS:
        others = {path for other in PARTS if other is not part for path in other.paths}
        for path in part.paths if part.choices else ():
            assert not imported(PACKAGE / path) & others, path
    # Every measurement that uses an upper layer has it in its fingerprint.
    for part in PARTS:
        for path in part.paths if part.choices else ():
            text = (PACKAGE / path).read_text("utf-8")
            used = {layer for layer in UPPER if f"normalhedge.{layer}" in text}
            assert used <= set(part.layers), path
    # The layers of one measurement that the fingerprint of another leaves out.
    for folder, above in (
        ("mixtures", "latent|tables"),
        ("latent", "mixtures|tables"),
        ("tables", "latent"),
        ("research/games", "latent|mixtures|tables"),
        ("hedgers", "research|latent|mixtures|tables"),
        ("guarantees", "research|latent|mixtures|tables"),
    ):
        for source in (PACKAGE / folder).rglob("*.py"):
            assert not re.search(rf"^\s*(from|import) normalhedge\.({above})\b",
                                 source.read_text("utf-8"), re.MULTILINE), source  # fmt: skip
