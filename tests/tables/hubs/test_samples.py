"""Samples of teams: draws, from which quantiles, means and medians are computed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge.tables.hubs import blend_hub, read_hub
from tests.tables.hubs.examples import COUNT, LAST, LEVELS, make_hub, read_csv, rows, write_csv


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


def draws_of(place: str, step: str, count: int) -> list[float]:
    seed = [ord(letter) for letter in place + step]
    draws: list[float] = np.random.default_rng(seed).gamma(9.0, 12.0, count).tolist()
    return draws


def quantile(draws: list[float], level: float) -> float:
    """Return a quantile, slowly: linear between the draws in order."""
    ordered = sorted(draws)
    place = level * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def as_samples(lines: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return draws for each task that has quantiles, in no order."""
    tasks = [row for row in lines if row["output_type_id"] == "0.5" and row["target"] == COUNT]
    sampled = [
        {**row, "output_type": "sample", "output_type_id": f"s{k}", "value": value}
        for row in tasks
        for k, value in enumerate(draws_of(row["location"], row["horizon"], count))
    ]
    return [sampled[k] for k in np.random.default_rng(0).permutation(len(sampled))]


@pytest.mark.parametrize("count", [1, 2, 100])
def test_draws_become_quantiles_and_means(hub: Path, count: int) -> None:
    path = hub / "model-output" / "Good-arima" / f"{LAST}-Good-arima.csv"
    lines = read_csv(path)
    write_csv(path, as_samples(lines, count))
    # Without a past, the blend of one team is its forecast.
    found = blend_hub(hub, COUNT, LAST, leave_out=["Bad-*", "Wide-*"], since=LAST)
    for step in (0, 1):
        for place in ("US", "06", "36"):
            draws = draws_of(place, str(step), count)
            own = rows(found.submission, horizon=step, location=place)
            values = {(row["output_type"], row["output_type_id"]): row["value"] for row in own}
            expected = {("quantile", f"{level:g}"): quantile(draws, level) for level in LEVELS}
            expected["mean", "NA"] = sum(draws) / count
            assert values == pytest.approx(expected)


def test_a_teams_own_quantiles_stay(hub: Path) -> None:
    first = blend_hub(hub, COUNT, LAST)
    path = hub / "model-output" / "Good-arima" / f"{LAST}-Good-arima.csv"
    lines = read_csv(path)
    write_csv(path, [*as_samples(lines, 20), *lines])
    assert blend_hub(hub, COUNT, LAST).submission == first.submission


def test_a_draw_given_twice_is_refused(hub: Path) -> None:
    path = hub / "model-output" / "Good-arima" / f"{LAST}-Good-arima.csv"
    lines = as_samples(read_csv(path), 20)
    write_csv(path, [*lines, lines[3]])
    notes = blend_hub(hub, COUNT, LAST).notes
    text = f"left out Good-arima/{path.name}: it has more than one value of {COUNT}"
    assert any(note.startswith(text) for note in notes)


def test_a_hub_of_samples_only_gets_quantiles(hub: Path) -> None:
    path = hub / "hub-config" / "tasks.json"
    tasks = json.loads(path.read_text())
    sample = {"sample": {"output_type_id_params": {}, "value": {"minimum": 0, "type": "integer"}}}
    tasks["rounds"][0]["model_tasks"][1]["output_type"] = sample
    path.write_text(json.dumps(tasks))
    output = read_hub(hub).tasks[COUNT].outputs["quantile"]
    assert len(output.ids) == 23
    assert (output.low, output.whole) == (0.0, True)
    for file in (hub / "model-output" / "Good-arima").iterdir():
        write_csv(file, as_samples(read_csv(file), 50))
    found = blend_hub(hub, COUNT, LAST)
    assert {*found.submission["output_type"]} == {"quantile"}
    assert len(rows(found.submission, horizon=0, location="US")) == 23
    assert any("takes samples only" in note for note in found.notes)
