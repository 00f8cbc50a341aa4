"""The numbers of the note are those that the package computes, and none is typed by hand."""

import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from normalhedge.guarantees._known import PROOFS

NOTE = Path(__file__).parents[1] / "docs" / "note"
DIGITS = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def compute() -> dict[str, Any]:
    """Return what the script that computes the numbers defines."""
    return runpy.run_path(str(NOTE / "compute.py"))


def source() -> str:
    """Return the text of the note without comments."""
    return re.sub(r"(?<!\\)%.*", "", (NOTE / "note.tex").read_text())


def test_every_macro_is_computed_and_used(compute: dict[str, Any]) -> None:
    assert set(re.findall(r"\\(n[A-Z]\w*)", source())) == set(compute["read"]())


def test_no_number_is_typed_by_hand() -> None:
    """Beside settings, the paper's constant, sections of the paper, and lengths."""
    text = source().partition(r"\begin{document}")[2].partition(r"\section{Statements and")[0]
    text = re.sub(r"[\d.]+(?:\\textwidth|em)", "", text)
    text = re.sub(r"^(?:Section )?\d\.\d(?:, 6)? &|Section 4\.[12]", "", text, flags=re.MULTILINE)
    settings = {"2.32", "0.1", "0.01", "0.001", "0.53", "0.6"}
    assert set(re.findall(r"\d+\.\d+", text)) <= settings


@pytest.mark.parametrize("kind", ["QUICK", pytest.param("SLOW", marks=pytest.mark.slow)])
def test_numbers_are_reproduced(compute: dict[str, Any], kind: str) -> None:
    written = compute["read"]()
    for part in compute[kind]:
        for name, text in part().items():
            if kind == "QUICK":
                assert written[name] == text, name
                continue
            assert DIGITS.sub("", written[name]) == DIGITS.sub("", text), name
            found, known = (list(map(float, DIGITS.findall(one))) for one in (text, written[name]))
            last = 0.11 if "Games" in name else 1.1 if "Long" in name else 0.0  # of means
            assert found == pytest.approx(known, rel=2e-3, abs=last), name


def test_commands_name_what_is_there() -> None:
    table = source().partition(r"\section{Statements and commands}")[2].replace(r"\_", "_")
    tests = NOTE.parents[1] / "tests" / "guarantees"
    files = [PROOFS / name for name in re.findall(r"\bP/(\S+?\.json)", table)]
    files += [tests / name for name in re.findall(r"\bT/(\w+\.py)", table)]
    assert len(files) > 8
    for file in files:
        assert file.exists(), file
    chosen = re.findall(r"T/(\w+\.py) -k '?([\w ]+)", table)
    assert len(chosen) >= 4
    for name, words in chosen:
        for word in words.split(" or "):
            assert re.search(rf"def test_\w*{word}", (tests / name).read_text()), (name, word)


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="no pandoc: make system PARTS=pandoc")
def test_the_paper_of_two_pages_compiles(tmp_path: Path) -> None:
    """Its references are resolved: pandoc fails where a citation has no entry."""
    page = tmp_path / "paper.html"
    options = ("--citeproc", "--standalone", "--mathml", "--fail-if-warnings")
    command = ["pandoc", "paper.md", *options, "--output", str(page)]
    subprocess.run(command, cwd=NOTE, check=True, capture_output=True)
    html = page.read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", (NOTE / "paper.bib").read_text(), re.MULTILINE)
    assert entries
    assert not [entry for entry in entries if f'id="ref-{entry}"' not in html]
    words = re.sub(r"<(style|math).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL).split()
    assert 250 < len(words) < 1_200
