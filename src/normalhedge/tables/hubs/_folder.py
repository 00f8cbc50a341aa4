"""A forecast hub in a folder: its tasks, its models and their submissions.

The layout comes from the hubverse: ``hub-config/tasks.json``, ``model-metadata/<team-model>.yml``,
``model-output/<team-model>/<date>-<team-model>.csv`` or ``.parquet``, and ``target-data``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 -- a type
from fnmatch import fnmatchcase
from pathlib import Path

from normalhedge.tables.hubs._origins import reason_of_hub, teams_with_baseline, words_of_hub
from normalhedge.tables.hubs._tasks import Task, read_tasks

_FILE = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)\.(csv|parquet|csv\.gz)")

ENDINGS = (".csv", ".parquet", ".csv.gz")
"""The endings of submissions."""


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
        Why it is no expert of a blend, as the hub's ensemble and baseline; empty for others.
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

    A model counts as made by the hub, and is left out of blends,

    - if its metadata have ``ensemble_of_hub_models: true`` or ``designated_model: false``;
    - if the abbreviation of its team has ``hub`` in it, or is a word in the name of the hub or of
      its repository (``hub-config/admin.json``);
    - if its name has the word ``hub`` or ``baseline``, as ``Team-hubEnsemble`` has; or the word
      ``ensemble``, and its team has a baseline, too, and its metadata do not say
      ``ensemble_of_hub_models: false``.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"there is no folder {root}")
    tasks = read_tasks(root / "hub-config" / "tasks.json")
    output = root / "model-output"
    if not output.is_dir():
        raise ValueError(f"{root} is not a hub: it has no folder model-output")
    words = words_of_hub(root / "hub-config" / "admin.json")
    notes: list[str] = []
    folders = [
        path for path in sorted(output.iterdir()) if path.is_dir() and not path.name.startswith(".")
    ]
    teams = teams_with_baseline(path.name for path in folders)
    models = [
        HubModel(path.name, _files(path, notes), reason_of_hub(root, path.name, words, teams))
        for path in folders
    ]
    return Hub(root, tasks, models, notes)


def _files(folder: Path, notes: list[str]) -> dict[Date, Path]:
    """Return the submissions of a model by date; other files get a note."""
    files: dict[Date, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.name.lower().endswith(ENDINGS):
            continue
        parts = _FILE.fullmatch(path.name)
        date = None if parts is None else _date(parts[1])
        if parts is None or parts[2] != folder.name:
            reason = f"it is not named DATE-{folder.name}.csv, .csv.gz or .parquet"
        elif date is None:
            reason = f"{parts[1]} is not a date"
        elif not path.is_file():
            reason = "it is not a file"
        elif date in files:
            reason = f"{files[date].name} is of the same date"
        else:
            files[date] = path
            continue
        notes.append(f"left out {folder.name}/{path.name}: {reason}")
    return files


def _date(text: str) -> Date | None:
    try:
        return Date.fromisoformat(text)
    except ValueError:
        return None
