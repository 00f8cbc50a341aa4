"""A forecast hub in a folder: its tasks, its models and their submissions.

The layout comes from the hubverse: ``hub-config/tasks.json``, ``model-metadata/<team-model>.yml``,
``model-output/<team-model>/<date>-<team-model>.csv`` or ``.parquet``, and ``target-data``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812 -- a type
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any

_FILE = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)\.(csv|parquet|csv\.gz)")
_FIELD = re.compile(r"(team_abbr|model_abbr|ensemble_of_hub_models)\s*:\s*[\"']?([^\"'#]*)")

DATES = ("reference_date", "origin_date", "forecast_date")
"""The usual names of the task id that says when a forecast was made."""

END, HORIZON, TARGET = "target_end_date", "horizon", "target"
"""The task ids of the date that a forecast is for, of the steps ahead, and of the quantity."""

UNITS = {"day": 1, "week": 7}
"""The length of a step ahead, in days, by its ``time_unit``."""

TYPES = ("quantile", "pmf", "mean", "median")
"""The output types that are blended."""


@dataclass
class Output:
    """The values that a submission may have in one output type."""

    # the values of ``output_type_id`` as text, in order; none for means and medians
    ids: list[str] = field(default_factory=list)
    # low, high: the limits of values
    low: float = -inf
    high: float = inf
    whole: bool = False  # whether values are whole numbers


@dataclass
class Task:
    """A target of a hub, and how submissions describe it."""

    target: str  # its name
    columns: list[str]  # the task ids, in the order of the file
    date: str  # the task id that says when a forecast was made
    allowed: dict[str, list[str]]  # the values that each task id may have, as text, in order
    outputs: dict[str, Output]  # the output types that are blended, by name
    days: int = 7  # the length of a step ahead in days
    numeric: bool = True  # whether outcomes are numbers, and belong to one step ahead

    @property
    def series(self) -> list[str]:
        """The task ids that name a series: all but the dates, the horizon and the target."""
        return [c for c in self.columns if c not in {self.date, END, HORIZON, TARGET}]


def read_tasks(path: Path) -> dict[str, Task]:
    """Return the tasks of a hub by target."""
    tasks: dict[str, Task] = {}
    try:
        for entry in json.loads(path.read_text(encoding="utf-8"))["rounds"]:
            date = entry["round_id"] if entry.get("round_id_from_variable") else None
            for block in entry["model_tasks"]:
                for meta in block["target_metadata"]:
                    keys = meta.get("target_keys") or {}
                    target = str(keys.get(TARGET, meta["target_id"]))
                    _add_task(tasks, target, meta, block, date)
    except FileNotFoundError:
        name = f"{path.parent.name}/{path.name}"
        raise ValueError(f"{path.parent.parent} is not a hub: it has no {name}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as the tasks of a hub: {error!r}") from None
    return tasks


def _add_task(
    tasks: dict[str, Task],
    target: str,
    meta: Mapping[str, Any],
    block: Mapping[str, Any],
    date: str | None,
) -> None:
    ids = block["task_ids"]
    columns = list(ids)
    date = date or next((name for name in DATES if name in columns), columns[0])
    task = tasks.setdefault(target, Task(target, columns, date, {}, {}))
    task.days = UNITS.get(str(meta.get("time_unit")), task.days)
    task.numeric = meta.get("target_type") in {"continuous", "discrete", "count", "binary", None}
    task.numeric = task.numeric and bool(meta.get("is_step_ahead", True))
    for name, values in ids.items():
        _extend(task.allowed.setdefault(name, []), values)
    for kind, rule in block["output_type"].items():
        if kind not in TYPES:
            continue
        output = task.outputs.setdefault(kind, Output())
        if kind in {"quantile", "pmf"}:
            _extend(output.ids, rule["output_type_id"])
        value = rule.get("value", {})
        low, high = value.get("minimum"), value.get("maximum")
        output.low, output.high = -inf if low is None else low, inf if high is None else high
        output.whole = value.get("type") == "integer"


def _extend(known: list[str], values: Mapping[str, Any]) -> None:
    """Add required and optional values as text."""
    every = [str(v) for part in ("required", "optional") for v in values.get(part) or ()]
    known += [value for value in dict.fromkeys(every) if value not in known]


@dataclass(frozen=True)
class HubModel:
    """A model of a hub.

    Attributes
    ----------
    name
        Its name, which is the name of its folder.
    files
        The submissions by date.
    made_by_hub
        Why it counts as made by the hub; empty if a team made it.
    """

    name: str
    files: dict[Date, Path]
    made_by_hub: str


@dataclass(frozen=True)
class Hub:
    """A forecast hub; `read_hub` finds one in a folder.

    Attributes
    ----------
    folder
        The folder.
    tasks
        The tasks by target.
    models
        The models, sorted by name.
    notes
        Sentences about files that are not what their places say.
    """

    folder: Path
    tasks: dict[str, Task]
    models: list[HubModel]
    notes: list[str]

    @property
    def dates(self) -> list[Date]:
        """The dates of all submissions, in order."""
        return sorted({date for model in self.models for date in model.files})

    def chosen(
        self, leave_out: Sequence[str] = (), keep: Sequence[str] = (), name: str = ""
    ) -> tuple[list[HubModel], dict[str, str]]:
        """Return the models to blend, and the models left out with the reasons.

        Parameters
        ----------
        leave_out
            Patterns of names to leave out, such as ``"Team-*"``.
        keep
            Patterns of names to keep although the hub made them.
        name
            The name of the blend, which is not one of its own models.
        """
        chosen, left = [], {}
        for model in self.models:
            if model.name == name:
                left[model.name] = "it is the blend itself"
            elif any(fnmatchcase(model.name, pattern) for pattern in leave_out):
                left[model.name] = "as asked"
            elif model.made_by_hub and not any(fnmatchcase(model.name, p) for p in keep):
                left[model.name] = model.made_by_hub
            else:
                chosen.append(model)
        return chosen, left


def read_hub(folder: str | Path) -> Hub:
    """Return the forecast hub in a folder; submissions and target data are read when needed.

    A model counts as made by the hub, and is left out of blends, if its metadata say that it is an
    ensemble of the hub's models, or if the abbreviation of its team has ``hub`` in it, or is a word
    in the name of the hub or of its repository (``hub-config/admin.json``).
    """
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"there is no folder {root}")
    tasks = read_tasks(root / "hub-config" / "tasks.json")
    output = root / "model-output"
    if not output.is_dir():
        raise ValueError(f"{root} is not a hub: it has no folder model-output")
    words = _words_of_hub(root / "hub-config" / "admin.json")
    notes: list[str] = []
    models = [
        HubModel(path.name, _files(path, notes), _made_by_hub(root, path.name, words))
        for path in sorted(output.iterdir())
        if path.is_dir() and not path.name.startswith(".")
    ]
    return Hub(root, tasks, models, notes)


def _files(folder: Path, notes: list[str]) -> dict[Date, Path]:
    """Return the submissions of a model by date; other files get a note."""
    files: dict[Date, Path] = {}
    for path in sorted(folder.iterdir()):
        parts = _FILE.fullmatch(path.name)
        if parts is None or parts[2] != folder.name:
            if path.suffix in {".csv", ".parquet"}:
                notes.append(f"left out {folder.name}/{path.name}: not named DATE-{folder.name}")
            continue
        try:
            date = Date.fromisoformat(parts[1])
        except ValueError:
            notes.append(f"left out {folder.name}/{path.name}: {parts[1]} is not a date")
            continue
        if date in files:
            raise ValueError(
                f"{folder.name} has two submissions of {date}: {files[date].name} and {path.name}"
            )
        files[date] = path
    return files


def _made_by_hub(root: Path, model: str, words: set[str]) -> str:
    metadata = _metadata(root / "model-metadata", model)
    team = metadata.get("team_abbr") or model.partition("-")[0]
    if metadata.get("ensemble_of_hub_models", "").lower() in {"true", "yes"}:
        return "its metadata say that it is an ensemble of the hub's models"
    if team.lower() in words or "hub" in team.lower():
        return f"{team} is the hub's own team"
    return ""


def _metadata(folder: Path, model: str) -> dict[str, str]:
    """Return some fields of the metadata of a model, which are lines of YAML."""
    for ending in (".yml", ".yaml"):
        path = folder / f"{model}{ending}"
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            fields = filter(None, map(_FIELD.match, lines))
            return {parts[1]: parts[2].strip() for parts in fields}
    return {}


def _words_of_hub(path: Path) -> set[str]:
    """Return the words in the names of the hub and of its repository, in small letters."""
    try:
        admin = json.loads(path.read_text(encoding="utf-8"))
        names = [admin.get("name", ""), (admin.get("repository") or {}).get("name", "")]
    except (OSError, ValueError, AttributeError):
        return set()
    common = {"hub", "forecast", "us", "flu", "covid", "the", "of", "example"}
    return {word.lower() for name in names for word in re.split(r"[^\w]+|_", str(name))} - common
