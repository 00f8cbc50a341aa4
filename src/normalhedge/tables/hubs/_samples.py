"""Draws of teams that submit samples, as quantiles, means and medians."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.tables.frames import encode, floats
from normalhedge.tables.hubs._tasks import SAMPLE, Task

KIND, ID, VALUE = "output_type", "output_type_id", "value"
"""The columns of submissions beside the task ids."""

SEPARATOR = "\x1f"
"""A character between the ids of a task that no id has."""

KINDS = ("quantile", "mean", "median")
"""The output types that are computed from draws."""


def cells_in(table: Any, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the cell of each row, by the columns, and the first row of each cell."""
    pc = extras.require("pyarrow.compute")
    keys = pc.binary_join_element_wise(*(table[name] for name in columns), SEPARATOR)
    _, codes = encode(keys)
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first


def add_samples(table: Any, task: Task) -> Any:
    r"""Return rows without draws, and with the outputs that are computed from them.

    The quantile at level q of n draws :math:`x_1 \le \dots \le x_n` of a cell is linear between
    them, :math:`x_k` at :math:`q = (k - 1) / (n - 1)`. A team's own outputs stay: an output type of
    which a file has rows is not computed.
    """
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    drawn = pc.equal(table[KIND], SAMPLE)
    draws, rest = table.filter(drawn), table.filter(pc.invert(drawn))
    if not draws.num_rows:
        return rest
    own = set(pc.unique(rest[KIND]).to_pylist())
    columns = [name for name in table.column_names if name not in {KIND, ID, VALUE}]
    codes, first = cells_in(draws, columns)
    cells, values = draws.select(columns).take(pa.array(first)), floats(draws[VALUE])
    parts = [rest]
    for kind in (kind for kind in KINDS if kind in task.outputs and kind not in own):
        ids = task.outputs[kind].ids if kind == "quantile" else [""]
        outputs = _outputs(kind, ids, values, codes)
        for text, column in zip(ids, outputs.T, strict=True):
            part = cells
            for name, cell in ((KIND, kind), (ID, text)):
                part = part.append_column(name, pa.array([cell] * len(column), pa.string()))
            part = part.append_column(VALUE, pa.array(np.ascontiguousarray(column)))
            parts.append(part.select(table.column_names))
    return pa.concat_tables(parts)


def _outputs(kind: str, ids: Sequence[str], values: Floats, codes: np.ndarray) -> Floats:
    """Return outputs, cells x ids, of draws; cells with equally many draws are taken together."""
    order = np.lexsort((values, codes))
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    outputs = np.empty((len(counts), len(ids)))
    for count in np.unique(counts):
        cells = np.flatnonzero(counts == count)
        draws = values[order[starts[cells][:, np.newaxis] + np.arange(count)]]
        if kind == "mean":
            outputs[cells, 0] = draws.mean(axis=1)
        else:
            levels = [float(text) for text in ids] if kind == "quantile" else [0.5]
            outputs[cells] = np.quantile(draws, levels, axis=1).T
    return outputs
