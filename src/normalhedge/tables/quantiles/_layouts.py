"""Recognise tables of quantile forecasts, and read them with their levels.

Three layouts are read, and the result of a blend has the layout of its table.

    long       a row for each model, time and level: columns ``model``, ``level``, ``value``
    wide       a row for each model and time: columns ``model``, ``q0.1``, ``q0.5``, ...
    intervals  a row for each time: columns ``gam``, ``gam-lo-90``, ``gam-hi-90``, ``ar``, ...

Levels are always those of the data: of a column, or of the names of columns. The order of rows and
columns says nothing about them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from normalhedge.boundary import specs
from normalhedge.tables.frames import MODELS, Columns, is_number, may_hold_numbers
from normalhedge.tables.quantiles._intervals import read_intervals
from normalhedge.tables.quantiles._levels import check_levels, level_of, read_levels
from normalhedge.tables.quantiles._rows import read_long, read_wide
from normalhedge.tables.quantiles._table import QuantileTable

LEVELS = ("quantile_level", "quantile", "output_type_id", "level", "tau", "q")
"""The usual names of a column of levels."""

MADE, FOR = ("reference_date", "origin_date", "forecast_date"), "target_end_date"
"""The usual names, in forecast hubs, of the dates at which forecasts are made, and they are for."""

Quantiles = Mapping[str, float] | Sequence[str] | None
"""The columns of quantiles, with their levels where the names do not say them."""


def recognise(
    table: Any, given: Columns, level: str | None = None, quantiles: Quantiles = None
) -> QuantileTable | None:
    """Return the quantile forecasts of a table; None if it has none."""
    quantiles = quantiles or None
    names = table.column_names
    if len(set(names)) < len(names):
        return None  # `guess` says which column is there twice
    _check_names(names, level, quantiles)
    if given.classes and quantiles is None and level is None:
        return None
    model = given.model
    if model is None and (given.experts is None or level is not None):
        model = next((name for name in MODELS if name in names), None)
    if model is None:
        return _without_models(table, given, level, quantiles)
    given = replace(given, model=model)
    if level is None and quantiles is None:
        level = _column_of_levels(table, given)
    if level is not None:
        return read_long(table, _dated(table, given), level)
    columns = _level_columns(table, given, quantiles)
    return read_wide(table, _dated(table, given), columns) if columns else None


def _check_names(names: Sequence[str], level: str | None, quantiles: Quantiles) -> None:
    if level is not None and quantiles is not None:
        raise ValueError("level is for long tables and quantiles for wide ones: give one of them")
    if isinstance(quantiles, str):
        raise TypeError(f"quantiles must be a list of columns, or a mapping, got {quantiles!r}")
    for name in (*(quantiles or ()), *([] if level is None else [level])):
        if name not in names:
            raise specs.nearest("column", str(name), names)


def _without_models(
    table: Any, given: Columns, level: str | None, quantiles: Quantiles
) -> QuantileTable | None:
    """Read a table without a column of models; None if it has no quantiles."""
    if level is not None:
        raise ValueError("level needs a long table, with a column of models: name it with model")
    if isinstance(quantiles, Mapping):
        raise TypeError("quantiles with levels need a column of models: name it with model")
    found = read_intervals(table, given, quantiles)
    if found is None and given.experts is None:
        alone = _level_columns(table, given, None)
        if any(x < 0.5 for x in alone.values()) and any(x > 0.5 for x in alone.values()):
            few = ", ".join(list(alone)[:3])
            raise ValueError(
                f"columns {few} look like quantiles of one model: name the column of models with "
                "model, or the columns of experts with experts"
            )
    return found


def _column_of_levels(table: Any, given: Columns) -> str | None:
    """Return the column of levels of a long table, by its name; None without one."""
    taken = {given.target, given.time, given.cutoff, given.forecast, given.model}
    for name in LEVELS:
        if name not in table.column_names or name in taken:
            continue
        # Levels of regions, quarters and other words and numbers may have such a name, too.
        unsure = name == "q" or (name == "level" and not is_number(table[name].type))
        if (unsure or name in given.by) and not _holds_levels(table[name]):
            continue
        return name
    return None


def _holds_levels(column: Any) -> bool:
    try:
        read_levels(column, "")
    except ValueError:
        return False
    return True


def _level_columns(table: Any, given: Columns, quantiles: Quantiles) -> dict[str, float]:
    """Return the columns of quantiles of a wide table with a column of models, with levels."""
    if isinstance(quantiles, Mapping):
        found = {str(name): float(level) for name, level in quantiles.items()}
    elif quantiles is not None:
        unknown = [name for name in quantiles if level_of(name) is None]
        if unknown:
            raise ValueError(
                f"column {unknown[0]} has no level between 0 and 1 in its name: give quantiles as a"
                " mapping of columns to levels"
            )
        found = {name: float(level_of(name) or 0.0) for name in quantiles}
    elif given.forecast is not None:
        return {}
    else:
        taken = {given.target, given.time, given.cutoff, given.model, *given.by}
        every = {name: level_of(name) for name in table.column_names if name not in taken}
        found = {
            name: level
            for name, level in every.items()
            if level is not None and may_hold_numbers(table.schema.field(name).type)
        }
        if len(found) < 2:
            return {}
    _refuse_double_levels(found)
    return found


def _refuse_double_levels(columns: Mapping[str, float]) -> None:
    check_levels(sorted(set(columns.values())))
    first: dict[float, str] = {}
    for name, level in columns.items():
        if level in first:
            raise ValueError(f"columns {first[level]} and {name} have the same level, {level:g}")
        first[level] = name


def _dated(table: Any, given: Columns) -> Columns:
    """Return the roles with the two dates of a forecast hub, if there are such columns."""
    made = next((name for name in MADE if name in table.column_names), None)
    if given.time is not None or given.cutoff is not None or made is None:
        return given
    if FOR not in table.column_names:
        return given
    notes = [f"forecasts made at: {made}", f"time: {FOR}"]
    return replace(given, time=FOR, cutoff=made, notes=[*given.notes, *notes])
