"""The table that a blend returns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats
from normalhedge.tables.rounds import TableRounds


def result_table(
    index: Any,
    rounds: TableRounds,
    distributions: Floats,
    names: Sequence[str],
    parts: Sequence[str] = ("blend",),
) -> Any:
    """Return the Arrow table of predictions, in the order of the rows of the given table.

    Parameters
    ----------
    index
        An Arrow table of the columns that identify a row of the panel.
    rounds
        The rounds, after they were played.
    distributions
        The distribution over the experts in each row; empty if it is not wanted.
    names
        The names of the experts.
    parts
        The names of the columns of the blend: one, or one for each class or level.
    """
    pa = _extras.require("pyarrow")
    result = index
    place = np.argsort(rounds.row_of, kind="stable")[np.count_nonzero(rounds.row_of < 0) :]
    values, rows = rounds.values[place, : len(parts)], rounds.row_of[place]
    if rounds.again:  # rows that were predicted before, and still wait
        rows = np.concatenate([rows, np.array(list(rounds.again), dtype=rows.dtype)])
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], np.concatenate([values, [*rounds.again.values()]])[order]
        none = np.full((len(rounds.again), len(names)), np.nan)
        if len(distributions):
            distributions = np.concatenate([distributions[place], none])[order]
    elif len(distributions):
        distributions = distributions[place]
    if len(rows) < result.num_rows:
        result = result.take(pa.array(rows))
    for c, name in enumerate(parts):
        result = result.append_column(_free(name, result), pa.array(values[:, c], from_pandas=True))
    if len(distributions):
        for i, name in enumerate(names):
            column = pa.array(distributions[:, i], from_pandas=True)
            result = result.append_column(_free(f"weight_{name}", result), column)
    return result


def _free(name: str, table: Any) -> str:
    """Return a name that no column of a table has."""
    while name in table.column_names:
        name += "_"
    return name


def value_names(classes: Sequence[str]) -> list[str]:
    """Return the names of the columns of the blend of numbers, or of class probabilities."""
    return [f"blend_{name}" for name in classes] or ["blend"]
