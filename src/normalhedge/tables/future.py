"""Blend the next horizon: forecasts whose outcomes are not known yet."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _extras
from normalhedge.mixtures.books import Books
from normalhedge.tables.cleaning import with_numbers
from normalhedge.tables.columns import Columns
from normalhedge.tables.intervals import play_intervals
from normalhedge.tables.panels import read_panel
from normalhedge.tables.playing import play_table
from normalhedge.tables.quantiles.layouts import recognise
from normalhedge.tables.quantiles.table import QuantileTable
from normalhedge.tables.results import result_table
from normalhedge.tables.rounds import arrange


class Past(NamedTuple):
    """What is known of the past.

    Attributes
    ----------
    books
        The memory of a mixture that has blended the past.
    columns
        The roles of its columns.
    last_time
        The last time whose outcome is known; None without a column of times.
    quantiles
        The levels and the layout of quantile forecasts; None for other tables.
    """

    books: Books
    columns: Columns
    last_time: Any
    quantiles: QuantileTable | None


def predict_future(past: Past, table: Any, *, weights: bool) -> Any:
    """Return a table of forecasts with its blend; the books do not change.

    Parameters
    ----------
    past
        The past.
    table
        The Arrow table of the future.
    weights
        Whether to return the weights of the experts in each row, too.
    """
    table, _ = with_numbers(table, past.columns)
    target = str(past.columns.target)
    found = None
    if past.quantiles is None:
        columns = _future_columns(past.columns, table)
        table = _completed(past.last_time, table, columns)
    else:
        table = _completed(past.last_time, table, past.columns)
        found = _quantiles(past.columns, past.quantiles, table)
        table, columns = found.table, found.columns
    panel = read_panel(table, columns)
    panel.outcomes = np.full(len(panel.outcomes), np.nan)
    _refuse_past(past.columns.time, past.last_time, table)
    panel = panel if found is None else found.spread(panel)
    books = past.books.copy(history=False)
    rounds = arrange(books, panel, 0)
    sums = play_table(books, rounds, weights=weights, progress=None)
    if not len(rounds.again) and not (rounds.row_of >= 0).any():
        raise ValueError("every row of the future table was blended before")
    told = play_intervals(books, rounds)
    result = result_table(panel.table, rounds, sums.distributions, books.names, columns, told)
    return (result if found is None else found.shaped(result)).drop_columns([target])


def _quantiles(past: Columns, quantiles: QuantileTable, table: Any) -> QuantileTable:
    """Return the quantile forecasts of a future table, which must have the levels of the past."""
    roles = replace(past, experts=None, forecast=None, notes=[])
    if quantiles.layout == "long":
        roles = replace(roles, forecast=past.forecast)
    else:
        roles = replace(roles, model=None if quantiles.layout == "intervals" else past.model)
    missing = [name for name in (roles.time, *roles.by) if name and name not in table.column_names]
    if missing:
        raise ValueError(f"the future table has no column {missing[0]}, which the past has")
    names = quantiles.names if quantiles.layout == "wide" else None
    found = recognise(table, roles, quantiles.level or None, names)
    if found is None or found.levels != quantiles.levels:
        shown = ", ".join(f"{level:g}" for level in quantiles.levels[:6])
        raise ValueError(f"the future table must have the levels of the past: {shown}")
    return found


def _future_columns(past: Columns, table: Any) -> Columns:
    """Return the roles of the columns of a future table: those of the past that it has."""
    names = set(table.column_names)
    needed = [past.time, past.model, past.forecast, *past.by, *past.classes]
    missing = [name for name in needed if name is not None and name not in names]
    if missing:
        raise ValueError(f"the future table has no column {missing[0]}, which the past has")
    experts = None
    if past.experts is not None:
        experts = [name for name in past.experts if name in names]
        if not experts:
            shown = ", ".join(past.experts[:3])
            raise ValueError(f"the future table has none of the experts: {shown}, ...")
    return replace(past, experts=experts, notes=[])


def _completed(last_time: Any, table: Any, columns: Columns) -> Any:
    """Return a future table with a target and, if the past has one, a cutoff."""
    pa = _extras.require("pyarrow")
    if columns.target not in table.column_names:
        none = pa.nulls(table.num_rows, pa.float64())
        table = table.append_column(str(columns.target), none)
    if columns.cutoff is not None and columns.cutoff not in table.column_names:
        kind = table[columns.time].type
        made = pa.scalar(last_time.as_py(), kind)
        table = table.append_column(columns.cutoff, pa.repeat(made, table.num_rows))
    return table


def _refuse_past(time: str | None, last_time: Any, table: Any) -> None:
    """Refuse a future table with times that are not after the last known outcome."""
    if time is None or last_time is None or not table.num_rows:
        return
    pc = _extras.require("pyarrow.compute")
    first = pc.min(table[time]).as_py()
    last = last_time.as_py()
    if first is not None and first <= last:
        raise ValueError(
            f"the future table has {time} {first}, but outcomes are known until {last}: it must "
            "come after them"
        )
