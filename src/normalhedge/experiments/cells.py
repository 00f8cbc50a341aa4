"""Finished pieces of work in a folder: saved whole or not at all, and never computed twice."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _files
from normalhedge._terminal import clipped, shown
from normalhedge.experiments.measures import Arrays
from normalhedge.games import Curves, Trace


class Cells:
    """A folder of cells, each named and keyed by everything its numbers depend on.

    Parameters
    ----------
    folder
        Where they are.
    say
        Told of each cell that was there but could not be read.
    """

    def __init__(self, folder: Path, say: Callable[[str], object]) -> None:
        self.folder = folder
        self.say = say
        _files.sweep(folder)

    def load(self, name: str, key: Mapping[str, object]) -> Arrays | None:
        """Return the cell that was saved under this name and key, if any."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                arrays = {field: saved[field] for field in saved.files}
            known, fields = str(arrays.pop("key")), str(arrays.pop("fields"))
            if fields != _contents(arrays):
                raise ValueError("parts of it are missing, or were changed")
        except Exception as error:
            why = clipped(shown(str(error) or type(error).__name__))
            self.say(f"{path} cannot be read ({why}): it is computed again")
            return None
        return arrays if known == _text(key) else None

    def save(self, name: str, key: Mapping[str, object], arrays: Arrays) -> None:
        """Save a cell."""
        fields: dict[str, Any] = {"key": np.array(_text(key)), **arrays}
        fields["fields"] = np.array(_contents(arrays))
        _files.write_whole(
            self.folder / f"{name}.npz",
            lambda part: np.savez_compressed(part, **fields),
        )


def _contents(arrays: Arrays) -> str:
    """Return what the arrays are, and a checksum of all that is in them."""
    found = {}
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        found[name] = [list(array.shape), array.dtype.str, hashlib.sha256(data).hexdigest()]
    return _text(found)


def _text(key: Mapping[str, object]) -> str:
    return json.dumps(key, sort_keys=True)


CURVES = ("regret", "potential", "gain")
FIELDS = ("rounds", "highest_regret", "highest_potential", "part_regret")


def trace_to_arrays(trace: Trace) -> Arrays:
    """Return a trace, without quantiles and weights, as arrays."""
    arrays: dict[str, Any] = {name: getattr(trace, name) for name in FIELDS}
    for name in CURVES:
        curves: Curves = getattr(trace, name)
        arrays[f"{name}_mean"], arrays[f"{name}_spread"] = curves
    return {**arrays, "hedgers": np.array(trace.hedgers), "runs": np.array(trace.runs)}


def trace_from_arrays(arrays: Arrays) -> Trace:
    """Return the trace that was saved."""
    fields: dict[str, Any] = {name: arrays[name] for name in FIELDS}
    for name in CURVES:
        fields[name] = Curves(arrays[f"{name}_mean"], arrays[f"{name}_spread"])
    return Trace(
        hedgers=tuple(str(name) for name in arrays["hedgers"]),
        runs=int(arrays["runs"]),
        quantile=None,
        quantile_regret=None,
        weights=None,
        **fields,
    )
