"""Finished results in a folder: each is saved completely or not at all, and computed only once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown

Arrays = dict[str, np.ndarray]
"""The numbers of one result, by name."""


class Cells:
    """A folder of cells; a cell is one result, with a name and a key.

    The key holds everything that the numbers depend on.
    """

    def __init__(self, folder: Path, say: Callable[[str], object]) -> None:
        self.folder = folder
        self.say = say
        whole_files.sweep(folder)

    def load(self, name: str, key: Mapping[str, object]) -> Arrays | None:
        """Return the arrays of a cell, or none if there is no cell with this name and key."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                arrays = {field: saved[field] for field in saved.files}
            saved_key, fields = str(arrays.pop("key")), str(arrays.pop("fields"))
            if fields != _contents(arrays):
                raise ValueError("parts of it are missing, or were changed")
        except Exception as error:
            why = clipped(shown(str(error) or type(error).__name__))
            self.say(f"{path} cannot be read ({why}): it is computed again")
            return None
        return arrays if saved_key == _text(key) else None

    def save(self, name: str, key: Mapping[str, object], arrays: Arrays) -> None:
        """Save a cell; it replaces the cell of the same name."""
        fields: dict[str, Any] = {"key": np.array(_text(key)), **arrays}
        fields["fields"] = np.array(_contents(arrays))
        whole_files.write_whole(
            self.folder / f"{name}.npz",
            lambda part: np.savez_compressed(part, **fields),
        )


def _contents(arrays: Arrays) -> str:
    """Return the shape, the type and a checksum of each array."""
    contents = {}
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        contents[name] = [list(array.shape), array.dtype.str, hashlib.sha256(data).hexdigest()]
    return _text(contents)


def _text(key: Mapping[str, object]) -> str:
    return json.dumps(key, sort_keys=True)
