"""A table of quantile forecasts, whatever its layout, with its quantiles in order and complete.

A model that forecasts the levels 0.1 and 0.5 has a forecast at 0.3 as well, by a line between the
two. Outside of its own levels it has none: there it sleeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.tables.frames import (
    Columns,
    Panel,
    floats,
    free_name,
    refuse_other_than_numbers,
)

BLEND = "blend"
"""The name of the blend among the models of a result."""

NAMED = 3
"""A note names this many models."""


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

    def stack(self, panel: Panel) -> Panel:
        """Return the panel with the quantiles of each cell, sorted and completed.

        The levels take the place of classes: cells x levels x experts.
        """
        known = ~np.isnan(panel.forecasts[:, 0])
        rows = np.where(known, panel.forecasts[:, 0], 0.0).astype(np.int64)
        forecasts = np.where(known[..., np.newaxis], self.numbers[rows], np.nan).swapaxes(1, 2)
        forecasts = np.ascontiguousarray(forecasts)  # cells x levels x experts
        self.columns.notes += _repair(forecasts, self.levels, panel.experts)
        self.numbers = np.empty((0, len(self.levels)))
        return replace(panel, forecasts=forecasts)

    def value_names(self) -> list[str]:
        """Return names for the quantiles of a result that `to_layout` takes."""
        return [f"quantile {level!r}" for level in self.levels]

    def to_layout(self, result: Any) -> Any:
        """Return a result with a row for each cell in the layout of the given table."""
        pa = extras.require("pyarrow")
        count, kept = len(self.levels), len(self.columns.index) + 1  # and the target
        weights = result.column_names[kept + count :]
        values = np.column_stack([floats(result.column(kept + k)) for k in range(count)])
        if self.layout == "long":
            result = result.take(pa.array(np.repeat(np.arange(result.num_rows), count)))
        columns: dict[str, Any] = {}
        if self.layout != "intervals":
            columns[str(self.columns.model)] = pa.array([BLEND] * result.num_rows, pa.string())
        if self.layout == "long":
            columns[self.level] = pa.array(np.tile(self.levels, len(values)))
            columns[str(self.columns.forecast)] = pa.array(values.ravel(), from_pandas=True)
        for name, level in self.names.items():
            columns[name] = pa.array(values[:, self.levels.index(level)], from_pandas=True)
        table = result.select(range(kept))
        for name, column in (columns | {name: result[name] for name in weights}).items():
            table = table.append_column(free_name(name, table), column)
        return table


def numbers_of(table: Any, name: str) -> Floats:
    """Return the numbers of a column; refuse a column of something else."""
    refuse_other_than_numbers(table, name)
    return floats(table[name])


def uncross(quantiles: Floats) -> np.ndarray:
    """Sort the quantiles of each row that has any in the wrong order; return which rows had.

    Missing quantiles keep their places.

    Examples
    --------
    >>> table = np.array([[1.0, 2.0, 3.0], [2.0, np.nan, 1.0]])
    >>> uncross(table), table
    (array([False,  True]), array([[ 1.,  2.,  3.],
           [ 1., nan,  2.]]))
    """
    crossing = np.asarray((quantiles < np.fmax.accumulate(quantiles, axis=1)).any(axis=1))
    for row in np.flatnonzero(crossing):
        known = ~np.isnan(quantiles[row])
        quantiles[row, known] = np.sort(quantiles[row, known])
    return crossing


def interpolate(quantiles: Floats, levels: Sequence[float]) -> np.ndarray:
    """Fill in missing quantiles between known ones, linearly in the level; return which were.

    Examples
    --------
    >>> table = np.array([[1.0, np.nan, 2.0, np.nan]])
    >>> interpolate(table, [0.1, 0.2, 0.5, 0.9]), table
    (array([[False,  True, False, False]]), array([[1.  , 1.25, 2.  ,  nan]]))
    """
    missing = np.isnan(quantiles)
    filled = np.zeros_like(missing)
    some = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if not len(some):
        return filled
    patterns, which = np.unique(missing[some], axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        known = np.flatnonzero(~pattern).tolist()
        rows = some[which.ravel() == p]
        for k in np.flatnonzero(pattern).tolist():
            after = int(np.searchsorted(known, k))
            if not 0 < after < len(known):
                continue
            low, high = known[after - 1], known[after]
            share = (levels[k] - levels[low]) / (levels[high] - levels[low])
            below, above = quantiles[rows, low], quantiles[rows, high]
            quantiles[rows, k] = (1.0 - share) * below + share * above
            filled[rows, k] = True
    return filled


def _repair(forecasts: Floats, levels: Sequence[float], experts: Sequence[str]) -> list[str]:
    """Sort crossing quantiles, fill in missing ones where that is sound, and say so."""
    infinite = np.abs(forecasts) >= LARGEST
    count = int(infinite.sum())
    forecasts[infinite] = np.nan
    gaps = np.isnan(forecasts).any(axis=(0, 1))
    falls = (forecasts[:, 1:] < forecasts[:, :-1]).any(axis=(0, 1))
    crossing: list[str] = []  # parts of the notes, by model
    between: list[str] = []
    missing: list[str] = []
    for i in np.flatnonzero(gaps | falls).tolist():
        table = np.ascontiguousarray(forecasts[:, :, i])
        awake = ~np.isnan(table).all(axis=1)
        crossings = int(uncross(table).sum())
        if crossings:
            crossing.append(f"{experts[i]} ({crossings:,})")
        filled = interpolate(table, levels).any(axis=0)
        for notes, chosen in ((between, filled), (missing, np.isnan(table[awake]).any(axis=0))):
            if np.any(chosen):
                shown = " ".join(f"{levels[k]:g}" for k in np.flatnonzero(chosen).tolist())
                notes.append(f"{experts[i]} at {shown}")
        forecasts[:, :, i] = table
    notes = [f"{count:,} infinite forecast{'s' * (count > 1)} counted as missing"] if count else []
    for words, models in (
        ("crossing quantiles sorted (rows)", crossing),
        ("quantiles interpolated", between),
        ("asleep for want of levels", missing),
    ):
        more = f" and {len(models) - NAMED} more" * (len(models) > NAMED)
        notes += [f"{words}: {', '.join(models[:NAMED])}{more}"] * bool(models)
    return notes
