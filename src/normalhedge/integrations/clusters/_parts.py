"""Blend a table in parts, so that every row gets the number that it gets in the whole table.

Which rows belong together? With weights of its own, a series is a game by itself: no number of it
depends on the rows of another series, except through the few facts of `WholeTable`. Then a part is
any set of whole series. With weights that series share, all of them belong together; a column
``group`` cuts the table into tables of their own, and a part is any set of whole groups.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.threads import on_one_core
from normalhedge.integrations.clusters._summary import NOTHING, PartSums, add_sums, sum_blend
from normalhedge.mixtures.rules import Automatic
from normalhedge.tables import Blend, blend as blend_table
from normalhedge.tables.frames import (
    DATE_PARTS,
    Columns,
    WholeTable,
    as_tuple,
    is_text,
    named_items,
    sortable,
    to_arrow,
)
from normalhedge.tables.quantiles import read_levels

ROW, KEY = "__normalhedge_row__", "__normalhedge_key__"
"""Columns of the place of a row in the whole table, and of the key by which parts are made."""

SAMPLE = 100
"""The number of rows by which the roles of columns are guessed."""

REFUSED = {
    "mixture": "a cluster keeps no mixture between tables: blend the whole table again, or use a "
    "stream",
    "progress": "the dashboard of the cluster shows the progress",
    "whole": "the cluster finds out about the whole table by itself",
}
"""Arguments of `normalhedge.blend` that have no meaning on a cluster, and why."""


@dataclass(frozen=True)
class TablePlan:
    """How the parts of a table are blended."""

    arguments: Mapping[str, Any]  # the arguments of `normalhedge.blend`, the same for all parts
    columns: Columns  # the roles of the columns
    group: tuple[str, ...]  # the columns that name a group; empty if each series is one
    needed: list[str]  # the columns of the table that are needed
    empty: Any  # A result without rows: its columns and their types
    level: str = ""  # the column of levels of a long table of quantiles; empty without one
    whole: WholeTable = field(default_factory=WholeTable)  # what the parts know of the whole table

    @property
    def together(self) -> tuple[str, ...]:
        """The columns whose values say which rows belong together."""
        return self.group or tuple(self.columns.by)

    @property
    def facts(self) -> list[str]:
        """The columns from which `read_facts` is known; empty if the parts need to know nothing."""
        columns, names = self.columns, []
        if self.group:  # a group knows all of itself; but which columns has the result?
            names += [columns.model] if self.arguments.get("weights") else []
        else:
            names += [columns.cutoff, columns.time] if columns.cutoff else []
            names += [columns.time] if self.arguments.get("season") else []
            names += [columns.model, self.level]
        return list(dict.fromkeys(name for name in names if name))


def plan_table(sample: Any, group: str | Sequence[str], arguments: Mapping[str, Any]) -> TablePlan:
    """Return the plan for a table; refuse settings under which its parts do not stand alone."""
    for name, why in REFUSED.items():
        if name in arguments:
            raise TypeError(f"{name} cannot be given here: {why}")
    groups = as_tuple(group)
    if not len(sample):
        raise ValueError("the table has no rows")
    _refuse_names(groups, list(sample.columns))
    by = as_tuple(arguments.get("by", ()))
    arguments = {**arguments, "by": by}
    first = sample
    if groups:
        first = sample[(sample[list(groups)] == sample[list(groups)].iloc[0]).all(axis=1)]
        first = first if len(first) else sample[:1]  # a group may have no name
    blended = blend_table(_without(first, groups, by), **arguments)
    columns = blended.columns
    if columns.time is not None and columns.time not in sample.columns:
        raise ValueError("the time must be a column, and not the index: call reset_index() first")
    if not groups:
        _refuse_shared(blended, arguments)
        arguments = {**arguments, "pooled": False}
        _refuse_text(sample, columns)
    level = blended.quantiles.level if blended.quantiles is not None else ""
    needed = list(sample.columns)
    if blended.quantiles is None and blended.labels is None:
        roles = {
            "target": columns.target, "by": tuple(columns.by), "time": columns.time,
            "cutoff": columns.cutoff, "model": columns.model, "forecast": columns.forecast,
            "experts": None if columns.experts is None else tuple(columns.experts),
        }  # fmt: skip
        arguments = arguments | roles
        # A column with the name of a part of the date stands in for that part.
        contexts = (*DATE_PARTS, *(columns.context or ()))
        several = (*(columns.experts or ()), *columns.by, *columns.classes, *groups, *contexts)
        single = (columns.target, columns.time, columns.cutoff, columns.model, columns.forecast)
        needed = [name for name in sample.columns if name in {*single, *several}]
    empty = _with_groups(blended.frame[:0], first[:0], groups, by)
    return TablePlan(arguments, columns, groups, needed, empty, level)


def _refuse_names(groups: Sequence[str], columns: Sequence[str]) -> None:
    for name in (ROW, KEY):
        if name in columns:
            raise ValueError(f"column {name} has a name that is needed here: rename it")
    for name in groups:
        if name not in columns:
            raise ValueError(f"group must name a column, there is no column {name}")


def _refuse_shared(blended: Blend, arguments: Mapping[str, Any]) -> None:
    """Refuse settings with which series share weights: no part of them stands alone."""
    ways = (
        "pass pooled=False for weights of each series by itself, or name with group the column "
        "whose series are blended together"
    )
    if not blended.columns.by:
        raise ValueError("by must name the series: one series cannot be divided among workers")
    if arguments.get("pooled"):
        raise ValueError(f"pooled=True makes one game of all series: {ways}")
    if arguments.get("pooled") is None and isinstance(blended.mixture.settings.hedger, Automatic):
        raise ValueError(f"auto shares weights between series by default: {ways}")


def _refuse_text(sample: Any, columns: Columns) -> None:
    """Refuse text where numbers or times are needed: what it means, the whole table decides."""
    numbers = (columns.target, columns.forecast, *(columns.experts or ()), *columns.classes)
    table, _ = to_arrow(sample)
    for name in filter(None, (*numbers, columns.time, columns.cutoff)):
        if name in table.column_names and is_text(table.schema.field(name).type):
            what = "times" if name in {columns.time, columns.cutoff} else "numbers"
            raise TypeError(f"column {name} holds text: turn it into {what} first")


def read_facts(plan: TablePlan, part: Any) -> WholeTable:
    """Return what a part of a table says about the whole."""
    if not len(part):
        return WholeTable()
    columns, (table, _) = plan.columns, to_arrow(part)
    times = cutoffs = targets = models = levels = None
    if columns.forecast_time in part.columns and plan.arguments.get("season"):
        times = np.unique(sortable(table[columns.forecast_time]).to_numpy())
    if columns.cutoff in part.columns:
        pairs = table.group_by([columns.cutoff, columns.time]).aggregate([])
        cutoffs = sortable(pairs[columns.cutoff]).to_numpy()
        targets = sortable(pairs[columns.time]).to_numpy()
    if columns.model is not None:
        models = tuple(named_items(table, [columns.model])[0])
    if plan.level in part.columns:
        levels = tuple(np.unique(read_levels(table[plan.level], plan.level)).tolist())
    return WholeTable(times, cutoffs, targets, models, levels)


def add_facts(plan: TablePlan, sample: Any, parts: Sequence[WholeTable]) -> TablePlan:
    """Return the plan with what the parts of the table, in their order, say about the whole."""

    def join(read: Callable[[WholeTable], Any]) -> Any:
        found = [read(part) for part in parts]
        some = [one for one in found if one is not None]
        return np.concatenate(some) if some else None

    times = join(lambda part: part.times)
    models = dict.fromkeys(name for part in parts for name in part.models or ())
    levels = {level for part in parts for level in part.levels or ()}
    if plan.group:
        more = {f"weight_{name}": 0.0 for name in models}
        kept = plan.empty.columns
        return replace(
            plan, empty=plan.empty.assign(**{n: v for n, v in more.items() if n not in kept})
        )
    whole = WholeTable(
        None if times is None else np.unique(times),
        join(lambda part: part.cutoffs),
        join(lambda part: part.targets),
        tuple(models) or None,
        tuple(sorted(levels)) or None,
    )
    empty = blend_table(sample[plan.needed], whole=whole, **plan.arguments).frame[:0]
    return replace(plan, whole=whole, empty=empty)


def hash_keys(plan: TablePlan, part: Any) -> np.ndarray:
    """Return a number for each row of a part, equal for rows that belong together.

    Integers are their own keys; other names, and names of several columns, become text.
    """
    if not len(part):
        return np.zeros(0, dtype=np.int64)
    first, *others = plan.together
    if not others and isinstance(part[first].dtype, np.dtype) and part[first].dtype.kind in "iu":
        return np.asarray(part[first].to_numpy().astype(np.int64))
    hashing = extras.require("pandas").util.hash_array
    names, codes = named_items(to_arrow(part[list(plan.together)])[0], plan.together)
    keys: np.ndarray = hashing(np.array(names, dtype=object), categorize=False).astype(np.int64)
    return np.asarray(keys[codes])


def blend_part(plan: TablePlan, part: Any) -> tuple[Any, PartSums]:
    """Return the blend of rows that belong together, and its sums."""
    if not len(part):
        return plan.empty, NOTHING
    with on_one_core():
        if ROW in part.columns:
            part = part.sort_values(ROW)
        part = part[plan.needed]
        if not plan.group:
            blended = blend_table(part, whole=plan.whole, **plan.arguments)
            return blended.frame, sum_blend(blended)
        frames, sums = [], []
        for _, rows in part.groupby(list(plan.group), sort=False, dropna=False):
            by = plan.arguments["by"]
            blended = blend_table(
                _without(rows, plan.group, by), whole=plan.whole, **plan.arguments
            )
            frames.append(_with_groups(blended.frame, rows, plan.group, by))
            sums.append(sum_blend(blended))
        pandas = extras.require("pandas")
        return pandas.concat(frames).reindex(columns=plan.empty.columns), add_sums(sums)


def _without(frame: Any, groups: Sequence[str], by: Sequence[str]) -> Any:
    """Return a table without the columns that name its group."""
    return frame.drop(columns=[name for name in groups if name not in by])


def _with_groups(frame: Any, given: Any, groups: Sequence[str], by: Sequence[str]) -> Any:
    """Return a result with the columns that name its group in front."""
    for place, name in enumerate(name for name in groups if name not in by):
        values = given[name].iloc[:1].repeat(len(frame)).array if len(given) else given[name].array
        frame.insert(place, name, values)
    return frame
