"""Cells of an experiment on disk."""

from pathlib import Path

import numpy as np

from normalhedge.experiments.cells import Cells


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
