"""``tasks.json`` as people break it: one sentence that names the place in the file."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge.tables.hubs import read_hub
from tests.tables.hubs.examples import make_hub

BLOCK = "rounds[0].model_tasks[1]"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_hub(tmp_path_factory.mktemp("tasks") / "hub")


@pytest.fixture
def content(hub: Path) -> Any:
    path = hub / "hub-config" / "tasks.json"
    saved = path.read_text()
    yield json.loads(saved)
    path.write_text(saved)


def refused(hub: Path, text: str, message: str) -> None:
    (hub / "hub-config" / "tasks.json").write_text(text)
    with pytest.raises(ValueError, match=f"^[^\n]*{re.escape(message)}[^\n]*$"):
        read_hub(hub)


def set_(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        part = content["rounds"][0]["model_tasks"][1]
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = value

    return change


def without(name: str) -> Callable[[Any], None]:
    return lambda content: content["rounds"][0]["model_tasks"][1].pop(name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("task_ids"), f"{BLOCK} has no task_ids"),
        (without("output_type"), f"{BLOCK} has no output_type"),
        (without("target_metadata"), f"{BLOCK} has no target_metadata"),
        (set_("task_ids", value={}), "task_ids names no column"),
        (set_("task_ids", value=[]), "task_ids must be an object with names, it is '[]'"),
        (set_("task_ids", value={"location": {}}), "task_ids has no reference_date"),
        (set_("task_ids", "location", value=3), "task_ids.location must be an object"),
        (set_("task_ids", "location", "optional", value="US"), "optional must be a list"),
        (set_("task_ids", "location", "optional", value=[["US"]]), "optional[0] must be a text"),
        (set_("target_metadata", value=[{}]), "target_metadata[0] has no target_id"),
        (set_("target_metadata", 0, "target_keys", value="inc"), "target_keys must be an object"),
        (set_("output_type", value=None), "output_type must be an object"),
        (set_("output_type", "quantile", value={}), "quantile has no output_type_id"),
        (set_("output_type", "quantile", "output_type_id", value={}), "output_type_id has no"),
        (
            set_("output_type", "quantile", "output_type_id", "required", value=[0.5, 1.5]),
            "required[1] must be between 0 and 1, it is 1.5",
        ),
        (
            set_("output_type", "quantile", "output_type_id", "required", value=["half"]),
            "required[0] must be a finite number, it is",
        ),
        (set_("output_type", "mean", "value", "minimum", value="0"), "minimum must be a finite"),
        (set_("output_type", "mean", "value", value={"minimum": 1, "maximum": 0}), "above its"),
    ],
)
def test_the_place_is_named(
    hub: Path, content: Any, change: Callable[[Any], None], message: str
) -> None:
    change(content)
    refused(hub, json.dumps(content), "tasks.json cannot be read as the tasks of a hub: ")
    refused(hub, json.dumps(content), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "tasks.json cannot be read as JSON"),
        ("{", "tasks.json cannot be read as JSON"),
        ("[" * 100_000, "tasks.json cannot be read as JSON"),
        ("[]", "the file must be an object with names, it is '[]'"),
        ("null", "the file must be an object with names"),
        ("{}", "the file has no rounds"),
        ('{"rounds": {}}', "the file.rounds must be a list"),
        ('{"rounds": []}', "has no target with an output type that is blended"),
        ('{"rounds": [{}]}', "rounds[0] has no model_tasks"),
    ],
)
@pytest.mark.usefixtures("content")
def test_other_files_are_refused(hub: Path, text: str, message: str) -> None:
    refused(hub, text, message)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_with_any_wrong_part_is_read_or_refused(hub: Path, content: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wrong: list[Any] = [None, 0, -1, 1e400, True, "", "x", [], [[]], {}, {"a": None}, [None], "0.5"]
    path = hub / "hub-config" / "tasks.json"
    messages = []
    for _ in range(60):
        changed = json.loads(json.dumps(content))
        places = list(_places(changed))
        part, key = places[int(rng.integers(len(places)))]
        part[key] = wrong[int(rng.integers(len(wrong)))]
        path.write_text(json.dumps(changed))
        try:
            read_hub(hub)
        except ValueError as error:
            messages.append(str(error))
    assert messages
    assert all("tasks.json" in text and "\n" not in text for text in messages)


def _places(part: Any) -> Any:
    """Yield each container with each of its keys."""
    entries = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in entries:
        yield part, key
        if isinstance(value, dict | list):
            yield from _places(value)
