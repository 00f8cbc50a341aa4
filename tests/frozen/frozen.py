"""The frozen numbers in their file, and how they are compared."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.frozen.case import Arrays

FILE = Path(__file__).parent / "frozen.npz"

INDEX = "index"
"""The entry that says, in JSON, which arrays the numbers of a case are, and of which shape."""

FLOOR = 1e-3
"""Where all numbers of an array are smaller than this, they are compared as if one were this."""


def write(path: Path, found: Mapping[str, Arrays]) -> None:
    """Write what the cases gave: one row of numbers for each."""
    index = {case: {k: v.shape for k, v in arrays.items()} for case, arrays in found.items()}
    rows = {
        case: np.concatenate([np.ravel(np.asarray(v, dtype=np.float64)) for v in arrays.values()])
        for case, arrays in found.items()
    }
    text = np.frombuffer(json.dumps(index, separators=(",", ":")).encode(), dtype=np.uint8)
    np.savez_compressed(path, allow_pickle=False, **{INDEX: text}, **rows)


class Frozen:
    """The file, opened: what each case gave."""

    def __init__(self, path: Path = FILE) -> None:
        with np.load(path) as file:
            self.index = json.loads(bytes(file[INDEX]))
            self._rows = {case: file[case] for case in self.index}

    def __getitem__(self, case: str) -> Arrays:
        found, start, row = {}, 0, self._rows[case]
        for name, shape in self.index[case].items():
            stop = start + int(np.prod(shape, dtype=np.int64))
            found[name] = row[start:stop].reshape(shape)
            start = stop
        assert start == len(row)
        return found


def how_far(found: Arrays, frozen: Arrays) -> dict[str, float]:
    """Return how far each array is from what it was: the tolerance that would just let it pass.

    A number may differ by a tolerance times its own size and that of the largest of its array. It
    is infinite where the arrays are not alike: in names, shapes, or in what is NaN or infinite.
    """
    far = dict.fromkeys(frozen.keys() ^ found.keys(), np.inf)
    for name in frozen.keys() & found.keys():
        far[name] = _apart(np.asarray(found[name], dtype=np.float64), frozen[name])
    return far


def _apart(new: np.ndarray, old: np.ndarray) -> float:
    if new.shape != old.shape:
        return np.inf
    usual = np.isfinite(old)
    if not np.array_equal(new[~usual], old[~usual], equal_nan=True):
        return np.inf
    if not np.isfinite(new[usual]).all():
        return np.inf
    largest = float(np.abs(old[usual]).max(initial=FLOOR))
    moved = np.abs(new[usual] - old[usual]) / (np.abs(old[usual]) + largest)
    return float(moved.max(initial=0.0))
