"""A small hub, made up, with everything that real ones have: four columns orders, gaps, a peak."""

import csv
import json
import math
from datetime import date, timedelta
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
CLASSES = ("down", "same", "up")
PLACES = ("US", "06", "36")
HORIZONS = (0, 1)
START = date(2024, 1, 6)
WEEKS = 8
DATES = [START + timedelta(weeks=k) for k in range(WEEKS)]
LAST = DATES[-1]

TEAMS = {
    "Good-arima": (0.0, 2.0),
    "Bad-guess": (15.0, 6.0),
    "Wide-band": (1.0, 12.0),
    "Toy-baseline": (5.0, 9.0),
    "Toy-ensemble": (0.5, 3.0),
}
"""The bias and the spread of each model; the models of Toy are the hub's own."""

ORDERS = (
    "reference_date target horizon location target_end_date output_type output_type_id value",
    "location reference_date value horizon output_type target_end_date output_type_id target",
    "value output_type_id output_type target_end_date location horizon target reference_date",
)

COUNT, CHANGE, PEAK = "wk inc toy", "wk toy change", "peak inc toy"


def truth(place: str, day: date) -> float:
    """Return the outcome of a place in the week that ends on a day."""
    return 100.0 + 10.0 * PLACES.index(place) + 30.0 * math.sin((day - START).days / 21.0)


def direction(place: str, day: date) -> str:
    """Return the class of a place in the week that ends on a day."""
    return CLASSES[(PLACES.index(place) + (day - START).days // 7) % 3]


def make_hub(root: Path, weeks: int = WEEKS, seed: int = 0) -> Path:
    """Write a hub into a folder, and return the folder."""
    _write_config(root)
    rng = np.random.default_rng(seed)
    for k, (model, (bias, spread)) in enumerate(TEAMS.items()):
        for day in DATES:
            rows = _submission(rng, model, day, bias, spread)
            if day < START + timedelta(weeks=weeks) and not _asleep(model, day):
                _write_rows(root, model, day, rows, k)
    ends = [START + timedelta(weeks=k) for k in range(-2, WEEKS + 4)]
    lines = [
        {"date": day, "location": place, "value": truth(place, day), "weekly_rate": 1.0}
        for day in ends
        for place in PLACES
    ]
    write_csv(root / "target-data" / "target-toy-admissions.csv", lines)
    return root


def _asleep(model: str, day: date) -> bool:
    return model == "Bad-guess" and day == DATES[3]


def _submission(
    rng: np.random.Generator, model: str, day: date, bias: float, spread: float
) -> list[dict[str, Any]]:
    rows = []
    for h in HORIZONS:
        end = day + timedelta(weeks=h)
        for place in PLACES:
            if model == "Wide-band" and place == "36":
                continue  # it does not forecast this place
            base = {"reference_date": day, "horizon": h, "location": place, "target_end_date": end}
            middle = truth(place, end) + bias + rng.normal()
            for level in LEVELS:
                value = max(middle + spread * NormalDist().inv_cdf(level), 0.0)
                own = {"output_type": "quantile", "output_type_id": level, "value": value}
                rows.append({**base, "target": COUNT, **own})
            own = {"output_type": "mean", "output_type_id": "NA", "value": middle}
            rows.append({**base, "target": COUNT, **own})
            sure = 0.8 if model == "Good-arima" else 0.2
            for name in CLASSES:
                share = sure if name == direction(place, end) else (1.0 - sure) / 2.0
                own = {"output_type": "pmf", "output_type_id": name, "value": share}
                rows.append({**base, "target": CHANGE, **own})
    for level in LEVELS:  # the peak of the season: without a horizon and a date
        ids = {"reference_date": day, "horizon": "NA", "location": "US", "target_end_date": "NA"}
        own = {"output_type": "quantile", "output_type_id": level, "value": 200.0 * level + bias}
        rows.append({**ids, "target": PEAK, **own})
    return rows


def _write_rows(root: Path, model: str, day: date, rows: list[dict[str, Any]], k: int) -> None:
    path = root / "model-output" / model / f"{day}-{model}.csv"
    if model == "Wide-band":
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415

        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {
            name: [None if row[name] == "NA" else str(row[name]) for row in rows]
            for name in ORDERS[0].split()
        }
        numbers: Any = {**columns, "value": [float(row["value"]) for row in rows]}
        parquet.write_table(pa.table(numbers), path.with_suffix(".parquet"))
        return
    columns_in_order = ORDERS[k % len(ORDERS)].split()
    ordered = [{name: row[name] for name in columns_in_order} for row in rows]
    write_csv(path, ordered, quoted=k == 1)


def write_csv(path: Path, rows: list[dict[str, Any]], *, quoted: bool = False) -> None:
    """Write rows as a CSV file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        dialect = "unix" if quoted else "excel"  # unix quotes every cell
        writer = csv.DictWriter(file, list(rows[0]), dialect=dialect)
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows(found: dict[str, list[Any]], **ids: Any) -> list[dict[str, Any]]:
    """Return the rows of a table of columns that have these values."""
    every = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    return [row for row in every if all(row[name] == value for name, value in ids.items())]


def _write_config(root: Path) -> None:
    dates = {"required": None, "optional": [str(day) for day in DATES]}
    places = {"required": None, "optional": list(PLACES)}
    steps = {"required": [0], "optional": [-1, 1]}
    none = {"required": None, "optional": None}
    ids = {"reference_date": dates, "target": {}, "horizon": steps, "location": places,
           "target_end_date": none}  # fmt: skip
    levels = {
        "output_type_id": {"required": list(LEVELS)},
        "value": {"type": "double", "minimum": 0},
    }
    classes = {"output_type_id": {"required": list(CLASSES)}, "value": {"minimum": 0, "maximum": 1}}
    mean = {"output_type_id": {"required": None}, "value": {"type": "double"}}

    def block(target: str, kind: str, outputs: dict[str, Any], **other: Any) -> dict[str, Any]:
        step = "horizon" not in other
        meta = {"target_id": target, "target_keys": {"target": target}, "target_type": kind,
                "is_step_ahead": step, "time_unit": "week"}  # fmt: skip
        own = {**ids, "target": {"required": [target]}, **other}
        return {"task_ids": own, "output_type": outputs, "target_metadata": [meta]}

    blocks = [
        block(CHANGE, "ordinal", {"pmf": classes}),
        block(COUNT, "continuous", {"quantile": levels, "mean": mean, "sample": {}}),
        block(PEAK, "continuous", {"quantile": levels}, horizon=none),
    ]
    one = {"round_id_from_variable": True, "round_id": "reference_date", "model_tasks": blocks}
    config = root / "hub-config"
    config.mkdir(parents=True)
    (config / "tasks.json").write_text(json.dumps({"rounds": [one]}))
    admin = {"name": "The Toy Hub", "repository": {"name": "Toy-forecast-hub"}}
    (config / "admin.json").write_text(json.dumps(admin))
    metadata = root / "model-metadata"
    metadata.mkdir()
    for name in TEAMS:
        team, _, model = name.partition("-")
        text = f'team_abbr: "{team}"\nmodel_abbr: "{model}"\n'
        text += f"ensemble_of_hub_models: {'true' if model == 'ensemble' else 'false'}\n"
        ending = ".yaml" if team == "Bad" else ".yml"
        (metadata / f"{name}{ending}").write_text(text)
