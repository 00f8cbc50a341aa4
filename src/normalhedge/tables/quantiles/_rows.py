"""Read tables with a column of models: a row for each level, or a column for each level."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.tables.frames import Columns, agreed, encoded, floats, guess, words
from normalhedge.tables.quantiles._levels import check_levels, read_levels
from normalhedge.tables.quantiles._table import QuantileTable, numbers_of, replaced


def read_long(table: Any, given: Columns, level: str) -> QuantileTable:
    """Read a table with a row for each model, time and level."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    notes = [f"levels in: {level}"]
    if "output_type" in table.column_names and "output_type" not in given.by:
        kept = pc.equal(words(table["output_type"]), "quantile")
        left = table.num_rows - int(pc.sum(kept).as_py() or 0)
        if left == table.num_rows:
            raise ValueError("column output_type names no quantile: this table has no quantiles")
        if left:
            table = table.filter(kept)
            notes.append(f"{left:,} rows of another output_type left out")
    if not table.num_rows:
        raise ValueError("the table has no rows")
    columns = guess(table, given)
    columns.notes[:0] = [*given.notes, *notes]
    if level in columns.by:
        raise ValueError(f"column {level} holds levels: it cannot name a series, too")
    given_levels = read_levels(table[level], level)
    levels, place = np.unique(given_levels, return_inverse=True)
    if given.whole.levels is not None:
        levels = np.array(given.whole.levels)
        place = np.searchsorted(levels, given_levels)
    keys = [*columns.by, columns.time, columns.cutoff, columns.model]
    code = np.zeros(table.num_rows, dtype=np.int64)
    for key in filter(None, keys):
        distinct, codes = encoded(table[key])
        code = np.unique(code * len(distinct) + codes, return_inverse=True)[1]
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # groups in the order of their first rows
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first, group = first[order], rank[group]
    cells = group * np.int64(len(levels)) + place
    values, counts = np.unique(cells, return_counts=True)
    if (counts > 1).any():
        row = int(np.flatnonzero(cells == values[counts > 1][0])[1])
        where = ", ".join(f"{key} {table[key][row].as_py()}" for key in filter(None, keys))
        raise ValueError(
            f"there is more than one forecast for {where}, {level} {given_levels[row]:g}"
        )
    numbers = np.full((len(first), len(levels)), np.nan)
    numbers[group, place] = floats(table[columns.forecast])
    target = agreed(floats(table[columns.target]), group, len(first))
    base = table.take(pa.array(first))
    base = replaced(base, str(columns.target), target)
    base = replaced(base, str(columns.forecast), np.arange(len(first), dtype=np.float64))
    found = check_levels(levels.tolist())
    return QuantileTable(base, columns, found, numbers, "long", level)


def read_wide(table: Any, given: Columns, names: Mapping[str, float]) -> QuantileTable:
    """Read a table with a row for each model and time, and a column for each level."""
    pa = extras.require("pyarrow")
    levels = check_levels(list(names.values()))
    numbers = np.empty((table.num_rows, len(levels)))
    for name, level in names.items():
        numbers[:, levels.index(level)] = numbers_of(table, name)
    rows = np.arange(table.num_rows, dtype=np.float64)
    base = table.drop_columns(list(names))
    own = "forecast"
    while own in base.column_names:
        own += "_"
    base = base.append_column(own, pa.array(rows))
    columns = guess(base, replace(given, forecast=own))
    shown = [f"{name} is level {level:g}" for name, level in list(names.items())[:3]]
    more = ", ..." if len(names) > 3 else ""
    columns.notes[:0] = [*given.notes, f"quantiles: {', '.join(shown)}{more}"]
    return QuantileTable(base, columns, levels, numbers, "wide", names=dict(names))
