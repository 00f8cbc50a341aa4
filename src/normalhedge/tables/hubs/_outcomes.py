"""Read the outcomes of a hub: its ``target-data``.

Outcomes are read from three formats: ``oracle-output`` (``oracle_value`` for each output type),
``time-series`` (``observation`` and perhaps ``as_of``), and other files with a column of dates and
a column of values, which are found by their names or named by the user.
"""

from collections.abc import Mapping, Sequence
from datetime import date as Date  # noqa: N812 -- a type
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import extras, specs
from normalhedge.boundary.terminal import counted
from normalhedge.tables.hubs._cells import as_date, convert, read_numbers, show
from normalhedge.tables.hubs._samples import ID, KIND
from normalhedge.tables.hubs._tasks import END, TARGET, Task
from normalhedge.tables.hubs._text_tables import LARGEST_FILE, FileError, read_text_table

OBSERVATION, AS_OF = "observation", "as_of"
"""The columns of outcomes, and of the dates on which they were released."""

VALUES = (OBSERVATION, "oracle_value", "value", "truth", "truth_value", "target_value", "outcome")
"""The usual names of the column of outcomes."""

DAYS = (END, "date", "truth_date", "target_date", "week_end_date", "week_ending", "time_value")
"""The usual names of the column of the dates that outcomes are of."""

NUMERIC = ("quantile", "mean", "median", "sample")
"""The output types whose ``oracle_value`` is the observed number."""

Outcomes = dict[tuple[str, ...], Any]
"""The outcomes by the ids of the series and, last, the date: numbers, or classes as text."""


class TargetData:
    """The outcomes of a hub.

    Parameters
    ----------
    folder
        The folder of the hub.
    columns
        The names of columns in the files, by the names here: ``target_end_date``, ``observation``,
        ``target``, ``as_of``, ``output_type``, ``output_type_id`` or the id of a task.
    budget
        The largest file, in bytes after decompression.
    """

    def __init__(
        self, folder: Path, columns: Mapping[str, str] | None = None, budget: int = LARGEST_FILE
    ) -> None:
        self.folder, self.columns, self.budget = folder, dict(columns or {}), budget
        files = (folder / "target-data").rglob("*")
        self.files = sorted(
            (path for path in files if path.name.endswith((".csv", ".csv.gz", ".parquet"))),
            key=lambda path: (not path.stem.startswith("oracle"), "series" not in path.stem, path),
        )
        self._tables: dict[Path, Any] = {}
        if not any(path.is_file() for path in self.files):
            raise ValueError(
                f"{folder} has no target data: put a CSV or Parquet file into target-data"
            )

    def check_columns(self, tasks: Sequence[Task]) -> None:
        """Refuse names of columns that no file or no task has."""
        known = [END, OBSERVATION, TARGET, AS_OF, KIND, ID]
        known = list(dict.fromkeys([*known, *(name for task in tasks for name in task.series)]))
        for name, column in self.columns.items():
            if name not in known:
                raise specs.nearest("name of a column", name, known)
            names = [c for path in self.files for c in self._names(path)]
            if column not in names:
                raise specs.nearest("column of target-data", column, list(dict.fromkeys(names)))

    def _names(self, path: Path) -> list[str]:
        try:
            return list(self._table(path).column_names)
        except FileError:
            return []

    def _table(self, path: Path) -> Any:
        """Return a file with the names of its columns as they are here; read it once."""
        if path not in self._tables:
            self._tables[path] = read_text_table(path, self.budget)
        return self._tables[path]

    def outcomes(
        self, task: Task, tasks: Sequence[Task], kind: str, until: Date, released: Date
    ) -> tuple[Outcomes, str]:
        """Return the outcomes of a task up to a date, and the file that they were found in.

        Without any, the text says for each file why.
        """
        reasons = []
        for path in self.files:
            name = path.relative_to(self.folder).as_posix()
            try:
                if TARGET not in self._columns(path) and not _is_of(path, task, tasks):
                    raise FileError(f"it has no column {TARGET}, so its target is unknown")
                outcomes, remark = self._outcomes_in(path, task, kind, until, released)
            except FileError as error:
                reasons.append(f"{name}: {error}")
                continue
            if outcomes:
                return outcomes, name + remark
            reasons.append(f"{name}: it has no rows of {task.target} up to {until}{remark}")
        return {}, "; ".join(reasons)

    def _columns(self, path: Path) -> dict[str, str]:
        """Return the columns of a file by their names here."""
        names = self._table(path).column_names
        columns = {name: name for name in names}
        day = next((name for name in DAYS if name in names), None) or self._only_dates(path)
        value = next((name for name in VALUES if name in names), None)
        columns |= {own: name for own, name in ((END, day), (OBSERVATION, value)) if name}
        columns |= {own: name for own, name in self.columns.items() if name in names}
        return columns

    def _only_dates(self, path: Path) -> str | None:
        """Return the only column that holds dates and nothing else; None if there are several."""
        table, dates = self._table(path), []
        for name in table.column_names:
            try:
                cells = convert(table[name], as_date(name))
            except ValueError:
                continue
            if name != AS_OF and any(cells.to_pylist()):
                dates.append(name)
        return dates[0] if len(dates) == 1 else None

    def _outcomes_in(
        self, path: Path, task: Task, kind: str, until: Date, released: Date
    ) -> tuple[Outcomes, str]:
        """Return the outcomes of a task in one file, and a remark on cells that are left out."""
        table, columns = self._table(path), self._columns(path)
        for name in (END, OBSERVATION, *task.series):
            if name not in columns:
                what = {END: "column of dates", OBSERVATION: "column of values"}
                held = ", ".join(table.column_names)[:100]
                raise FileError(
                    f"it has no {what.get(name, f'column {name}')}, but {held}: name the column "
                    f"(columns, --column {name}=...)"
                )
        cells = {name: table[columns[name]] for name in columns}
        wrong: list[str] = []
        days = _lenient(cells[END], as_date(columns[END]), wrong)
        kept = np.array([day != "" and day <= until.isoformat() for day in days], dtype=bool)
        if TARGET in cells:
            kept &= _equal(cells[TARGET], [task.target])
        numeric = kind != "pmf"
        if KIND in cells:
            kept &= _equal(cells[KIND], NUMERIC if numeric else [kind])
        versions = [""] * len(days)
        if AS_OF in cells:
            versions = _lenient(cells[AS_OF], as_date(columns[AS_OF]), wrong)
            kept &= np.array([day <= released.isoformat() for day in versions], dtype=bool)
        values = cells[OBSERVATION].to_pylist()
        if numeric:
            written = _lenient(cells[OBSERVATION], _as_number(columns[OBSERVATION]), wrong)
            values = [float(text) if text else None for text in written]
        elif KIND in cells and ID in cells:  # the class whose value is one
            kept &= _equal(cells[OBSERVATION], ["1", "1.0", "true", "True", "TRUE"])
            values = cells[ID].to_pylist()
        keys = zip(*(cells[name].to_pylist() for name in task.series), days, strict=True)
        by_row = list(keys)
        outcomes: Outcomes = {}
        for row in sorted(np.flatnonzero(kept).tolist(), key=lambda row: versions[row]):
            if values[row] not in {"", None}:
                outcomes[by_row[row]] = values[row]
        return outcomes, f" ({wrong[0]}; such rows are left out)" if wrong else ""


def _as_number(name: str) -> Any:
    pa = extras.require("pyarrow")

    def read(text: str) -> str:
        return repr(float(read_numbers(pa.chunked_array([[text]]), name)[0])) if text else ""

    return read


def _lenient(column: Any, read: Any, wrong: list[str]) -> list[str]:
    """Return the cells that a function reads; '' for others, of which the first is remarked."""

    def attempt(text: str) -> str:
        try:
            return str(read(text))
        except ValueError as error:
            wrong.append(str(error))
            return ""

    cells: list[str] = convert(column, attempt).to_pylist()
    return cells


def _equal(column: Any, accepted: Sequence[str]) -> np.ndarray:
    """Tell which cells are among the accepted ones."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    equal: np.ndarray = pc.is_in(column, value_set=pa.array(list(accepted))).to_numpy()
    return equal


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


def unmatched(outcomes: Outcomes, ends: Sequence[str], about: str) -> str:
    """Return the sentence for outcomes of which no forecast is."""
    first = max(key[-1] for key in outcomes)
    known = max((end for end in ends if end), default="no date")
    return (
        f"none of the {counted(len(outcomes), 'outcome')} of {about} belongs to a forecast: the "
        f"last outcome is of {show(first)}, the last forecast for {show(known)}"
    )
