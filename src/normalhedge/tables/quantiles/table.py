"""A table of quantile forecasts, whatever its layout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge._inputs import Floats
from normalhedge.tables.columns import Columns
from normalhedge.tables.frames import floats, may_hold_numbers
from normalhedge.tables.panels import Panel
from normalhedge.tables.quantiles.repair import repair, uncross

BLEND = "blend"
"""The name of the blend among the models of a result."""


@dataclass
class QuantileTable:
    """A table of quantile forecasts.

    Attributes
    ----------
    table, columns
        The table with the number of a row of ``numbers`` in the place of each forecast, and the
        roles of its columns: `read_panel` arranges these numbers as it arranges forecasts.
    levels
        The levels, in order.
    numbers
        The quantiles: rows x levels.
    layout
        ``"long"``, ``"wide"`` or ``"intervals"``.
    level
        The column of levels of a long table.
    names
        The names of the columns of levels in a result, in the order of the given table.
    """

    table: Any
    columns: Columns
    levels: tuple[float, ...]
    numbers: Floats
    layout: str
    level: str = ""
    names: dict[str, float] = field(default_factory=dict)

    def spread(self, panel: Panel) -> Panel:
        """Return the panel with a row for each level: items are the levels of each series.

        The core takes the level of an item from its number, which it divides by the number of
        levels. So the levels of a series follow each other, in order.
        """
        pa = _extras.require("pyarrow")
        count = len(self.levels)
        known = ~np.isnan(panel.forecasts[:, 0])
        rows = np.where(known, panel.forecasts[:, 0], 0.0).astype(np.int64)
        forecasts = np.where(known[..., np.newaxis], self.numbers[rows], np.nan).swapaxes(1, 2)
        forecasts = np.ascontiguousarray(forecasts)  # cells x levels x experts
        self.columns.notes += repair(forecasts, self.levels, panel.experts)
        self.numbers = np.empty((0, count))
        items = [
            f"q{level:.12g}|{item}" if item else str(k)
            for item in panel.items
            for k, level in enumerate(self.levels)
        ]
        series = panel.series.astype(np.int32)[:, np.newaxis] * np.int32(count)
        return Panel(
            panel.table.take(pa.array(np.repeat(np.arange(len(forecasts)), count))),
            panel.experts,
            forecasts.reshape(-1, 1, forecasts.shape[2]),
            np.repeat(panel.outcomes, count),
            items,
            (series + np.arange(count, dtype=np.int32)).ravel(),
            np.repeat(panel.times, count),
            panel.time_keys,
            None if panel.known is None else np.repeat(panel.known, count),
            panel.time_kind,
        )

    def shaped(self, result: Any) -> Any:
        """Return a result with a row for each cell and level in the layout of the given table.

        The quantiles of a cell are sorted, which never increases the sum of their pinball losses.
        """
        pa = _extras.require("pyarrow")
        count = len(self.levels)
        parts = [*self.columns.by, self.columns.time, self.columns.cutoff, self.columns.target]
        kept = len([name for name in parts if name])
        index, weights = result.select(range(kept)), result.column_names[kept + 1 :]
        values = floats(result.column(kept)).reshape(-1, count).copy()
        uncross(values)
        if self.layout != "long":
            index = index.take(pa.array(np.arange(0, result.num_rows, count)))
        if self.layout != "intervals":
            who = pa.array([BLEND] * index.num_rows, pa.string())
            index = index.append_column(str(self.columns.model), who)
        if self.layout == "long":
            levels = pa.array(np.tile(self.levels, len(values)))
            index = index.append_column(self.level, levels)
            column = pa.array(values.ravel(), from_pandas=True)
            index = index.append_column(str(self.columns.forecast), column)
            return _with(index, {name: result[name] for name in weights})
        found = {
            name: pa.array(values[:, self.levels.index(level)], from_pandas=True)
            for name, level in self.names.items()
        }
        for name in weights:
            mean = floats(result[name]).reshape(-1, count).mean(axis=1)
            found[name] = pa.array(mean, from_pandas=True)
        return _with(index, found)


def _with(table: Any, columns: Mapping[str, Any]) -> Any:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


def replaced(table: Any, name: str, values: Floats) -> Any:
    """Return an Arrow table with other numbers in one of its columns.

    Parameters
    ----------
    table
        The table.
    name
        The name of the column.
    values
        The numbers; NaN becomes an empty cell.
    """
    pa = _extras.require("pyarrow")
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, from_pandas=True))


def numbers_of(table: Any, name: str) -> Floats:
    """Return the numbers of a column; refuse a column of something else.

    Parameters
    ----------
    table
        An Arrow table.
    name
        The name of the column.
    """
    column = table[name]
    if not may_hold_numbers(column.type):
        raise TypeError(f"column {name} must hold numbers, it holds {column.type}")
    return floats(column)
