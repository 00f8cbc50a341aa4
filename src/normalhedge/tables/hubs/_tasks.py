"""The tasks of a hub, ``hub-config/tasks.json``: what submissions may hold, by target."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from normalhedge.tables.hubs._cells import show

DATES = ("reference_date", "origin_date", "forecast_date", "nowcast_date")
"""The usual names of the task id that says when a forecast was made."""

END, HORIZON, TARGET = "target_end_date", "horizon", "target"
"""The task ids of the date that a forecast is for, of the steps ahead, and of the quantity."""

UNITS = {"day": 1, "week": 7}
"""The length of a step ahead, in days, by its ``time_unit``."""

TYPES = ("quantile", "pmf", "mean", "median")
"""The output types that are blended."""

SAMPLE = "sample"
"""The output type of draws, from which quantiles, means and medians are computed."""

LEVELS = (0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99)
"""The quantile levels of the blend where a hub takes samples only."""


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
    samples: bool = False  # whether submissions may have draws
    only_samples: bool = False  # whether the hub asks for draws, and not for quantiles

    @property
    def series(self) -> list[str]:
        """The task ids that name a series: all but the dates, the horizon and the target."""
        return [c for c in self.columns if c not in {self.date, END, HORIZON, TARGET}]


class JsonPart:
    """A part of a JSON file, which knows its place in the file."""

    def __init__(self, value: Any, place: str) -> None:
        self.value, self.place = value, place

    def __getitem__(self, name: str) -> "JsonPart":
        """Return an entry that must be there."""
        if name not in self.mapping():
            raise ValueError(f"{self.place} has no {name}")
        return JsonPart(self.value[name], f"{self.place}.{name}")

    def get(self, name: str, default: Any = None) -> "JsonPart":
        """Return an entry, or a default where it is absent or null."""
        value = self.mapping().get(name)
        return JsonPart(default if value is None else value, f"{self.place}.{name}")

    def mapping(self) -> Mapping[str, Any]:
        """Return the part, which must be an object."""
        mapping: Mapping[str, Any] = self._of(dict, "an object with names")
        return mapping

    def items(self) -> "list[JsonPart]":
        """Return the entries of the part, which must be a list."""
        entries = enumerate(self._of(list, "a list"))
        return [JsonPart(value, f"{self.place}[{k}]") for k, value in entries]

    def text(self) -> str:
        """Return the part, a text or a number, as text."""
        plain = isinstance(self.value, str | int | float) and not isinstance(self.value, bool)
        if not plain or self.value == "":
            self._refuse("a text")
        return str(self.value)

    def number(self) -> float:
        """Return the part, which must be a finite number."""
        plain = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not plain or not math.isfinite(self.value):
            self._refuse("a finite number")
        return float(self.value)

    def _of(self, kind: type, name: str) -> Any:
        if not isinstance(self.value, kind):
            self._refuse(name)
        return self.value

    def _refuse(self, accepted: str) -> None:
        raise ValueError(f"{self.place} must be {accepted}, it is {show(json.dumps(self.value))}")


def read_tasks(path: Path) -> dict[str, Task]:
    """Return the tasks of a hub by target."""
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(f"{path.parent.parent} is not a hub: it has no {name}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from None
    tasks: dict[str, Task] = {}
    try:
        for entry in JsonPart(content, "the file")["rounds"].items():
            by_date = entry.get("round_id_from_variable", False).value
            date = entry["round_id"].text() if by_date else None
            for block in entry["model_tasks"].items():
                for meta in block["target_metadata"].items():
                    _add_task(tasks, meta, block, date)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as the tasks of a hub: {error}") from None
    if not any(task.outputs for task in tasks.values()):
        taken = ", ".join((*TYPES, SAMPLE))
        raise ValueError(f"{path} has no target with an output type that is blended: {taken}")
    return {target: task for target, task in tasks.items() if task.outputs}


def _add_task(tasks: dict[str, Task], meta: JsonPart, block: JsonPart, date: str | None) -> None:
    ids, key = block["task_ids"], meta.get("target_keys", {}).get(TARGET)
    name = (meta["target_id"] if key.value is None else key).text()
    columns = list(ids.mapping())
    if not columns:
        raise ValueError(f"{ids.place} names no column")
    date = date or next((name for name in DATES if name in columns), columns[0])
    if date not in columns:
        raise ValueError(f"{ids.place} has no {date}, by which rounds are named")
    task = tasks.setdefault(name, Task(name, columns, date, {}, {}))
    task.days = UNITS.get(str(meta.get("time_unit").value), task.days)
    kind = meta.get("target_type").value
    task.numeric = kind in ["continuous", "discrete", "count", "binary", None]
    task.numeric = task.numeric and bool(meta.get("is_step_ahead", True).value)
    for column in columns:
        _extend(task.allowed.setdefault(column, []), ids[column])
    _add_outputs(task, block["output_type"])


def _add_outputs(task: Task, kinds: JsonPart) -> None:
    """Add the output types of a block of ``tasks.json`` to a task."""
    for kind in kinds.mapping():
        if kind not in TYPES:
            task.samples = task.samples or kind == SAMPLE
            continue
        output, rule = task.outputs.setdefault(kind, Output()), kinds[kind]
        if kind in {"quantile", "pmf"}:
            _extend(output.ids, rule["output_type_id"], levels=kind == "quantile")
            if not output.ids:
                raise ValueError(f"{rule.place}.output_type_id has no values")
        _limit(output, rule)
    if task.samples and not {"quantile", "pmf"} & {*task.outputs}:
        task.only_samples = True
        output = task.outputs.setdefault("quantile", Output([f"{level:g}" for level in LEVELS]))
        _limit(output, kinds.get(SAMPLE, {}))


def _limit(output: Output, rule: JsonPart) -> None:
    """Give an output type the limits of its values."""
    value = rule.get("value", {})
    low, high = value.get("minimum", None), value.get("maximum", None)
    output.low = -inf if low.value is None else low.number()
    output.high = inf if high.value is None else high.number()
    if output.low > output.high:
        raise ValueError(f"{value.place} has a minimum above its maximum")
    output.whole = value.get("type").value == "integer"


def _extend(known: list[str], values: JsonPart, *, levels: bool = False) -> None:
    """Add required and optional values as text; quantile levels must be between 0 and 1."""
    parts = [part for name in ("required", "optional") for part in values.get(name, []).items()]
    for part in parts:
        text = part.text()
        if levels and not 0.0 < JsonPart(_number(part), part.place).number() < 1.0:
            raise ValueError(f"{part.place} must be between 0 and 1, it is {text}")
        if text not in known:
            known.append(text)


def _number(part: JsonPart) -> Any:
    """Return a level, which may be written as text."""
    try:
        return float(part.text())
    except ValueError:
        return part.value
