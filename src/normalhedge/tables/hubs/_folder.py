"""A forecast hub in a folder: its tasks, its models and their submissions.

The layout is that of the hubverse: ``hub-config/tasks.json``, ``model-metadata/<team-model>.yml``,
``model-output/<team-model>/<date>-<team-model>.csv`` or ``.parquet``, and ``target-data``.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 -- a type
from fnmatch import fnmatchcase
from pathlib import Path

from normalhedge.tables.hubs._tasks import Task, read_tasks

_FILE = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)\.(csv|parquet|csv\.gz)")
_FIELD = re.compile(r"(team_abbr|model_abbr|ensemble_of_hub_models)\s*:\s*[\"']?([^\"'#]*)")


@dataclass(frozen=True)
class HubModel:
    """A model of a hub.

    Attributes
    ----------
    name
        Its name: that of its folder.
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
        """Return the models to blend, and those left out with the reasons.

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
    found: dict[Date, Path] = {}
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
        if date in found:
            raise ValueError(
                f"{folder.name} has two submissions of {date}: {found[date].name} and {path.name}"
            )
        found[date] = path
    return found


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
            found = [_FIELD.match(line) for line in lines]
            return {parts[1]: parts[2].strip() for parts in found if parts is not None}
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
