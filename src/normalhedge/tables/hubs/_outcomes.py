"""Read the outcomes of a hub: its target data, as far as they are known on a date.

Three formats are read: ``oracle-output`` (``oracle_value`` for each output type), ``time-series``
(``observation`` and perhaps ``as_of``), and older files with columns ``date`` and ``value``.
"""

from collections.abc import Sequence
from datetime import date as Date  # noqa: N812 -- a type
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.tables.hubs._submissions import ID, KIND, numbers, read_text_table
from normalhedge.tables.hubs._tasks import END, TARGET, Task

OBSERVED = ("oracle_value", "observation", "value")
"""The columns of outcomes."""

DAYS = (END, "date", "target_date", "week_end_date")
"""The columns of the dates that outcomes are of."""

Outcomes = dict[tuple[str, ...], Any]
"""The outcomes by the ids of the series and, last, the date: numbers, or classes as text."""


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
        found = _outcomes_in(path, task, tasks, kind, until, released)
        if found:
            return found, path.relative_to(folder).as_posix()
    return {}, ""


def _outcomes_in(
    path: Path, task: Task, tasks: Sequence[Task], kind: str, until: Date, released: Date
) -> Outcomes:
    """Return the outcomes of a task in one file; none if it does not have them."""
    table = read_text_table(path)
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
        kept &= np.array([own == kind for own in columns[KIND]], dtype=bool)
    values: Sequence[Any] = table[observed].to_pylist()
    if kind == "pmf" and KIND in names:  # the class whose value is one
        one = np.array([value in {"1", "1.0"} for value in values], dtype=bool)
        kept, values = kept & one, columns[ID]
    elif kind != "pmf":
        values = numbers(table[observed]).tolist()
    versions = columns.get("as_of", [""] * len(keys))
    kept &= np.array([version <= released.isoformat() for version in versions], dtype=bool)
    found: Outcomes = {}
    for row in sorted(np.flatnonzero(kept).tolist(), key=lambda row: str(versions[row])):
        if values[row] not in {"", None} and values[row] == values[row]:
            found[keys[row]] = values[row]
    return found


def _is_of(path: Path, task: Task, tasks: Sequence[Task]) -> bool:
    """Tell whether a file that names no target has the outcomes of a task.

    It has those of the only target with numbers or, of several, of the one whose words begin like
    those in the name of the file: ``target-hospital-admissions.csv`` is of ``wk inc flu hosp``.
    """
    if not task.numeric:
        return False
    if sum(one.numeric for one in tasks) == 1:
        return True
    named = path.stem.lower().replace("_", "-").split("-")
    asked = [word for word in task.target.lower().split() if len(word) >= 4]
    return any(one.startswith(word) for word in asked for one in named)
