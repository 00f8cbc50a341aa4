"""The record of speed: kernels that became slower are named, and runs are kept once a version."""

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks import instructions, record
from benchmarks.timing import Row


def run_of(version: str, counts: dict[str, int]) -> record.Run:
    row = Row("step", "NumPy", 3.0, 2.0, ">= 1x")
    return record.run_of([row], counts) | {"version": version}


def test_only_what_takes_five_percent_more_than_when_last_kept_is_named() -> None:
    runs = [run_of("1", {"a": 1000, "b": 1000}), run_of("2", {"a": 2000})]
    now = run_of("3", {"a": 2100, "b": 1051, "new": 5})
    assert record.explain(now, runs) == [
        "b: 1,051 instructions, +5.1% since it was last kept: why?"
    ]
    assert record.explain(now, []) == []


def test_a_version_is_kept_once_and_the_page_has_all(tmp_path: Path) -> None:
    file, page = tmp_path / "record.json", tmp_path / "page.md"
    page.write_text(
        "before\n<!-- history: benchmarks/record.py -->\n<!-- end of history -->\nafter\n"
    )
    for version, count in (("1", 7000), ("2", 8000), ("2", 9000)):
        record.keep(run_of(version, {"a": count}), file, page)
    assert [run["instructions"]["a"] for run in record.read(file)] == [7000, 9000]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end of history -->\nafter\n")
    assert "| a | 7,000 | 9,000 |" in text
    assert "| step, to NumPy | 1.5x | 1.5x |" in text


def test_the_page_shows_the_record() -> None:
    shown = record.HISTORY.search(record.PAGE.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == record.history(record.read())


def test_parts_of_valgrind_belong_to_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_parts(command: list[str], **_: object) -> None:
        out = next(Path(arg.partition("=")[2]) for arg in command if "out-file" in arg)
        for part in range(1, 2 * len(instructions.KERNELS) + 2):
            out.with_suffix(f".{part}").write_text(f"part: {part}\nsummary: {part * 1000}\n")

    monkeypatch.setattr(subprocess, "run", write_parts)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/valgrind")
    counts = instructions.count()
    assert counts is not None
    calls = [calls for _, calls in instructions.KERNELS.values()]
    assert list(counts.values()) == [(2 * k + 2) * 1000 // n for k, n in enumerate(calls)]
