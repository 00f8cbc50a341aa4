"""Panels: forecasts and outcomes of a table as arrays, with the time and the item of each row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state import SUM_TOLERANCE
from normalhedge.tables.frames._columns import Columns, WholeTable
from normalhedge.tables.frames._contexts import Calendar, RowContext, read_contexts
from normalhedge.tables.frames._frames import encode, floats, words
from normalhedge.tables.frames._times import sortable, time_kind, times

BLOCK = 8192
"""The number of rows that are copied at a time between columns and rows."""


@dataclass
class Panel:
    """Forecasts and outcomes in rows."""

    table: Any  # an Arrow table of the columns that identify a row, and of the target
    experts: list[str]  # the names of the experts, the columns of ``forecasts``
    forecasts: Floats  # rows x classes x experts; NaN where an expert sleeps
    outcomes: Floats  # the outcome of each row; NaN if unknown
    # items, series: the names of the items, and the item of each row
    items: list[str]
    series: np.ndarray
    # times, time_keys: The number of each row's time, 0, 1, ...; and the distinct times: numbers or
    # words that sort. Without a column of times there are no ``time_keys``.
    times: np.ndarray
    time_keys: np.ndarray | None
    # with a cutoff, the time at which the outcome of each row is known; otherwise None
    known: np.ndarray | None
    # the kind of the times: dates, numbers or words; empty without a column of times
    time_kind: str
    # with a cutoff, the number of the step ahead of each row, from 0 on; otherwise None
    steps: np.ndarray | None = None
    # whether ``times`` number the times of a larger table, of which some may be missing here
    of_whole: bool = False
    # contexts, calendar: the contexts of the rows by name; and their dates, if parts of dates are
    # among the contexts
    contexts: dict[str, RowContext] = field(default_factory=dict)
    calendar: Calendar | None = None

    @property
    def row_times(self) -> np.ndarray:
        """The time of each row; its place in its series without a column of times."""
        return self.times if self.time_keys is None else self.time_keys[self.times]

    @property
    def outcome_times(self) -> np.ndarray:
        """The time at which the outcome of each row is known; its own time without a cutoff."""
        return self.row_times if self.known is None else self.known

    @property
    def series_names(self) -> list[str]:
        """The series of each item."""
        return [series_of(name, steps=self.known is not None) for name in self.items]


def series_of(item: str, *, steps: bool) -> str:
    """Return the series of an item: its name without the step ahead."""
    return item.rpartition("step ")[0] if steps else item


def read_panel(table: Any, columns: Columns) -> Panel:
    """Return the panel of a table."""
    pa = extras.require("pyarrow")
    rows = table.num_rows
    if not rows:
        raise ValueError("the table has no rows")
    items, series = named_items(table, columns.by)
    when = columns.forecast_time
    codes, time_keys = _places(series) if when is None else times(table[when], columns.whole.times)
    known = steps = None
    if columns.cutoff is not None:
        known = sortable(table[columns.time]).to_numpy()
        if time_kind(table[columns.time]) != time_kind(table[columns.cutoff]):
            raise TypeError("cutoff and time must be of one kind: dates, numbers or words")
        items, series, steps = _horizons(table, columns, items, series, codes)
    contexts, calendar = read_contexts(table, columns, steps, codes)
    kept = table.select([*columns.index, str(columns.target)])
    outcomes = floats(table[columns.target])
    if columns.model is None:
        experts = [str(name) for name in columns.experts or ()]
        forecasts = _as_rows(table, experts)
    else:
        # A cell is a time of an item.
        cell_codes = codes * np.int64(len(items)) + series
        _, first, cells = np.unique(cell_codes, return_index=True, return_inverse=True)
        experts, who = encode(table[columns.model], columns.whole.models)
        _refuse_repeats(table, columns, cell_codes * np.int64(len(experts)) + who)
        parts = list(columns.classes) or [str(columns.forecast)]
        forecasts = np.full((len(first), len(parts), len(experts)), np.nan)
        for c, part in enumerate(parts):
            forecasts[cells, c, who] = floats(table[part])
        known, steps = (None if part is None else part[first] for part in (known, steps))
        contexts, calendar = _of_cells(contexts, calendar, cells, first)
        series, codes = series[first], codes[first]
        outcomes = merge_outcomes(outcomes, cells, len(first))
        kept = kept.take(pa.array(first))
    forecasts = _check_classes(forecasts, outcomes, experts, columns)
    kind = "" if when is None else time_kind(table[when])
    panel = Panel(
        kept, experts, forecasts, outcomes, items, series, codes, time_keys, known, kind, steps,
        columns.whole.times is not None, contexts, calendar,
    )  # fmt: skip
    if columns.model is None:
        _refuse_doubles(panel, columns)
    pa.default_memory_pool().release_unused()  # large tables: memory of intermediate results
    return panel


def _as_rows(table: Any, names: Sequence[str]) -> Floats:
    """Return columns as rows x 1 x columns, some rows at a time, which stay in the cache."""
    columns = table.select(names)
    cells = np.empty((table.num_rows, 1, len(names)))
    for start in range(0, table.num_rows, BLOCK):
        for k, column in enumerate(columns.slice(start, BLOCK).columns):
            cells[start : start + BLOCK, 0, k] = floats(column)
    return cells


def named_items(table: Any, by: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the names of the items, and the item of each row."""
    if not by:
        return [""], np.zeros(table.num_rows, dtype=np.int32)
    if len(by) == 1:
        return encode(table[by[0]])
    pc = extras.require("pyarrow.compute")
    # The separator is escaped inside of the parts, so that different keys get different names.
    marked = (pc.replace_substring(words(table[name]), "\\", "\\\\") for name in by)
    parts = (pc.replace_substring(texts, "|", "\\|") for texts in marked)
    return encode(pc.binary_join_element_wise(*parts, "|"))


def _horizons(
    table: Any, columns: Columns, items: list[str], series: np.ndarray, cutoffs: np.ndarray
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return an item for each step ahead of each series: names, items and steps of the rows."""
    # The steps of one forecast: distinct target times after one cutoff, in order.
    whole = columns.whole
    if whole.cutoffs is None:
        targets, _ = times(table[str(columns.time)])
        steps = WholeTable(cutoffs=cutoffs, targets=targets).steps(cutoffs, targets)
    else:
        made, due = (sortable(table[name]).to_numpy() for name in (columns.cutoff, columns.time))
        steps = whole.steps(made, due)
    width = int(steps.max()) + 1
    names = [
        f"{item}|step {step + 1}" if item else f"step {step + 1}"
        for item in items
        for step in range(width)
    ]
    return names, series * width + steps, steps.astype(np.int32)


def _places(series: np.ndarray) -> tuple[np.ndarray, None]:
    """Return for each row the number of earlier rows of the same item, and no distinct times."""
    order = np.argsort(series, kind="stable")
    sorted_ = series[order]
    first = np.searchsorted(sorted_, sorted_, side="left")
    places = np.empty(len(series), dtype=np.int32)
    places[order] = np.arange(len(series)) - first
    return places, None


def _of_cells(
    contexts: dict[str, RowContext],
    calendar: Calendar | None,
    cells: np.ndarray,
    first: np.ndarray,
) -> tuple[dict[str, RowContext], Calendar | None]:
    """Return the contexts and the dates of cells; their rows must agree in their contexts."""
    merged = {}
    for name, context in contexts.items():
        codes = np.where(context.codes < 0, np.nan, context.codes)
        codes = np.nan_to_num(merge_outcomes(codes, cells, len(first), name), nan=-1.0)
        merged[name] = context._replace(codes=codes.astype(np.int32))
    if calendar is not None:
        calendar = Calendar(calendar.dates[first], calendar.previous[first], calendar.zone)
    return merged, calendar


def merge_outcomes(target: Floats, cells: np.ndarray, count: int, name: str = "target") -> Floats:
    """Return the outcome of each cell, on which its rows must agree; NaN if no row has one."""
    outcomes = np.full(count, np.nan)
    known = ~np.isnan(target)
    outcomes[cells[known]] = target[known]
    if (outcomes[cells[known]] != target[known]).any():
        raise ValueError(f"rows of one time and series must agree in their {name}")
    return outcomes


def repeated_rows(codes: np.ndarray) -> np.ndarray:
    """Return the rows whose codes other rows have, too; rows of the smallest code come first."""
    order = np.argsort(codes, kind="stable")
    same = codes[order][1:] == codes[order][:-1]
    return np.asarray(order[np.append(same, False) | np.append(False, same)])


def _refuse_doubles(panel: Panel, columns: Columns) -> None:
    if panel.time_keys is None:
        return
    repeated = repeated_rows(panel.times * np.int64(len(panel.items)) + panel.series)
    if len(repeated):
        when = panel.table[columns.forecast_time][int(repeated[0])].as_py()
        item = panel.items[panel.series[repeated[0]]]
        of = f" of {item}" if item else ""
        hint = "" if columns.by else "; name the column of the series with by"
        if (
            isinstance(when, datetime)
            and when.tzinfo is None
            and len(repeated) < 0.1 * len(panel.times)
        ):
            hint += (
                "; if this is the hour that the end of daylight saving time repeats, write the "
                f"times with their offset: {when:%Y-%m-%dT%H:%M}+02:00 and +01:00"
            )
        raise ValueError(f"time {when} appears in more than one row{of}{hint}")


def _refuse_repeats(table: Any, columns: Columns, codes: np.ndarray) -> None:
    repeated = repeated_rows(codes)
    if len(repeated):
        row = int(repeated[0])
        keys = [*columns.index, str(columns.model)]
        where = ", ".join(f"{key} {table[key][row].as_py()}" for key in keys)
        raise ValueError(f"there is more than one forecast for {where}")


def _refuse_classes(forecasts: Floats, classes: Sequence[str]) -> None:
    sums, least = forecasts.sum(axis=1), np.nanmin(forecasts, initial=0.0)
    if least < -1e-9 or (np.abs(sums - 1.0) > SUM_TOLERANCE).any():
        shown = ", ".join(classes[:6]) + ", ..." * (len(classes) > 6)
        raise ValueError(
            "class probabilities must not be negative and must sum to one: see the columns "
            f"{shown}, or name others with classes"
        )


def _check_classes(
    forecasts: Floats, outcomes: Floats, experts: Sequence[str], columns: Columns
) -> Floats:
    """Return forecasts, of both classes where they are of one event; refuse wrong classes."""
    if columns.classes:
        _refuse_classes(forecasts, columns.classes)
    if columns.binary:
        forecasts = _two_classes(forecasts, experts)
    if columns.of_classes:
        _refuse_labels(outcomes, forecasts.shape[1], str(columns.target))
    return forecasts


def _two_classes(forecasts: Floats, experts: Sequence[str]) -> Floats:
    """Return the probabilities that something does not happen, and that it does."""
    wrong = (forecasts < -1e-9) | (forecasts > 1.0 + 1e-9)
    if wrong.any():
        row, _, expert = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"forecasts of {experts[expert]} must be probabilities between 0 and 1, one is "
            f"{forecasts[row, 0, expert]:g}"
        )
    return np.concatenate([1.0 - forecasts, forecasts], axis=1)


def _refuse_labels(outcomes: Floats, classes: int, target: str) -> None:
    known = outcomes[~np.isnan(outcomes)]
    if not np.isin(known, range(classes)).all():
        raise ValueError(f"column {target} must hold classes in 0..{classes - 1}")


def refuse_outcomes(outcomes: Floats, target: str, loss: Loss) -> None:
    """Refuse infinite outcomes, and outcomes that the loss does not take."""
    wrong = np.abs(outcomes) >= LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"column {target} must be finite, it is {outcomes[row]} in row {row + 1}")
    wrong = ~np.isnan(outcomes) & ~loss.takes(outcomes)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"column {target} must {loss.outcome_must[1]}, it is {outcomes[row]} in row {row + 1}"
        )
