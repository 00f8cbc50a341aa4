"""Blend the next horizon: forecasts whose outcomes are not known yet."""

from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge.mixtures.books import Books
from normalhedge.tables.columns import Columns
from normalhedge.tables.panels import read_panel
from normalhedge.tables.playing import play_table
from normalhedge.tables.results import result_table
from normalhedge.tables.rounds import arrange


def predict_future(
    books: Books, past: Columns, last_time: Any, table: Any, *, weights: bool
) -> Any:
    """Return a table of forecasts with its blend; the books do not change.

    Parameters
    ----------
    books
        The memory of a mixture that has blended the past.
    past
        The roles of the columns of the past.
    last_time
        The last time whose outcome is known; None without a column of times.
    table
        The Arrow table of the future.
    weights
        Whether to return the weights of the experts in each row, too.
    """
    columns = _future_columns(past, table)
    table = _completed(last_time, table, columns)
    panel = read_panel(table, columns)
    panel.outcomes = np.full(len(panel.outcomes), np.nan)
    _refuse_past(past.time, last_time, table)
    books = books.copy(history=False)
    rounds = arrange(books, panel, 0)
    sums = play_table(books, rounds, weights=weights, progress=None)
    if not len(rounds.again) and not (rounds.row_of >= 0).any():
        raise ValueError("every row of the future table was blended before")
    index = panel.table.drop_columns([str(columns.target)])
    return result_table(index, rounds, sums.distributions, books.names, columns)


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
