"""The check that `make docs` runs on the built site finds what is wrong with a site."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import overall
from normalhedge import Mixture, Router
from normalhedge.latent import Regimes

DOCS = Path(__file__).parents[1] / "docs"
WORDS = "<p>" + "word " * 40 + "</p>"


@pytest.fixture(scope="module")
def check_site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_site", DOCS / "check_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed() -> set[str]:
    """Return the names on the pages of the reference, with their modules."""
    names = set()
    for page in (DOCS / "reference").glob("*.rst"):
        module = ""
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   (\w+)", line):
                names.add(f"{module}.{found[1]}")
    return names


def test_every_public_name_is_in_the_reference(check_site: ModuleType) -> None:
    assert not list(check_site.undocumented(listed()))


@pytest.mark.parametrize(
    ("page", "kind"), [("mixtures", Mixture), ("routing", Router), ("latent", Regimes)]
)
def test_methods_are_grouped_by_use(page: str, kind: type) -> None:
    text = (DOCS / "reference" / f"{page}.rst").read_text()
    names = re.findall(rf"`{kind.__name__}\.(\w+)`", text)
    assert sorted(names) == [name for name in dir(kind) if not name.startswith("_")]


def test_the_page_of_other_libraries_has_the_figures() -> None:
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    tasks = json.loads((DOCS / "peers.json").read_text(encoding="utf-8"))
    assert overall.TABLE.findall(page) == [overall.table(tasks)]
    assert tasks["blend"] == overall.blends()


def test_a_name_that_is_missing_is_found(check_site: ModuleType) -> None:
    missing = [
        fault.split()[0]
        for fault in check_site.undocumented(listed() - {"normalhedge.tables.blend"})
    ]
    assert missing == ["normalhedge.blend", "normalhedge.tables.blend"]


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "loads https://cdn.example.org/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example.org/x.css">',
            "loads //fonts.example.org/x.css",
        ),
        ('<img src="gone.png">', "loads gone.png, which is not there"),
        ('<a href="gone.html">x</a>', "links to gone.html, which is not there"),
        ('<a href="other.html#gone">x</a>', "links to other.html#gone, which has no such anchor"),
        ('<a href="#gone">x</a>', "links to #gone, which has no such anchor"),
        ('<a href="https://nowhere">x</a>', "links to https://nowhere, which is no address"),
        ('<a href="javascript:x()">x</a>', "links to javascript:x()"),
    ],
)
def test_faults_of_a_page_are_found(
    check_site: ModuleType, tmp_path: Path, html: str, fault: str
) -> None:
    (tmp_path / "other.html").write_text(f'<h1 id="here">{WORDS}</h1>')
    (tmp_path / "page.html").write_text(WORDS + '<a href="other.html#here">fine</a>' + html)
    found = [line for line in check_site.faults(tmp_path) if "reference" not in line]
    assert found == [f"page.html: {fault}"]


def test_an_empty_page_and_a_style_from_elsewhere_are_found(
    check_site: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text("<p>nothing here</p>")
    (tmp_path / "x.css").write_text("@font-face { src: url('https://fonts.example.org/x.woff') }")
    found = [line for line in check_site.faults(tmp_path) if "reference" not in line]
    assert found == ["page.html: is nearly empty", "x.css: loads https://fonts.example.org/x.woff"]
