"""Files that are written all or nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from normalhedge import Mixture
from normalhedge.boundary import whole_files
from normalhedge.boundary.whole_files import sweep, write_whole


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("before")

    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_whole(path, fail)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


def dead() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_only_ones_own_leftovers_are_swept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    gone = dead()
    mine = tmp_path / f".state.json.part-{gone}-0123abcd.json"
    others = [
        tmp_path / f".state.json.part-{os.getppid()}-0123abcd.json",  # somebody writes it
        tmp_path / f".other.json.part-{gone}-0123abcd.json",  # another file's
        tmp_path / ".part-abc.npz",
        tmp_path / f"state.json.part-{gone}-0123abcd.json",
        tmp_path / f".state.json.part-{gone}-0123abcx.json",
    ]
    for left in (mine, *others):
        left.write_text("half")
    Mixture().save(path)
    assert not mine.exists()
    assert all(left.exists() for left in others)
    sweep(tmp_path)
    assert [left.exists() for left in others] == [True, False, True, True, True]


def test_a_part_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.json"

    def write(part: Path) -> None:
        sweep(tmp_path)
        assert part.exists()
        part.write_text("whole")

    write_whole(path, write)
    assert path.read_text() == "whole"


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120 + ".json")
    write_whole(path, lambda part: part.write_text("whole"))
    assert path.read_text() == "whole"
    left = tmp_path / f".{whole_files._stem(path)}.part-{dead()}-01234567.json"
    left.write_text("half")
    write_whole(path, lambda part: part.write_text("again"))
    assert not left.exists()
