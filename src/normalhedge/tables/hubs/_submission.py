"""Read one submission to a hub: the rows of each target, as text but for their values."""

from collections.abc import Sequence
from datetime import (
    date as Date,  # noqa: N812 -- a type
    timedelta,
)
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.mixtures.state import SUM_TOLERANCE
from normalhedge.tables.frames import floats
from normalhedge.tables.hubs._cells import (
    as_date,
    as_step,
    convert,
    find_thousands,
    read_numbers,
    show,
)
from normalhedge.tables.hubs._samples import ID, KIND, VALUE, add_samples, cells_in
from normalhedge.tables.hubs._tasks import END, HORIZON, SAMPLE, TARGET, Task
from normalhedge.tables.hubs._text_tables import read_text_table
from normalhedge.tables.quantiles import DIGITS

FARTHEST = 36_500
"""The largest number of days that a forecast may be ahead."""


class Remark(NamedTuple):
    """A remark about the rows of a submission: how many, of which target, and why."""

    rows: int
    target: str
    reason: str  # the column, for all texts that say the same
    text: str


def read_submission(
    path: Path,
    tasks: Sequence[Task],
    targets: Sequence[str],
    date: Date,
    budget: int,
) -> tuple[dict[str, Any], list[Remark]]:
    """Return the rows of a file by target, and remarks about rows that are left out.

    ``targets`` are all targets of the hub. Raises a ValueError if the file cannot be used.
    """
    table = read_text_table(path, budget)
    remarks: list[Remark] = []
    if TARGET in table.column_names:
        rows = table.num_rows
        table = _keep(table, "all targets", TARGET, targets, remarks)
        if rows and not table.num_rows:
            raise ValueError(f"it has no rows of a target of the hub: {remarks[0].text}")
    if not table.num_rows:
        raise ValueError("it has no rows")
    return {task.target: _rows(table, task, date, remarks) for task in tasks}, remarks


def _rows(table: Any, task: Task, date: Date, remarks: list[Remark]) -> Any:
    """Return the rows of a task in one file; refuse a file that is not as it should be."""
    pc = extras.require("pyarrow.compute")
    names = table.column_names
    needed = [c for c in (*task.columns, KIND, ID, VALUE) if c not in {END, TARGET}]
    missing = [c for c in needed if c not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]}, but {', '.join(names)[:100]}")
    if TARGET in names:
        table = table.filter(pc.equal(table[TARGET], task.target))
    kinds = [*task.outputs, *[SAMPLE] * task.samples]
    table = _keep(table, task.target, KIND, kinds, remarks)
    table = _with_dates(table, task, date)
    for name in (*task.series, HORIZON):
        if task.allowed.get(name) and name in names:
            table = _keep(table, task.target, name, task.allowed[name], remarks)
    table = _with_levels(_replace(table, ID, _ids(table, task)), task, remarks)
    table = _refuse_repeated(table, task)
    return add_samples(
        _with_whole_classes(_with_numbers(table, task, remarks), task, remarks), task
    )


def _keep(
    table: Any, target: str, name: str, accepted: Sequence[str], remarks: list[Remark]
) -> Any:
    """Return the rows whose id is among the ids of the hub."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    kept = pc.is_in(table[name], value_set=pa.array(list(accepted), pa.string()))
    left = table[name].filter(pc.invert(kept))
    if not len(left):
        return table
    text = f"{name} {show(left[0].as_py())} is not one of the hub's"
    remarks.append(Remark(len(left), target, name, text))
    return table.filter(kept)


def _replace(table: Any, name: str, column: Any) -> Any:
    """Return a table with another column in the place of one, or after the others."""
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def _with_dates(table: Any, task: Task, date: Date) -> Any:
    """Return rows with dates, the date that they are for and the steps ahead in one spelling."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    table = _replace(table, task.date, convert(table[task.date], as_date(task.date)))
    other = table[task.date].filter(pc.not_equal(table[task.date], date.isoformat()))
    if len(other):
        cell = show(other[0].as_py())
        raise ValueError(f"it has rows of another {task.date} than {date}: {cell}")
    if HORIZON in table.column_names:
        table = _replace(table, HORIZON, convert(table[HORIZON], as_step))
    if END in table.column_names:
        return _replace(table, END, convert(table[END], as_date(END)))
    if HORIZON not in table.column_names:
        return _replace(table, END, pa.array([date.isoformat()] * table.num_rows, pa.string()))

    def end(step: str) -> str:
        days = float(read_numbers(pa.chunked_array([[step]]), HORIZON)[0]) * task.days
        if abs(days) > FARTHEST:
            raise ValueError(f"{HORIZON} {show(step)} is more than {FARTHEST:,} days ahead")
        return "" if np.isnan(days) else (date + timedelta(days=int(days))).isoformat()

    return _replace(table, END, convert(table[HORIZON], end))


def _ids(table: Any, task: Task) -> Any:
    """Return the ids of outputs as the hub writes them: '0.5' for '.5' and '0.50'."""
    pc = extras.require("pyarrow.compute")
    levels = task.outputs["quantile"].ids if "quantile" in task.outputs else []
    written = {level_in(text): text for text in levels}

    def write(cell: str) -> str:
        kind, _, text = cell.partition(" ")
        if kind in {"mean", "median"}:
            return ""
        if kind != "quantile":
            return text
        level = level_in(text)
        if not 0.0 < level < 1.0:
            raise ValueError(f"{ID} must be a quantile level between 0 and 1, it is {show(text)}")
        return written.get(level, f"{level:.12g}")

    return convert(pc.binary_join_element_wise(table[KIND], table[ID], " "), write)


def level_in(text: str) -> float:
    """Return the quantile level in a text; NaN if there is none."""
    try:
        return round(float(text), DIGITS)
    except ValueError:
        return np.nan


def _with_levels(table: Any, task: Task, remarks: list[Remark]) -> Any:
    """Return rows without quantiles at levels that are not the hub's."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    if "quantile" not in task.outputs:
        return table
    known = pc.is_in(table[ID], value_set=pa.array(task.outputs["quantile"].ids))
    kept = pc.or_(pc.not_equal(table[KIND], "quantile"), known)
    left = table[ID].filter(pc.invert(kept))
    if not len(left):
        return table
    text = f"level {left[0].as_py()} is not one of the hub's"
    remarks.append(Remark(len(left), task.target, ID, text))
    return table.filter(kept)


def _refuse_repeated(table: Any, task: Task) -> Any:
    """Return the columns of a task, each of whose rows is about something else."""
    columns = [*(c for c in task.columns if c not in {TARGET, END}), END, KIND, ID]
    codes, first = cells_in(table, columns)
    if len(first) < table.num_rows:
        row = int(np.flatnonzero(np.bincount(codes)[codes] > 1)[0])
        cells = ", ".join(table[c][row].as_py()[:40] for c in columns if table[c][row].as_py())
        raise ValueError(f"it has more than one value of {task.target} for the same task: {cells}")
    return table.select([*columns, VALUE])


def _with_numbers(table: Any, task: Task, remarks: list[Remark]) -> Any:
    """Return rows with their values as numbers, without empty ones."""
    pa = extras.require("pyarrow")
    values = read_numbers(table[VALUE], VALUE)
    marked = find_thousands(table[VALUE])
    if marked:
        text = f"commas are read as marks of thousands, as in {show(marked)}"
        remarks.append(Remark(0, task.target, "thousands", text))
    table = _replace(table, VALUE, pa.array(values))
    empty = np.isnan(values)
    if not empty.any():
        return table
    remarks.append(Remark(int(empty.sum()), task.target, VALUE, f"{VALUE} is empty"))
    return table.filter(pa.array(~empty))


def _with_whole_classes(table: Any, task: Task, remarks: list[Remark]) -> Any:
    """Return rows without class probabilities that are negative or do not sum to one."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    rows = np.flatnonzero(pc.equal(table[KIND], "pmf").to_numpy())
    if not len(rows):
        return table
    classes = table.take(pa.array(rows))
    columns = [c for c in classes.column_names if c not in {ID, VALUE}]
    codes, _ = cells_in(classes, columns)
    shares = floats(classes[VALUE])
    places = {text: k for k, text in enumerate(task.outputs["pmf"].ids)}
    known = np.array([text in places for text in classes[ID].to_pylist()])
    sums = np.bincount(codes, np.where(known, shares, 0.0))
    least = np.zeros(len(sums))
    np.minimum.at(least, codes, shares)
    bad = ((np.abs(sums - 1.0) > SUM_TOLERANCE) | (least < -1e-9))[codes]
    if not bad.any():
        return table
    example = sums[codes[int(bad.argmax())]]
    text = f"probabilities do not sum to one, or are negative; a sum is {example:.6g}"
    remarks.append(Remark(int(bad.sum()), task.target, "pmf", text))
    kept = np.ones(table.num_rows, dtype=bool)
    kept[rows[bad]] = False
    return table.filter(pa.array(kept))
