"""The table that a blend returns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import WILD
from normalhedge.tables._intervals import TableIntervals
from normalhedge.tables._rounds import TableRounds


def result_table(
    index: Any,
    rounds: TableRounds,
    distributions: Floats,
    names: Sequence[str],
    parts: Sequence[str] = ("blend",),
    intervals: TableIntervals | None = None,
) -> Any:
    """Return the Arrow table of predictions, in the order of the rows of the given table."""
    pa = extras.require("pyarrow")
    result = index
    place = np.argsort(rounds.row_of, kind="stable")[np.count_nonzero(rounds.row_of < 0) :]
    values, rows = rounds.values[place, : len(parts)], rounds.row_of[place]
    again = {row: seen.values for row, seen in rounds.again.items()}
    if intervals is not None:  # beside the blend
        values = np.concatenate([values, intervals.bounds[place]], axis=1)
        again = {row: np.append(again[row], intervals.again[row]) for row in again}
    if again:  # rows that were predicted before, and still wait
        rows = np.concatenate([rows, np.array(list(again), dtype=rows.dtype)])
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], np.concatenate([values, [*again.values()]])[order]
        none = np.full((len(again), len(names)), np.nan)
        if len(distributions):
            distributions = np.concatenate([distributions[place], none])[order]
    elif len(distributions):
        distributions = distributions[place]
    if len(rows) < result.num_rows:
        result = result.take(pa.array(rows))
    if (
        intervals is not None
    ):  # beside quantiles of the blend, which may have intervals of their own
        parts = [*parts, *intervals.names("blend" if len(parts) == 1 else "calibrated")]
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


def infinite_forecasts(totals: Floats) -> list[str]:
    """Return a note on infinite forecasts; none if there are none."""
    count = int(totals[:, WILD].sum())
    return [f"{count:,} infinite forecast{'s' * (count > 1)} counted as missing"] if count else []
