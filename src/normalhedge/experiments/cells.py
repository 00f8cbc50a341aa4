"""Finished pieces of work in a folder: saved whole or not at all, and never computed twice."""

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _tables
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
        _tables.sweep(folder)

    def load(self, name: str, key: Mapping[str, object]) -> Arrays | None:
        """Return the cell that was saved under this name and key, if any."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                arrays = {field: saved[field] for field in saved.files}
            known, fields = str(arrays.pop("key")), str(arrays.pop("fields"))
            if fields != _shapes(arrays):
                raise ValueError("parts of it are missing")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            self.say(f"{path} cannot be read ({error}): it is computed again")
            return None
        return arrays if known == _text(key) else None

    def save(self, name: str, key: Mapping[str, object], arrays: Arrays) -> None:
        """Save a cell."""
        fields: dict[str, Any] = {"key": np.array(_text(key)), **arrays}
        fields["fields"] = np.array(_shapes(arrays))
        _tables.write_whole(
            self.folder / f"{name}.npz",
            lambda part: np.savez_compressed(part, **fields),
        )


def _shapes(arrays: Arrays) -> str:
    return _text({name: list(array.shape) for name, array in arrays.items()})


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
