"""Blend the next horizon: forecasts whose outcomes are not known yet."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.mixtures.state import MixtureState, TableFacts
from normalhedge.tables._cleaning import Labels, label_numbers, with_numbers
from normalhedge.tables._contexts import settle_contexts
from normalhedge.tables._intervals import play_intervals
from normalhedge.tables._playing import play_table, result_table
from normalhedge.tables._rounds import arrange
from normalhedge.tables._session import TableSession
from normalhedge.tables.frames import (
    DATE_PARTS,
    STEP,
    Columns,
    Panel,
    encode,
    is_text,
    read_dates,
    read_panel,
    refuse_other_than_numbers,
    replace_column,
    time_kind,
)
from normalhedge.tables.quantiles import QuantileTable, recognise


class LastKnown(NamedTuple):
    """The last time of a series whose outcome is known."""

    key: Any  # a number or a word that sorts
    time: Any  # the time, an Arrow scalar


class Past(NamedTuple):
    """The past of a future table."""

    state: MixtureState  # the memory of a mixture that has blended the past
    columns: Columns  # the roles of its columns
    # the last time of each series whose outcome is known, as `known_until` returns it
    known_until: Mapping[str, "LastKnown"]
    # the levels and the layout of quantile forecasts; None for other tables
    quantiles: QuantileTable | None
    labels: Labels | None  # the labels of classes, if they are text


def predict_future(past: Past, table: Any, *, weights: bool) -> Any:
    """Return a table of forecasts with its blend; the mixture does not change."""
    table, dates = read_dates(table, past.columns)
    table, _ = with_numbers(table, past.columns)
    target = str(past.columns.target)
    quantiles = None
    labels = _labels(past, table)
    if labels is not None:
        table = labels.encode(table)
    if past.quantiles is None:
        columns = _future_columns(past.columns, table)
        table = _complete(past, table, columns)
    else:
        _refuse_missing((past.columns.time, *past.columns.by), table)
        table = _complete(past, table, past.columns)
        quantiles = _quantiles(past.columns, past.quantiles, table)
        table, columns = quantiles.table, quantiles.columns
    panel = read_panel(table, columns)
    panel.outcomes = np.full(len(panel.outcomes), np.nan)
    _refuse_past(past.known_until, panel, past.columns.time)
    panel = panel if quantiles is None else quantiles.stack(panel)
    session = TableSession.of(past.state.copy(history=False))
    session.last_times = {}  # rows that wait for their outcomes may be blended again
    settle_contexts(session, panel, columns)
    rounds = arrange(session, panel, 0)
    sums = play_table(session, rounds, weights=weights, progress=None)
    intervals, names = play_intervals(session, rounds), session.state.names
    result = result_table(panel.table, rounds, sums, names, quantiles or columns, intervals)
    if labels is not None and not columns.of_classes:
        result = labels.decode(result, ["blend"])
    return dates.decode(result.drop_columns([target]))


def _labels(past: Past, table: Any) -> Labels | None:
    """Return the labels of a future table, which may have others than the past; None without."""
    if past.labels is None or past.columns.of_classes:
        return past.labels
    there = [name for name in past.labels.columns if name in table.column_names]
    words = {word for name in there if is_text(table[name].type) for word in encode(table[name])[0]}
    return label_numbers(sorted(filter(None, words)), there)


def _quantiles(past: Columns, quantiles: QuantileTable, table: Any) -> QuantileTable:
    """Return the quantile forecasts of a future table, which must have the levels of the past."""
    roles = replace(past, experts=None, forecast=None, notes=[])
    if quantiles.layout == "long":
        roles = replace(roles, forecast=past.forecast)
    else:
        roles = replace(roles, model=None if quantiles.layout == "intervals" else past.model)
    names = quantiles.names if quantiles.layout == "wide" else None
    future = recognise(table, roles, quantiles.level or None, names)
    if future is None or future.levels != quantiles.levels:
        shown = ", ".join(f"{level:g}" for level in quantiles.levels[:6])
        raise ValueError(f"the future table must have the levels of the past: {shown}")
    return future


def _future_columns(past: Columns, table: Any) -> Columns:
    """Return the roles of the columns of a future table, which may lack experts of the past."""
    names = set(table.column_names)
    contexts = [name for name in past.context or () if name not in {*DATE_PARTS, STEP}]
    needed = (past.time, past.model, past.forecast, *past.by, *past.classes, *contexts)
    _refuse_missing(needed, table)
    experts = None
    if past.experts is not None:
        experts = [name for name in past.experts if name in names]
        if not experts:
            shown = ", ".join(past.experts[:3])
            raise ValueError(f"the future table has none of the experts: {shown}, ...")
    for name in (*(experts or ()), *past.classes, *([past.forecast] if past.forecast else [])):
        refuse_other_than_numbers(table, name)
    return replace(past, experts=experts, notes=[])


def _refuse_missing(needed: Iterable[str | None], table: Any) -> None:
    for name in needed:
        if name is not None and name not in table.column_names:
            raise ValueError(f"the future table has no column {name}, which the past has")


def known_until(panel: Panel, time: str | None) -> dict[str, LastKnown]:
    """Return the last time of each series whose outcome is known; empty without times."""
    last: dict[str, LastKnown] = {}
    if time is None:
        return last
    rows = np.flatnonzero(~np.isnan(panel.outcomes))
    keys, items = panel.outcome_times[rows], panel.series[rows]
    order = np.lexsort((keys, items))
    ends = order[np.append(items[order][1:] != items[order][:-1], True)] if len(order) else order
    names, column = panel.series_names, panel.table[time]
    for k in ends.tolist():
        name = names[items[k]]
        if name not in last or keys[k] > last[name].key:
            last[name] = LastKnown(keys[k], column[int(rows[k])])
    return last


def _complete(past: Past, table: Any, columns: Columns) -> Any:
    """Return a future table with a target and, if the past has one, a cutoff."""
    pa = extras.require("pyarrow")
    last = max(past.known_until.values(), key=lambda end: end.key, default=None)
    past_kind = TableFacts.of(past.state.live).time_kind
    if columns.target not in table.column_names:
        none = pa.nulls(table.num_rows, pa.float64())
        table = table.append_column(str(columns.target), none)
    if columns.time is None or last is None:
        if columns.cutoff is not None and columns.cutoff not in table.column_names:
            raise ValueError(
                f"the future table needs the column {columns.cutoff}: no outcome is known yet"
            )
        return table
    for name in (columns.time, columns.cutoff):
        if name in table.column_names and past_kind == "dates":
            table = _read_dates(table, str(name))
    kind = time_kind(table[columns.time])
    if kind != past_kind:
        raise ValueError(
            f"column {columns.time} of the future table has {kind}, and in the past {past_kind}"
        )
    if columns.cutoff is not None and columns.cutoff not in table.column_names:
        made = last.time.cast(table[columns.time].type)
        table = table.append_column(columns.cutoff, pa.repeat(made, table.num_rows))
    return table


def _read_dates(table: Any, name: str) -> Any:
    """Return a table with dates in a column of texts that are dates, as JSON has them."""
    pa = extras.require("pyarrow")
    if time_kind(table[name]) != "words":
        return table
    try:
        return replace_column(table, name, table[name].cast(pa.timestamp("us")))
    except pa.ArrowException:
        return table


def _refuse_past(past: Mapping[str, LastKnown], panel: Panel, time: str | None) -> None:
    """Refuse a future table with times that are not after the last known outcome of the series."""
    if time is None or not past:
        return
    keys, names = panel.outcome_times, panel.series_names
    ends = [past.get(name) for name in names]
    filled = np.array([keys[0] if end is None else end.key for end in ends])
    there = np.array([end is not None for end in ends])
    wrong = there[panel.series] & (keys <= filled[panel.series])
    if wrong.any():
        row = int(wrong.argmax())
        first, item = panel.table[time][row].as_py(), panel.series[row]
        of, last = names[item].removesuffix("|"), past[names[item]].time.as_py()
        raise ValueError(
            f"the future table has {time} {first}{f' of {of}' if of else ''}, but outcomes are "
            f"known until {last}: it must come after them"
        )


def rows_ahead(panel: Panel) -> list[str]:
    """Return a note on rows at the end whose outcomes are not known yet."""
    unknown = np.isnan(panel.outcomes)
    last = panel.times[~unknown].max(initial=-1)
    count = int((unknown & (panel.times > last)).sum())
    if not count or last < 0:
        return []
    rows = f"{count:,} row{'s' * (count > 1)} at the end without an outcome"
    return [f"{rows}: forecasts, to be settled when a later table has the outcomes"]
