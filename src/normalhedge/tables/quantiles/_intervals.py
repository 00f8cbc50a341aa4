"""Read tables with columns for each model: its forecast, and the ends of its intervals.

Libraries of Nixtla write such tables: ``Theta``, ``Theta-lo-90``, ``Theta-hi-90``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.tables.frames import Columns, guess, may_hold_numbers
from normalhedge.tables.quantiles._levels import check_levels, model_and_level
from normalhedge.tables.quantiles._table import BLEND, QuantileTable, numbers_of, replaced


def read_intervals(
    table: Any, given: Columns, quantiles: Sequence[str] | None
) -> QuantileTable | None:
    """Read a table with columns ``gam``, ``gam-lo-90``, ... for each model; None without them.

    A model without intervals has a forecast of the median alone.
    """
    pa = extras.require("pyarrow")
    named = _columns_of_models(table, given, quantiles)
    if not named:
        return None
    models = list(dict.fromkeys(model for model, _ in named.values()))
    base = table.drop_columns(list(named))
    for model in models:
        if model not in base.column_names:
            base = base.append_column(model, pa.array(np.full(table.num_rows, np.nan)))
    experts = None
    if given.experts is not None:
        experts = tuple(dict.fromkeys(named.get(name, (name, 0.0))[0] for name in given.experts))
    columns = guess(base, replace(given, experts=experts))
    own = _columns_by_level([str(name) for name in columns.experts or ()], named, table)
    levels = check_levels(sorted({level for one in own.values() for level in one}))
    rows = table.num_rows
    numbers = np.full((len(own) * rows, len(levels)), np.nan)
    for i, (model, one) in enumerate(own.items()):
        here = slice(i * rows, (i + 1) * rows)
        for level, name in one.items():
            numbers[here, levels.index(level)] = numbers_of(table, name)
        base = replaced(base, model, np.arange(here.start, here.stop, dtype=np.float64))
    shown = ", ".join(f"{level:g}" for level in levels)
    columns.notes.insert(0, f"columns of models and levels: quantiles at {shown}")
    return QuantileTable(
        base, columns, levels, numbers, "intervals", names=_names_of_blend(own, named)
    )


def _columns_by_level(
    experts: Sequence[str], named: Mapping[str, tuple[str, float]], table: Any
) -> dict[str, dict[float, str]]:
    """Return the columns of each model by level; its column without a level is its median."""
    own = {name: {0.5: name} for name in experts}
    for name, (model, level) in named.items():
        if model not in own:
            continue
        other = own[model].get(level, model)
        if other != model:
            raise ValueError(f"columns {other} and {name} have the same level, {level:g}")
        own[model][level] = name
    for model, columns in own.items():
        if columns[0.5] == model and model not in table.column_names:
            del columns[0.5]
    return own


def _columns_of_models(
    table: Any, given: Columns, quantiles: Sequence[str] | None
) -> dict[str, tuple[str, float]]:
    """Return the columns whose names say a model and a level."""
    taken = {given.target, given.time, given.cutoff, *given.by}
    free = [name for name in table.column_names if name not in taken]
    if quantiles is not None:
        found = {name: model_and_level(name) for name in quantiles}
        for name, parts in found.items():
            if parts is None:
                raise ValueError(
                    f"column {name} must say its model and its level, such as gam_q0.1 or gam-lo-90"
                )
        return {name: parts for name, parts in found.items() if parts is not None}
    numbers = [name for name in free if may_hold_numbers(table.schema.field(name).type)]
    parts_of = {name: model_and_level(name) for name in numbers}
    named = {name: parts for name, parts in parts_of.items() if parts is not None}
    # ridge_p1 and ridge_p2 may be two models: quantiles lie on both sides of the median.
    sides: dict[str, set[bool]] = {}
    for model, level in named.values():
        if level != 0.5:
            sides.setdefault(model, set()).add(level > 0.5)
    sure = {model for model, both in sides.items() if len(both) == 2}
    sure |= {model for name, (model, _) in named.items() if "-lo-" in name or "-hi-" in name}
    return {name: parts for name, parts in named.items() if parts[0] in sure}


def _names_of_blend(
    own: Mapping[str, Mapping[float, str]], named: Mapping[str, tuple[str, float]]
) -> dict[str, float]:
    """Return the columns of the blend: named as those of the models, with its own name instead.

    The median is named without a level, unless the columns of all models name it.
    """
    found: dict[float, str] = {}
    plain = False
    for model, columns in own.items():
        for level, name in columns.items():
            ending = name[len(model) :]
            plain = plain or ending in {"", "-median"}
            found.setdefault(level, BLEND + ending)
    order = [level for _, level in named.values() if level in found]
    if plain:
        found[0.5] = BLEND
        order.insert(0, 0.5)
    return {found[level]: level for level in order}
