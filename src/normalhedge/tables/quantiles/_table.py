"""A table of quantile forecasts, whatever its layout."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.tables.frames import Columns, Panel, floats, refuse_other_than_numbers
from normalhedge.tables.quantiles._repair import repair

BLEND = "blend"
"""The name of the blend among the models of a result."""


@dataclass
class QuantileTable:
    """A table of quantile forecasts."""

    # table, columns: the table with the number of a row of ``numbers`` in the place of each
    # forecast, and the roles of its columns: `read_panel` arranges these numbers as it arranges
    # forecasts
    table: Any
    columns: Columns
    levels: tuple[float, ...]  # the levels, in order
    numbers: Floats  # the quantiles: rows x levels
    layout: str  # ``"long"``, ``"wide"`` or ``"intervals"``
    level: str = ""  # the column of levels of a long table
    # the names of the columns of levels in a result, in the order of the given table
    names: dict[str, float] = field(default_factory=dict)

    def stacked(self, panel: Panel) -> Panel:
        """Return the panel with the quantiles of each cell, sorted and made whole.

        The levels take the place of classes: cells x levels x experts.
        """
        known = ~np.isnan(panel.forecasts[:, 0])
        rows = np.where(known, panel.forecasts[:, 0], 0.0).astype(np.int64)
        forecasts = np.where(known[..., np.newaxis], self.numbers[rows], np.nan).swapaxes(1, 2)
        forecasts = np.ascontiguousarray(forecasts)  # cells x levels x experts
        self.columns.notes += repair(forecasts, self.levels, panel.experts)
        self.numbers = np.empty((0, len(self.levels)))
        return replace(panel, forecasts=forecasts)

    def value_names(self) -> list[str]:
        """Return names for the quantiles of a result that `shaped` takes."""
        return [f"quantile {level!r}" for level in self.levels]

    def shaped(self, result: Any) -> Any:
        """Return a result with a row for each cell in the layout of the given table."""
        pa = extras.require("pyarrow")
        count = len(self.levels)
        parts = [*self.columns.by, self.columns.time, self.columns.cutoff, self.columns.target]
        kept = len([name for name in parts if name])
        index, weights = result.select(range(kept)), result.column_names[kept + count :]
        values = np.column_stack([floats(result.column(kept + k)) for k in range(count)])
        if self.layout == "long":
            index = result.take(pa.array(np.repeat(np.arange(result.num_rows), count)))
            result, index = index, index.select(range(kept))
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
        return _with(index, found | {name: result[name] for name in weights})


def _with(table: Any, columns: Mapping[str, Any]) -> Any:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


def replaced(table: Any, name: str, values: Floats) -> Any:
    """Return an Arrow table with other numbers in one of its columns."""
    pa = extras.require("pyarrow")
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, from_pandas=True))


def numbers_of(table: Any, name: str) -> Floats:
    """Return the numbers of a column; refuse a column of something else."""
    refuse_other_than_numbers(table, name)
    return floats(table[name])
