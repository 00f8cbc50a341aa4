"""The tasks of a forecast hub, as ``hub-config/tasks.json`` defines them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from normalhedge.boundary import specs

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
    """What a submission may say in one output type."""

    # the values of ``output_type_id`` as text, in order; none for means and medians
    ids: list[str] = field(default_factory=list)
    # low, high: the limits of values
    low: float | None = None
    high: float | None = None
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
    try:
        rounds = json.loads(path.read_text(encoding="utf-8"))["rounds"]
        found: dict[str, Task] = {}
        for one in rounds:
            own = one["round_id"] if one.get("round_id_from_variable") else None
            for block in one["model_tasks"]:
                for target, meta in _targets(block).items():
                    _add(found, target, meta, block, own)
    except FileNotFoundError:
        raise ValueError(f"{path.parent.parent} is not a hub: it has no {_tail(path)}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as the tasks of a hub: {error!r}") from None
    return found


def _tail(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _targets(block: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the targets of a block of tasks, by the names that submissions use."""
    found = {}
    for meta in block["target_metadata"]:
        keys = meta.get("target_keys") or {}
        found[str(keys.get(TARGET, meta["target_id"]))] = meta
    return found


def _add(
    found: dict[str, Task],
    target: str,
    meta: Mapping[str, Any],
    block: Mapping[str, Any],
    own: str | None,
) -> None:
    ids = block["task_ids"]
    columns = list(ids)
    date = own or next((name for name in DATES if name in columns), columns[0])
    task = found.setdefault(target, Task(target, columns, date, {}, {}))
    task.days = UNITS.get(str(meta.get("time_unit")), task.days)
    task.numeric = meta.get("target_type") in {"continuous", "discrete", "count", "binary", None}
    task.numeric = task.numeric and bool(meta.get("is_step_ahead", True))
    for name, values in ids.items():
        _extend(task.allowed.setdefault(name, []), _listed(values))
    for kind, rule in block["output_type"].items():
        if kind not in TYPES:
            continue
        output = task.outputs.setdefault(kind, Output())
        if kind in {"quantile", "pmf"}:
            _extend(output.ids, _listed(rule["output_type_id"]))
        value = rule.get("value", {})
        output.low, output.high = value.get("minimum"), value.get("maximum")
        output.whole = value.get("type") == "integer"


def _listed(values: Mapping[str, Any]) -> list[str]:
    """Return required and optional values as text."""
    return [str(v) for part in ("required", "optional") for v in values.get(part) or ()]


def _extend(known: list[str], more: Sequence[str]) -> None:
    known += [value for value in more if value not in known]


def task_of(tasks: Mapping[str, Task], target: str) -> Task:
    """Return the task of a target; refuse an unknown target."""
    if target not in tasks:
        raise specs.nearest("target", target, tasks)
    return tasks[target]
