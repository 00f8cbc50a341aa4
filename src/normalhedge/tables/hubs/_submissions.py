"""Read the submissions of models up to a date; files that cannot be used are left out."""

from collections.abc import Sequence
from datetime import date as Date  # noqa: N812 -- a type
from typing import Any

from normalhedge.boundary import extras
from normalhedge.boundary.progress import SILENT, Progress
from normalhedge.boundary.terminal import counted
from normalhedge.tables.hubs._folder import HubModel
from normalhedge.tables.hubs._submission import Remark, read_submission
from normalhedge.tables.hubs._tasks import END, HORIZON, Task
from normalhedge.tables.hubs._text_tables import LARGEST_FILE, reason_of

MODEL = "model_id"
"""The column of the name of the folder of a model."""

Remarks = dict[tuple[str, str, str], list[tuple[str, Remark]]]
"""Remarks with the names of their files, by model, target and reason."""


def read_submissions(
    models: Sequence[HubModel],
    tasks: Sequence[Task],
    until: Date,
    since: Date | None,
    notes: list[str],
    *,
    targets: Sequence[str] | None = None,
    budget: int = LARGEST_FILE,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Return the forecasts of tasks up to a date, by target, as Arrow tables with ids as text.

    Files of later dates are not opened. Files and rows that cannot be used are left out, with a
    note. ``targets`` are all targets of the hub, by default the targets of the tasks.
    """
    pa = extras.require("pyarrow")
    parts: dict[str, list[Any]] = {task.target: [] for task in tasks}
    targets = list(parts) if targets is None else targets
    remarks: Remarks = {}
    progress.total(len(models))
    for model in models:
        progress.done(1.0, "reading")
        for date, path in sorted(model.files.items()):
            if date > until or (since is not None and date < since):
                continue
            try:
                rows, about = read_submission(path, tasks, targets, date, budget)
            except (ValueError, OverflowError, pa.ArrowException) as error:
                notes.append(f"left out {model.name}/{path.name}: {reason_of(error)}")
                continue
            for remark in about:
                key = (model.name, remark.target, remark.reason)
                remarks.setdefault(key, []).append((path.name, remark))
            for target, part in rows.items():
                who = pa.array([model.name] * part.num_rows, pa.string())
                parts[target].append(part.append_column(MODEL, who))
    notes += [_sentence(model, files) for (model, *_), files in remarks.items()]
    return {
        task.target: _with_usual_ends(pa.concat_tables(parts[task.target]), task, notes)
        for task in tasks
        if parts[task.target]
    }


def _sentence(model: str, files: list[tuple[str, Remark]]) -> str:
    """Return the sentence for all remarks of one kind about the files of a model."""
    name, remark = files[0]
    left = f"{counted(remark.rows, 'row')} of {remark.target} left out: " if remark.rows else ""
    if len(files) == 1:
        return f"{model}/{name}: {left}{remark.text}"
    rows = sum(other.rows for _, other in files[1:])
    more = counted(len(files) - 1, "later file")
    also = f"{counted(rows, 'row')} of {more}, too" if rows else f"so in {more}"
    return f"{model}/{name}: {left}{remark.text}; {also}"


def _with_usual_ends(table: Any, task: Task, notes: list[str]) -> Any:
    """Return the rows whose steps ahead lead to the same date as in most submissions.

    Without that, one team that counts otherwise would add tasks that the hub does not have.
    """
    pa = extras.require("pyarrow")
    if HORIZON not in table.column_names or not table.num_rows:
        return table
    models = table.group_by([task.date, HORIZON, END]).aggregate([(MODEL, "count_distinct")])
    votes: dict[tuple[str, str], dict[str, int]] = {}
    for row in models.to_pylist():
        ends = votes.setdefault((row[task.date], row[HORIZON]), {})
        ends[row[END]] = row[f"{MODEL}_count_distinct"]
    if all(len(ends) == 1 for ends in votes.values()):
        return table
    usual = {key: max(sorted(ends), key=ends.__getitem__) for key, ends in votes.items()}
    columns = [table[name].to_pylist() for name in (task.date, HORIZON, END, MODEL)]
    rows = list(zip(*columns, strict=True))
    left: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for date, step, end, model in rows:
        if end != usual[date, step]:
            left.setdefault((model, date), []).append((step, end))
    for (model, date), cells in left.items():
        step, end = cells[0]
        count = counted(len(cells), "row")
        notes.append(
            f"{model}/{date}-{model}: {count} of {task.target} left out: {END} is "
            f"{end or 'empty'} at {HORIZON} {step}, for most {usual[date, step] or 'empty'}"
        )
    kept = [end == usual[date, step] for date, step, end, _ in rows]
    return table.filter(pa.array(kept))
