"""Cells: results that come back to the bit, or are computed again."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from normalhedge.research._cells import Cells
from normalhedge.research.games import Trace, play
from normalhedge.research.paper._figures import (
    FIGURES,
    FigurePanel,
    trace_from_arrays,
    trace_to_arrays,
)


def small_trace(panel: FigurePanel = FIGURES[2].panels[-1]) -> Trace:
    return play(panel.hedgers(), panel.nature, 400, 3, every=20, parts=10)


def test_cells_come_back_to_the_bit(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path / "cells", said.append)
    trace = small_trace()
    cells.save("one", {"seed": 1}, trace_to_arrays(trace))
    arrays = cells.load("one", {"seed": 1})
    assert arrays is not None
    back = trace_from_arrays(arrays)
    assert back.hedgers == trace.hedgers
    assert back.runs == trace.runs
    assert back.discount == trace.discount
    names = ("rounds", "highest_regret", "highest_potential", "part_regret")
    for name in (*names, "run_gain", "final_regret"):
        np.testing.assert_array_equal(getattr(back, name), getattr(trace, name))
    for name in ("regret", "potential", "gain"):
        for one, other in zip(getattr(back, name), getattr(trace, name), strict=True):
            np.testing.assert_array_equal(one, other)
    assert cells.load("one", {"seed": 2}) is None
    assert cells.load("two", {"seed": 1}) is None
    assert said == []


def test_a_cell_with_a_part_missing_is_computed_again(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    cells.save("one", {}, {"a": np.arange(3.0), "b": np.arange(4.0)})
    with np.load(tmp_path / "one.npz") as saved:
        left = {name: saved[name] for name in saved.files if name != "b"}
    np.savez_compressed(tmp_path / "one.npz", **left)
    assert cells.load("one", {}) is None
    assert "parts of it are missing" in said[0]


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:50], lambda b: b[:0], lambda b: b[:-40] + b"x" * 40]
)
def test_a_spoiled_cell_is_computed_again_with_a_word(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    cells.save("one", {}, {"a": np.arange(1000.0)})
    path = tmp_path / "one.npz"
    path.write_bytes(spoil(path.read_bytes()))
    assert cells.load("one", {}) is None
    assert len(said) == 1
    assert "one.npz cannot be read" in said[0]
    assert "computed again" in said[0]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    left, other = tmp_path / f".one.npz.part-{process.pid}-0123abcd.npz", tmp_path / ".part-abc.npz"
    for path in (left, other):
        path.write_bytes(b"half")
    Cells(tmp_path, print)
    assert not left.exists()
    assert other.exists()  # it may be anybody's


def test_a_cell_is_read_or_computed_again_whatever_was_changed(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.array(["x", "yy"])}
    cells.save("one", {"seed": 1}, arrays)
    path = tmp_path / "one.npz"
    text = path.read_bytes()
    for place in range(len(text)):
        flip = (1, 0x80)[place % 2]
        path.write_bytes(text[:place] + bytes([text[place] ^ flip]) + text[place + 1 :])
        found = cells.load("one", {"seed": 1})
        if found is not None:
            for name, array in arrays.items():
                np.testing.assert_array_equal(found[name], array, strict=True)
    for end in range(0, len(text), 7):
        path.write_bytes(text[:end])
        assert cells.load("one", {"seed": 1}) is None
    assert said
    assert all("it is computed again" in word for word in said)
