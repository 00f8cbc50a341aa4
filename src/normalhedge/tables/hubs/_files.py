"""Read the files of a hub up to a date: the submissions of models, and the outcomes.

Outcomes are read from three formats: ``oracle-output`` (``oracle_value`` for each output type),
``time-series`` (``observation`` and perhaps ``as_of``), and older files with columns ``date`` and
``value``.
"""

from collections.abc import Sequence
from datetime import (
    date as Date,  # noqa: N812 -- a type
    timedelta,
)
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.tables.frames import floats, words
from normalhedge.tables.hubs._folder import END, HORIZON, TARGET, HubModel, Task

MODEL, KIND, ID, VALUE = "model_id", "output_type", "output_type_id", "value"
"""The columns of submissions beside the task ids; the first is the name of the folder."""

OBSERVED = ("oracle_value", "observation", "value")
"""The columns of outcomes."""

DAYS = (END, "date", "target_date", "week_end_date")
"""The columns of the dates that outcomes are of."""

Outcomes = dict[tuple[str, ...], Any]
"""The outcomes by the ids of the series and, last, the date: numbers, or classes as text."""


def read_submissions(
    models: Sequence[HubModel],
    tasks: Sequence[Task],
    until: Date,
    since: Date | None,
    notes: list[str],
) -> dict[str, Any]:
    """Return the forecasts of tasks up to a date, by target, as Arrow tables with ids as text.

    Files of later dates are not opened. A file that cannot be used is left out, with a note.
    """
    pa = extras.require("pyarrow")
    parts: dict[str, list[Any]] = {task.target: [] for task in tasks}
    for model in models:
        for date, path in sorted(model.files.items()):
            if date > until or (since is not None and date < since):
                continue
            try:
                table = _read_text_table(path)
                rows = {task.target: _rows(table, task, date) for task in tasks}
            except (ValueError, pa.ArrowException, OSError) as error:
                reason = str(error).splitlines()[0]
                notes.append(f"left out {model.name}/{path.name}: {reason}")
                continue
            for target, part in rows.items():
                who = pa.array([model.name] * part.num_rows, pa.string())
                parts[target].append(part.append_column(MODEL, who))
    return {
        task.target: _keep_allowed(pa.concat_tables(parts[task.target]), task, notes)
        for task in tasks
        if parts[task.target]
    }


def _keep_allowed(table: Any, task: Task, notes: list[str]) -> Any:
    """Return the rows whose task ids are among the ids of the hub."""
    pc = extras.require("pyarrow.compute")
    for name in (*task.series, HORIZON):
        allowed = task.allowed.get(name)
        if not allowed or name not in table.column_names:
            continue
        kept = pc.is_in(table[name], value_set=_texts(allowed))
        left = table.filter(pc.invert(kept))
        if left.num_rows:
            example = left[name][0].as_py()
            count = f"{left.num_rows:,} row{'s' * (left.num_rows > 1)} of {task.target}"
            notes.append(f"{count} left out: {name} {example} is not one of the hub's")
            table = table.filter(kept)
    return table


def _read_text_table(path: Path) -> Any:
    """Return a CSV or Parquet file as an Arrow table of texts: ``06`` stays ``06``."""
    pa = extras.require("pyarrow")
    if path.suffix == ".parquet":
        table = extras.require("pyarrow.parquet").read_table(path)
    else:
        csv = extras.require("pyarrow.csv")
        with csv.open_csv(path) as opened:
            names = opened.schema.names
        types = dict.fromkeys(names, pa.string())
        options = csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=True
        )
        table = csv.read_csv(path, convert_options=options)
    for k, column in enumerate(table.columns):
        table = table.set_column(k, table.column_names[k], words(column))
    return table


def _numbers(column: Any) -> np.ndarray:
    """Return a column of texts as numbers; NaN where it is empty."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    known = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    return floats(known.cast(pa.float64()))


def _rows(table: Any, task: Task, date: Date) -> Any:
    """Return the rows of a task in one file; refuse a file that is not as it should be."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    names = table.column_names
    needed = [c for c in (*task.columns, KIND, ID, VALUE) if c not in {END, TARGET}]
    missing = [c for c in needed if c not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]}")
    if TARGET in names:
        table = table.filter(pc.equal(table[TARGET], task.target))
    table = table.filter(pc.is_in(table[KIND], value_set=_texts(list(task.outputs))))
    if pc.any(pc.not_equal(table[task.date], date.isoformat())).as_py():
        raise ValueError(f"it has rows of another {task.date} than {date}")
    if END not in names:
        table = table.append_column(END, _texts(_ends(table, task, date)))
    columns = [*(c for c in task.columns if c not in {TARGET, END}), END, KIND, ID]
    cells = pc.binary_join_element_wise(*(table[c] for c in columns), "|")
    if pc.count_distinct(cells).as_py() < table.num_rows:
        raise ValueError(f"it has more than one value of {task.target} for the same task")
    return table.select(columns).append_column(VALUE, pa.array(_numbers(table[VALUE])))


def _ends(table: Any, task: Task, date: Date) -> list[str]:
    """Return the dates that forecasts are for: the steps ahead after the date they were made."""
    if HORIZON not in table.column_names:
        return [date.isoformat()] * table.num_rows
    steps = _numbers(table[HORIZON])
    return [(date + timedelta(days=task.days * int(step))).isoformat() for step in steps]


def _texts(values: Sequence[str]) -> Any:
    pa = extras.require("pyarrow")
    return pa.array(values, pa.string())


def read_outcomes(
    folder: Path, task: Task, tasks: Sequence[Task], kind: str, until: Date, released: Date
) -> tuple[Outcomes, str]:
    """Return the outcomes of a task up to a date, and the name of the file they were found in."""
    root = folder / "target-data"
    files = sorted(p for p in root.rglob("*") if p.suffix in {".csv", ".parquet"} and p.is_file())
    if not files:
        raise ValueError(f"{folder} has no target data: put a CSV or Parquet file into target-data")
    order = sorted(files, key=lambda p: (not p.stem.startswith("oracle"), "series" not in p.stem))
    for path in order:
        outcomes = _outcomes_in(path, task, tasks, kind, until, released)
        if outcomes:
            return outcomes, path.relative_to(folder).as_posix()
    return {}, ""


def _outcomes_in(
    path: Path, task: Task, tasks: Sequence[Task], kind: str, until: Date, released: Date
) -> Outcomes:
    """Return the outcomes of a task in one file; none if it does not have them."""
    table = _read_text_table(path)
    names = table.column_names
    day = next((name for name in DAYS if name in names), None)
    observed = next((name for name in OBSERVED if name in names), None)
    if day is None or observed is None or any(name not in names for name in task.series):
        return {}
    if TARGET not in names and not _is_of(path, task, tasks):
        return {}
    columns = {name: table[name].to_pylist() for name in {*names} & {TARGET, KIND, ID, "as_of"}}
    keys = list(zip(*(table[name].to_pylist() for name in (*task.series, day)), strict=True))
    kept = np.array([key[-1] <= until.isoformat() for key in keys], dtype=bool)
    if TARGET in names:
        kept &= np.array([target == task.target for target in columns[TARGET]], dtype=bool)
    if KIND in names:
        kept &= np.array([output == kind for output in columns[KIND]], dtype=bool)
    values: Sequence[Any] = table[observed].to_pylist()
    if kind == "pmf" and KIND in names:  # the class whose value is one
        happened = np.array([value in {"1", "1.0"} for value in values], dtype=bool)
        kept, values = kept & happened, columns[ID]
    elif kind != "pmf":
        values = _numbers(table[observed]).tolist()
    versions = columns.get("as_of", [""] * len(keys))
    kept &= np.array([version <= released.isoformat() for version in versions], dtype=bool)
    outcomes: Outcomes = {}
    for row in sorted(np.flatnonzero(kept).tolist(), key=lambda row: str(versions[row])):
        if values[row] not in {"", None} and values[row] == values[row]:
            outcomes[keys[row]] = values[row]
    return outcomes


def _is_of(path: Path, task: Task, tasks: Sequence[Task]) -> bool:
    """Tell whether a file that names no target has the outcomes of a task.

    It belongs to the only target with numbers or, of several, to the target whose words begin words
    in the name of the file: ``target-hospital-admissions.csv`` belongs to ``wk inc flu hosp``.
    """
    if not task.numeric:
        return False
    if sum(other.numeric for other in tasks) == 1:
        return True
    in_name = path.stem.lower().replace("_", "-").split("-")
    in_target = [word for word in task.target.lower().split() if len(word) >= 4]
    return any(text.startswith(word) for word in in_target for text in in_name)
