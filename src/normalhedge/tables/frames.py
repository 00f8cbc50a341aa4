"""Tables of forecasts -> rounds: pandas, polars and pyarrow, wide or long.

Everything is turned into Arrow, and back into what was given. A *wide* table has a column for each
expert; a *long* one a column of models and one of forecasts (or one for each class).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normalhedge import _extras, _names
from normalhedge._inputs import Floats
from normalhedge.mixtures.forecasts import SUM_TOLERANCE

TIMES = ("ds", "time", "date", "datetime", "timestamp", "reference_date", "forecast_date", "t")
SERIES = ("unique_id", "series", "series_id", "location", "item_id")
TARGETS = ("y", "target", "truth", "actual", "outcome", "y_true")
MODELS = ("model", "forecaster", "expert", "team")
COUNTS = ("id", "index", "row", "horizon", "step", "Unnamed: 0", "")
"""What columns are usually called, guessed where the caller does not say; counts are no experts."""


DAY_FIRST = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
"""Dates that do not sort as words."""


@dataclass
class Columns:
    """Which column is what; what is not given is guessed by `guess`, which says so in `said`."""

    target: str | None = None
    experts: Sequence[str] | None = None
    by: Sequence[str] = ()
    time: str | None = None
    cutoff: str | None = None
    model: str | None = None
    forecast: str | None = None
    classes: Sequence[str] = ()
    said: list[str] = field(default_factory=list)


@dataclass
class Panel:
    """Forecasts in rows, sorted by time.

    Attributes
    ----------
    table
        Arrow: the columns that say what a row is, in the order of the caller's table.
    experts
        The names of the columns of ``forecasts``.
    forecasts, outcomes
        Rows x classes x experts, NaN where there is none; and of each row, NaN if not known.
    items, series
        The names of the items, and the item of each row.
    times, time_keys
        The round of each row, 0, 1, ...; and the time of each round: numbers or words that sort.
    known
        The time at which the outcome of a row is known, with a cutoff; else none.
    time_kind
        What the times are: dates, numbers or words; empty where there are none.
    """

    table: Any
    experts: list[str]
    forecasts: Floats
    outcomes: Floats
    items: list[str]
    series: np.ndarray
    times: np.ndarray
    time_keys: np.ndarray | None
    known: np.ndarray | None
    time_kind: str


def to_arrow(frame: Any) -> tuple[Any, Any]:
    """Return a frame of any kind as an Arrow table, and how to turn one back into its kind."""
    if isinstance(frame, _extras.require("pyarrow").Table):
        return frame, lambda result: result
    nw = _extras.require("narwhals")
    try:
        own = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"frame must be a pandas, polars or pyarrow table, got {type(frame).__name__}"
        ) from None
    table = own.to_arrow()
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    table = table.drop_columns(index)  # what pandas has beside its columns

    def back(result: Any) -> Any:
        made = nw.from_arrow(result, backend=own.implementation).to_native()
        if hasattr(frame, "index") and hasattr(made, "index") and len(made) == len(frame):
            made.index = frame.index  # of pandas
        return made

    return table, back


def guess(table: Any, columns: Columns) -> Columns:  # noqa: C901 -- one line for each guess
    """Check the columns that were given, and guess the others."""
    names = table.column_names
    _refuse_twice("column", names)
    single = (columns.target, columns.time, columns.cutoff, columns.model, columns.forecast)
    several = (*(columns.experts or ()), *columns.by, *columns.classes)
    for given in (*filter(None, single), *several):
        if given not in names:
            raise _names.nearest("column", given, names)
    said: list[str] = []
    taken: set[str | None] = {*single, *several}

    def find(what: str, usual: Sequence[str]) -> str | None:
        name = next((name for name in usual if name in names and name not in taken), None)
        if name is not None:
            said.append(f"{what}: {name}")
            taken.add(name)
        return name

    target = columns.target or find("target", TARGETS)
    if target is None:
        raise ValueError(f"target must name one of the columns: {', '.join(names)}")
    model = columns.model
    if model is None and columns.experts is None:
        model = find("long table, models in", MODELS)
    time = columns.time or find("time", TIMES)
    by = columns.by or tuple(filter(None, [find("series", SERIES)]))
    cutoff = columns.cutoff
    if cutoff is None and time is not None:
        cutoff = find("forecasts made at", ("cutoff",))
    experts, forecast = columns.experts, columns.forecast
    if model is not None and forecast is None and not columns.classes:
        forecast = find("forecasts in", ("forecast", "prediction", "value"))
        if forecast is None:
            raise ValueError(f"forecast must name one of the columns: {', '.join(names)}")
    if model is None and experts is None:
        free = [n for n in names if n not in taken and n not in COUNTS]
        experts = [n for n in free if _is_number(table.schema.field(n).type)]
        said.append(f"experts: {', '.join(experts[:6])}{', ...' if len(experts) > 6 else ''}")
        left = [n for n in names if n not in taken and n not in experts]
        if left:
            said.append(f"left out: {', '.join(left)}")
    found = Columns(target, experts, by, time, cutoff, model, forecast, columns.classes, said)
    _check(table, found)
    return found


def _check(table: Any, columns: Columns) -> None:
    """Refuse columns that do not go together, or hold no numbers."""
    experts = list(columns.experts or ())
    _refuse_twice("expert", experts)
    wrong = {columns.target, columns.time, columns.cutoff, *columns.by} & set(experts)
    if wrong:
        raise ValueError(f"column {wrong.pop()} cannot be an expert, for it is something else")
    if columns.time is None and columns.model is not None:
        raise ValueError("a long table needs the time: which of its rows belong together?")
    if columns.classes and columns.model is None:
        raise ValueError("classes need a long table, with a column model: one row for each expert")
    if len(columns.classes) == 1:
        raise ValueError(f"classes must be two columns or more, got {columns.classes[0]} alone")
    if columns.time is None and columns.cutoff is not None:
        raise ValueError("cutoff needs the time that the forecasts are for")
    if columns.model is None and not experts:
        raise ValueError(f"there is no column of numbers left for experts beside {columns.target}")
    for name in {columns.target, columns.forecast, *experts, *columns.classes} - {None}:
        if not _may_hold_numbers(table.schema.field(name).type):
            raise TypeError(f"column {name} must hold numbers, it holds {table[name].type}")


def count_experts(table: Any, columns: Columns) -> int:
    """Return how many experts a table has."""
    if columns.model is None:
        return len(columns.experts or ())
    return len(_encoded(table[columns.model])[0])


def panel(table: Any, columns: Columns) -> Panel:
    """Return the rounds of a table whose columns are known."""
    pa = _extras.require("pyarrow")
    rows = table.num_rows
    if not rows:
        raise ValueError("the table has no rows")
    items, series = _items(table, columns.by)
    made = columns.cutoff or columns.time
    times, keys = (_places(series), None) if made is None else _times(table, made)
    known = None
    if columns.cutoff is not None:
        known = _sortable(table[columns.time]).to_numpy()
        if _kind(table[columns.time].type) != _kind(table[columns.cutoff].type):
            raise TypeError("cutoff and time must be of one kind: dates, numbers or words")
        items, series = _horizons(table, columns, items, series, times)
    index = [*columns.by, *([columns.time] if columns.time else [])]
    index += [columns.cutoff] if columns.cutoff else []
    target = _floats(table[columns.target])
    if columns.model is None:
        experts = [str(name) for name in columns.experts or ()]
        forecasts = np.empty((rows, 1, len(experts)))
        for i, name in enumerate(experts):
            forecasts[:, 0, i] = _floats(table[name])
        outcomes = target
        kept = table.select([*index, str(columns.target)])
    else:
        codes, first, cells = _cells(series, times, len(items))
        experts, who = _encoded(table[columns.model])
        _refuse_repeats(table, columns, codes * np.int64(len(experts)) + who)
        parts = list(columns.classes) or [str(columns.forecast)]
        forecasts = np.full((len(first), len(parts), len(experts)), np.nan)
        for c, part in enumerate(parts):
            forecasts[cells, c, who] = _floats(table[part])
        if columns.classes:
            _refuse_classes(forecasts)
        known = None if known is None else known[first]
        series, times = series[first], times[first]
        outcomes = _agreed(target, cells, len(first))
        kept = table.select([*index, str(columns.target)]).take(pa.array(first))
    if columns.classes:
        _refuse_labels(outcomes, len(columns.classes), str(columns.target))
    kind = "" if made is None else _kind(table[made].type)
    result = Panel(kept, experts, forecasts, outcomes, items, series, times, keys, known, kind)
    if columns.model is None:
        _refuse_doubles(result, columns)
    pa.default_memory_pool().release_unused()  # large tables: what was only needed on the way
    return result


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{what} {name} is there twice")


def _is_number(kind: Any) -> bool:
    types = _extras.require("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _may_hold_numbers(kind: Any) -> bool:
    """Tell whether a column that was named can be read: one that is empty has no kind yet."""
    return _is_number(kind) or bool(_extras.require("pyarrow.types").is_null(kind))


def _floats(column: Any) -> Floats:
    pa = _extras.require("pyarrow")
    array = column.cast(pa.float64(), safe=False).combine_chunks()
    values: Floats = array.to_numpy(zero_copy_only=False)
    return values


def _sortable(column: Any) -> Any:
    """Return times as numbers or words, which JSON can hold and which sort as the times do."""
    pa, types = _extras.require("pyarrow"), _extras.require("pyarrow.types")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        raise ValueError("the time must be given in every row")
    if types.is_timestamp(column.type) or types.is_date(column.type):
        whole = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
        return whole.cast(pa.int64())
    if types.is_temporal(column.type) or types.is_nested(column.type):
        raise TypeError(f"the time must be a date, a number or a word, it is {column.type}")
    if types.is_integer(column.type) or types.is_floating(column.type):
        return column
    words = column.cast(pa.string())
    pc = _extras.require("pyarrow.compute")
    if pc.any(pc.match_substring_regex(words, DAY_FIRST)).as_py():
        raise ValueError(
            f"times such as {words[0].as_py()!r} do not sort as they follow each other: write them "
            "as 2024-09-30"
        )
    return words


def _kind(kind: Any) -> str:
    types = _extras.require("pyarrow.types")
    if types.is_temporal(kind):
        return "dates"
    return "numbers" if _is_number(kind) else "words"


def _times(table: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the round of each row, 0, 1, ..., and the times of the rounds."""
    pc = _extras.require("pyarrow.compute")
    column = _sortable(table[name]).combine_chunks()
    distinct = pc.unique(column)
    distinct = distinct.take(pc.sort_indices(distinct))
    codes: np.ndarray = pc.index_in(column, value_set=distinct).to_numpy()
    return codes.astype(np.int32), distinct.to_numpy(zero_copy_only=False)


def _items(table: Any, by: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the names of the items, and the item of each row."""
    if not by:
        return [""], np.zeros(table.num_rows, dtype=np.int32)
    if len(by) == 1:
        return _encoded(table[by[0]])
    pc = _extras.require("pyarrow.compute")
    # No two keys become the same word: what separates their parts is marked inside of them.
    marked = (pc.replace_substring(_words(table[name]), "\\", "\\\\") for name in by)
    parts = (pc.replace_substring(words, "|", "\\|") for words in marked)
    return _encoded(pc.binary_join_element_wise(*parts, "|"))


def _words(column: Any) -> Any:
    pa, pc = _extras.require("pyarrow"), _extras.require("pyarrow.compute")
    return pc.fill_null(column.cast(pa.string()), "")


def _encoded(column: Any) -> tuple[list[str], np.ndarray]:
    """Return the distinct values of a column as words, and which of them stands in each row."""
    types = _extras.require("pyarrow.types")
    if column.null_count or types.is_dictionary(column.type):
        column = _words(column)
    encoded = column.combine_chunks().dictionary_encode()
    codes: np.ndarray = encoded.indices.to_numpy()
    return _words(encoded.dictionary).to_pylist(), codes.astype(np.int32, copy=False)


def _horizons(
    table: Any, columns: Columns, items: list[str], series: np.ndarray, made: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Let each step ahead of a series be an item of its own."""
    targets, _ = _times(table, str(columns.time))
    # The steps of one forecast: distinct target times after one cutoff, in order.
    pairs = made * (np.int64(targets.max()) + 1) + targets
    distinct, place = np.unique(pairs, return_inverse=True)
    cutoffs = distinct // (int(targets.max()) + 1)
    first = np.searchsorted(cutoffs, cutoffs, side="left")
    steps = (np.arange(len(distinct)) - first)[place]
    width = int(steps.max()) + 1
    names = [
        f"{item}|step {step + 1}" if item else f"step {step + 1}"
        for item in items
        for step in range(width)
    ]
    return names, series * width + steps


def _places(series: np.ndarray) -> np.ndarray:
    """Return how many rows of the same item come before each row."""
    order = np.argsort(series, kind="stable")
    sorted_ = series[order]
    first = np.searchsorted(sorted_, sorted_, side="left")
    places = np.empty(len(series), dtype=np.int32)
    places[order] = np.arange(len(series)) - first
    return places


def _cells(
    series: np.ndarray, times: np.ndarray, items: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a code for (time, item) of each row, the first row of each, and which it is."""
    codes = times * np.int64(items) + series
    _, first, cells = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first, cells


def _agreed(target: Floats, cells: np.ndarray, count: int) -> Floats:
    """Return the outcome of each cell, on which its rows must agree; NaN where none knows it."""
    outcomes = np.full(count, np.nan)
    known = ~np.isnan(target)
    outcomes[cells[known]] = target[known]
    if (outcomes[cells[known]] != target[known]).any():
        raise ValueError("rows of one time and series must agree in their target")
    return outcomes


def _refuse_doubles(result: Panel, columns: Columns) -> None:
    if result.time_keys is None:
        return
    codes = np.sort(result.times * np.int64(len(result.items)) + result.series)
    if (codes[1:] == codes[:-1]).any():
        codes = result.times * np.int64(len(result.items)) + result.series
        values, counts = np.unique(codes, return_counts=True)
        item = int(values[counts > 1][0]) % len(result.items)
        row = int(np.argmax(codes == values[counts > 1][0]))
        when = result.table[columns.cutoff or columns.time][row].as_py()
        of = f" of {result.items[item]}" if result.items[item] else ""
        hint = "" if columns.by else "; name the column of the series with by"
        raise ValueError(f"time {when} stands in more than one row{of}{hint}")


def _refuse_repeats(table: Any, columns: Columns, codes: np.ndarray) -> None:
    values, counts = np.unique(codes, return_counts=True)
    if (counts > 1).any():
        row = int(np.argmax(codes == values[counts > 1][0]))
        named = [*columns.by, columns.time, columns.cutoff, columns.model]
        where = ", ".join(f"{name} {table[name][row].as_py()}" for name in named if name)
        raise ValueError(f"there is more than one forecast for {where}")


def _refuse_classes(forecasts: Floats) -> None:
    sums, least = forecasts.sum(axis=1), np.nanmin(forecasts, initial=0.0)
    if least < -1e-9 or (np.abs(sums - 1.0) > SUM_TOLERANCE).any():
        raise ValueError("class probabilities must not be negative and must sum to one")


def _refuse_labels(outcomes: Floats, classes: int, target: str) -> None:
    known = outcomes[~np.isnan(outcomes)]
    if not np.isin(known, range(classes)).all():
        raise ValueError(f"column {target} must hold classes in 0..{classes - 1}")
