"""Recognise tables of quantile forecasts, and read them with their levels.

Three layouts are read, and the result of a blend has the layout of its table.

    long       a row for each model, time and level: columns ``model``, ``level``, ``value``
    wide       a row for each model and time: columns ``model``, ``q0.1``, ``q0.5``, ...
    intervals  a row for each time: columns ``gam``, ``gam-lo-90``, ``gam-hi-90``, ``ar``, ...

Levels always come from the data: from a column, or from the names of columns. The order of rows and
columns says nothing about them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras, inputs, specs
from normalhedge.boundary.terminal import counted
from normalhedge.tables.frames import (
    MODELS,
    Columns,
    floats,
    free_name,
    guess,
    is_number,
    may_hold_numbers,
    merge_outcomes,
    named_items,
    repeated_rows,
    replace_column,
    words,
)
from normalhedge.tables.quantiles._levels import (
    check_levels,
    level_of,
    model_and_level,
    read_levels,
)
from normalhedge.tables.quantiles._table import BLEND, QuantileTable, numbers_of

LEVELS = ("quantile_level", "quantile", "output_type_id", "level", "tau", "q")
"""The usual names of a column of levels."""

MADE, FOR = ("reference_date", "origin_date", "forecast_date"), "target_end_date"
"""The usual names, in forecast hubs, of the dates at which forecasts are made, and they are for."""

Quantiles = Mapping[str, float] | Sequence[str] | None
"""The columns of quantiles, with their levels where the names do not say them."""


def recognise(
    table: Any, spec: Columns, level: str | None = None, quantiles: Quantiles = None
) -> QuantileTable | None:
    """Return the quantile forecasts of a table; None if it has none."""
    quantiles = quantiles or None
    names = table.column_names
    if len(set(names)) < len(names):
        return None  # `guess` says which column is there twice
    _check_names(names, level, quantiles)
    if spec.classes and quantiles is None and level is None:
        return None
    model = spec.model
    if model is None and (spec.experts is None or level is not None):
        model = next((name for name in MODELS if name in names), None)
    if model is None:
        return _without_models(table, spec, level, quantiles)
    spec = replace(spec, model=model)
    if level is None and quantiles is None:
        level = _column_of_levels(table, spec)
    if level is not None:
        return _read_long(table, _with_hub_dates(table, spec), level)
    columns = _level_columns(table, spec, quantiles)
    return _read_wide(table, _with_hub_dates(table, spec), columns) if columns else None


def _check_names(names: Sequence[str], level: str | None, quantiles: Quantiles) -> None:
    if level is not None and quantiles is not None:
        raise ValueError("level is for long tables and quantiles for wide ones: give one of them")
    if isinstance(quantiles, str) or not isinstance(quantiles, Iterable | None):
        raise TypeError(f"quantiles must be a list of columns, or a mapping, got {quantiles!r}")
    for name in (*(quantiles or ()), *([] if level is None else [level])):
        if name not in names:
            raise specs.nearest("column", str(name), names)
    for name, number in quantiles.items() if isinstance(quantiles, Mapping) else ():
        inputs.number(f"the level of column {name}", number, 0.0, 1.0)


def _without_models(
    table: Any, spec: Columns, level: str | None, quantiles: Quantiles
) -> QuantileTable | None:
    """Read a table without a column of models; None if it has no quantiles."""
    if level is not None:
        raise ValueError("level needs a long table, with a column of models: name it with model")
    if isinstance(quantiles, Mapping):
        raise TypeError("quantiles with levels need a column of models: name it with model")
    quantile_table = _read_intervals(table, spec, quantiles)
    if quantile_table is None and spec.experts is None:
        alone = _level_columns(table, spec, None)
        if any(x < 0.5 for x in alone.values()) and any(x > 0.5 for x in alone.values()):
            few = ", ".join(list(alone)[:3])
            raise ValueError(
                f"columns {few} look like quantiles of one model: name the column of models with "
                "model, or the columns of experts with experts"
            )
    return quantile_table


def _column_of_levels(table: Any, spec: Columns) -> str | None:
    """Return the column of levels of a long table, by its name; None without one."""
    taken = {spec.target, spec.time, spec.cutoff, spec.forecast, spec.model}
    for name in LEVELS:
        if name not in table.column_names or name in taken:
            continue
        # Levels of regions, quarters and other words and numbers may have such a name, too.
        unsure = name == "q" or (name == "level" and not is_number(table[name].type))
        if (unsure or name in spec.by) and not _holds_levels(table[name]):
            continue
        return name
    return None


def _holds_levels(column: Any) -> bool:
    try:
        read_levels(column, "")
    except ValueError:
        return False
    return True


def _level_columns(table: Any, spec: Columns, quantiles: Quantiles) -> dict[str, float]:
    """Return the columns of quantiles of a wide table with a column of models, with levels."""
    if quantiles is None and spec.forecast is not None:
        return {}
    if isinstance(quantiles, Mapping):
        columns = {str(name): float(level) for name, level in quantiles.items()}
    else:
        taken = {spec.target, spec.time, spec.cutoff, spec.model, *spec.by}
        names = quantiles or [
            name
            for name in table.column_names
            if name not in taken and may_hold_numbers(table.schema.field(name).type)
        ]
        by_name = {name: level_of(name) for name in names}
        columns = {name: level for name, level in by_name.items() if level is not None}
        if quantiles is None and len(columns) < 2:
            return {}
        unknown = [name for name in quantiles or () if name not in columns]
        if unknown:
            raise ValueError(
                f"column {unknown[0]} has no level between 0 and 1 in its name: give quantiles as a"
                " mapping of columns to levels"
            )
    check_levels(sorted(set(columns.values())))
    first: dict[float, str] = {}
    for name, level in columns.items():
        other = first.setdefault(level, name)
        if other != name:
            raise ValueError(f"columns {other} and {name} have the same level, {level:g}")
    return columns


def _with_hub_dates(table: Any, spec: Columns) -> Columns:
    """Return the roles with the two dates of a forecast hub, if there are such columns."""
    made = next((name for name in MADE if name in table.column_names), None)
    if spec.time is not None or spec.cutoff is not None or made is None:
        return spec
    if FOR not in table.column_names:
        return spec
    notes = [f"forecasts made at: {made}", f"time: {FOR}"]
    return replace(spec, time=FOR, cutoff=made, notes=[*spec.notes, *notes])


def _read_long(table: Any, spec: Columns, level: str) -> QuantileTable:
    """Read a table with a row for each model, time and level."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    notes = [f"levels in: {level}"]
    if "output_type" in table.column_names and "output_type" not in spec.by:
        kept = pc.equal(words(table["output_type"]), "quantile")
        left = table.num_rows - int(pc.sum(kept).as_py() or 0)
        if left == table.num_rows:
            raise ValueError("column output_type names no quantile: this table has no quantiles")
        if left:
            table = table.filter(kept)
            notes.append(f"{counted(left, 'row')} of another output_type left out")
    if not table.num_rows:
        raise ValueError("the table has no rows")
    columns = guess(table, spec)
    columns.notes[:0] = [*spec.notes, *notes]
    if level in columns.by:
        raise ValueError(f"column {level} holds levels: it cannot name a series, too")
    given_levels = read_levels(table[level], level)
    levels, place = np.unique(given_levels, return_inverse=True)
    if spec.whole.levels is not None:
        levels = np.array(spec.whole.levels)
        place = np.searchsorted(levels, given_levels)
    keys = [*columns.index, str(columns.model)]
    _, group = named_items(table, keys)
    _, first = np.unique(group, return_index=True)
    cells = group * np.int64(len(levels)) + place
    repeated = repeated_rows(cells)
    if len(repeated):
        row = int(repeated[1])
        where = ", ".join(f"{key} {table[key][row].as_py()}" for key in keys)
        raise ValueError(
            f"there is more than one forecast for {where}, {level} {given_levels[row]:g}"
        )
    numbers = np.full((len(first), len(levels)), np.nan)
    numbers[group, place] = floats(table[columns.forecast])
    target = merge_outcomes(floats(table[columns.target]), group, len(first))
    base = table.take(pa.array(first))
    base = replace_column(base, str(columns.target), target)
    base = replace_column(base, str(columns.forecast), np.arange(len(first), dtype=np.float64))
    return QuantileTable(base, columns, check_levels(levels.tolist()), numbers, "long", level)


def _read_wide(table: Any, spec: Columns, names: Mapping[str, float]) -> QuantileTable:
    """Read a table with a row for each model and time, and a column for each level."""
    pa = extras.require("pyarrow")
    levels = check_levels(list(names.values()))
    numbers = np.empty((table.num_rows, len(levels)))
    for name, level in names.items():
        numbers[:, levels.index(level)] = numbers_of(table, name)
    rows = np.arange(table.num_rows, dtype=np.float64)
    base = table.drop_columns(list(names))
    forecast = free_name("forecast", base)
    base = base.append_column(forecast, pa.array(rows))
    columns = guess(base, replace(spec, forecast=forecast))
    shown = [f"{name} is level {level:g}" for name, level in list(names.items())[:3]]
    more = ", ..." if len(names) > 3 else ""
    columns.notes[:0] = [*spec.notes, f"quantiles: {', '.join(shown)}{more}"]
    return QuantileTable(base, columns, levels, numbers, "wide", names=dict(names))


def _read_intervals(
    table: Any, spec: Columns, quantiles: Sequence[str] | None
) -> QuantileTable | None:
    """Read a table with columns ``gam``, ``gam-lo-90``, ... for each model; None without them.

    Libraries of Nixtla write such tables. A model without intervals forecasts the median alone.
    """
    pa = extras.require("pyarrow")
    named = _columns_of_models(table, spec, quantiles)
    if not named:
        return None
    models = list(dict.fromkeys(model for model, _ in named.values()))
    base = table.drop_columns(list(named))
    for model in models:
        if model not in base.column_names:
            base = base.append_column(model, pa.array(np.full(table.num_rows, np.nan)))
    experts = None
    if spec.experts is not None:
        experts = tuple(dict.fromkeys(named.get(name, (name, 0.0))[0] for name in spec.experts))
    columns = guess(base, replace(spec, experts=experts))
    by_model = _columns_by_level([str(name) for name in columns.experts or ()], named, table)
    levels = check_levels(sorted({level for names in by_model.values() for level in names}))
    rows = table.num_rows
    numbers = np.full((len(by_model) * rows, len(levels)), np.nan)
    for i, (model, names) in enumerate(by_model.items()):
        here = slice(i * rows, (i + 1) * rows)
        for level, name in names.items():
            numbers[here, levels.index(level)] = numbers_of(table, name)
        base = replace_column(base, model, np.arange(here.start, here.stop, dtype=np.float64))
    shown = ", ".join(f"{level:g}" for level in levels)
    columns.notes.insert(0, f"columns of models and levels: quantiles at {shown}")
    names_of_blend = _names_of_blend(by_model, named)
    return QuantileTable(base, columns, levels, numbers, "intervals", names=names_of_blend)


def _columns_by_level(
    experts: Sequence[str], named: Mapping[str, tuple[str, float]], table: Any
) -> dict[str, dict[float, str]]:
    """Return the columns of each model by level; its column without a level is its median."""
    by_model = {name: {0.5: name} for name in experts}
    for name, (model, level) in named.items():
        if model not in by_model:
            continue
        other = by_model[model].get(level, model)
        if other != model:
            raise ValueError(f"columns {other} and {name} have the same level, {level:g}")
        by_model[model][level] = name
    for model, columns in by_model.items():
        if columns[0.5] == model and model not in table.column_names:
            del columns[0.5]
    return by_model


def _columns_of_models(
    table: Any, spec: Columns, quantiles: Sequence[str] | None
) -> dict[str, tuple[str, float]]:
    """Return the columns whose names say a model and a level."""
    names = quantiles
    if names is None:
        taken = {spec.target, spec.time, spec.cutoff, *spec.by}
        free = [name for name in table.column_names if name not in taken]
        names = [name for name in free if may_hold_numbers(table.schema.field(name).type)]
    parts_of = {name: model_and_level(name) for name in names}
    named = {name: parts for name, parts in parts_of.items() if parts is not None}
    if quantiles is not None:
        for name in names:
            if name not in named:
                raise ValueError(
                    f"column {name} must name its model and its level, such as gam_q0.1 or "
                    "gam-lo-90"
                )
        return named
    # ridge_p1 and ridge_p2 may be two models: quantiles lie on both sides of the median.
    sides: dict[str, set[bool]] = {}
    for model, level in named.values():
        if level != 0.5:
            sides.setdefault(model, set()).add(level > 0.5)
    sure = {model for model, both in sides.items() if len(both) == 2}
    sure |= {model for name, (model, _) in named.items() if "-lo-" in name or "-hi-" in name}
    return {name: parts for name, parts in named.items() if parts[0] in sure}


def _names_of_blend(
    by_model: Mapping[str, Mapping[float, str]], named: Mapping[str, tuple[str, float]]
) -> dict[str, float]:
    """Return the columns of the blend, which are named like the columns of the models.

    The median is named without a level, unless the columns of all models name it.
    """
    names: dict[float, str] = {}
    plain = False
    for model, columns in by_model.items():
        for level, name in columns.items():
            ending = name[len(model) :]
            plain = plain or ending in {"", "-median"}
            names.setdefault(level, BLEND + ending)
    order = [level for _, level in named.values() if level in names]
    if plain:
        names[0.5] = BLEND
        order.insert(0, 0.5)
    return {names[level]: level for level in order}
