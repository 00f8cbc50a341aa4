"""A table of quantile forecasts, whatever its layout, with its quantiles in order and complete.

A model that forecasts the levels 0.1 and 0.5 has a forecast at 0.3 as well, by a line between the
two. Outside of its own levels it has none: there it sleeps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.tables.frames import Columns, Panel, floats, refuse_other_than_numbers

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
            quantiles[rows, k] = (1.0 - share) * quantiles[rows, low] + share * quantiles[
                rows, high
            ]
            filled[rows, k] = True
    return filled


def _repair(forecasts: Floats, levels: Sequence[float], experts: Sequence[str]) -> list[str]:
    """Sort crossing quantiles, fill in missing ones where that is sound, and say so."""
    infinite = np.abs(forecasts) >= LARGEST
    count = int(infinite.sum())
    if count:
        forecasts[infinite] = np.nan
    gaps = np.isnan(forecasts).any(axis=(0, 1))
    falls = (forecasts[:, 1:] < forecasts[:, :-1]).any(axis=(0, 1))
    said: dict[str, list[str]] = {
        "crossing quantiles sorted (rows)": [],
        "quantiles interpolated": [],
        "asleep for want of levels": [],
    }
    for i in np.flatnonzero(gaps | falls).tolist():
        own = np.ascontiguousarray(forecasts[:, :, i])
        for told, what in zip(said.values(), _repair_one(own, levels), strict=True):
            told.extend([f"{experts[i]} {what}"] if what else [])
        forecasts[:, :, i] = own
    notes = [f"{count:,} infinite forecast{'s' * (count > 1)} counted as missing"] if count else []
    return notes + [f"{words}: {_few(told)}" for words, told in said.items() if told]


def _repair_one(own: Floats, levels: Sequence[float]) -> tuple[str, str, str]:
    """Repair the quantiles of one model; return the crossings, and levels filled in and missing."""
    awake = ~np.isnan(own).all(axis=1)
    crossing = int(uncross(own).sum())
    between = np.asarray(interpolate(own, levels).any(axis=0))
    missing = np.asarray(np.isnan(own[awake]).any(axis=0))
    at = [f"at {_shown(levels, own)}" if own.any() else "" for own in (between, missing)]
    return f"({crossing:,})" if crossing else "", at[0], at[1]


def _shown(levels: Sequence[float], chosen: np.ndarray) -> str:
    return " ".join(f"{levels[k]:g}" for k in np.flatnonzero(chosen).tolist())


def _few(parts: Sequence[str]) -> str:
    more = len(parts) - NAMED
    return ", ".join(parts[:NAMED]) + (f" and {more} more" if more > 0 else "")
