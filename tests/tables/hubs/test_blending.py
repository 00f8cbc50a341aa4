"""The blend of a hub: as of a date, in the hub's format, the same again when it is run again."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from normalhedge.tables.hubs import HubBlend, blend_hub, read_hub
from normalhedge.tables.hubs._outcomes import TargetData
from normalhedge.tables.hubs._tasks import Task
from tests.tables.hubs.examples import (
    CHANGE,
    CLASSES,
    COUNT,
    DATES,
    HORIZONS,
    LAST,
    LEVELS,
    PEAK,
    PLACES,
    TEAMS,
    direction,
    make_hub,
    read_csv,
    rows,
    write_csv,
)


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


def same(first: HubBlend, second: HubBlend) -> bool:
    return first.submission == second.submission and first.weights == second.weights


def test_the_submission_has_the_format_of_the_hub(hub: Path) -> None:
    found = blend_hub(hub, date=str(LAST))
    columns = ["reference_date", "target", "horizon", "location", "target_end_date"]
    assert list(found.submission) == [*columns, "output_type", "output_type_id", "value"]
    assert list(found.weights) == ["model_id", *columns, "output_type", "weight"]
    count = Counter(zip(found.submission["target"], found.submission["output_type"], strict=True))
    tasks = len(HORIZONS) * len(PLACES)
    assert count == {
        (CHANGE, "pmf"): tasks * len(CLASSES),
        (COUNT, "quantile"): tasks * len(LEVELS),
        (COUNT, "mean"): tasks,
        (PEAK, "quantile"): len(LEVELS),
    }
    one = rows(found.submission, target=COUNT, horizon=1, location="06", output_type="quantile")
    assert [row["output_type_id"] for row in one] == [f"{level:g}" for level in LEVELS]
    values = [row["value"] for row in one]
    assert values == sorted(values)
    assert {row["target_end_date"] for row in one} == {str(LAST + timedelta(weeks=1))}
    peak = rows(found.submission, target=PEAK)
    assert {(row["horizon"], row["target_end_date"]) for row in peak} == {("NA", "NA")}
    shares = rows(found.submission, target=CHANGE, horizon=0, location="US")
    assert sum(row["value"] for row in shares) == pytest.approx(1.0)
    assert [row["output_type_id"] for row in shares] == list(CLASSES)
    places = [
        row["location"]
        for row in rows(found.submission, target=COUNT, horizon=0, output_type="mean")
    ]
    assert places == list(PLACES)


def test_good_models_get_the_weight(hub: Path) -> None:
    found = blend_hub(hub, COUNT, LAST)
    for place in PLACES:
        own = rows(found.weights, horizon=0, location=place, output_type="quantile")
        weights = {row["model_id"]: row["weight"] for row in own}
        assert sum(weights.values()) == pytest.approx(1.0)
        assert max(weights, key=lambda name: weights[name]) == "Good-arima"
        # A team that does not forecast a place is not in its table.
        assert ("Wide-band" in weights) == (place != "36")
    scores = {(s.kind, s.horizon): s for s in found.scores}
    score = scores["quantile", "0"]
    assert score.settled == (len(DATES) - 1) * len(PLACES)
    assert score.blend < score.mean
    assert score.models == 3


def test_classes_are_learned_where_their_outcomes_are_known(hub: Path) -> None:
    plain = blend_hub(hub, CHANGE, LAST)
    assert any(note.startswith("no outcomes of") for note in plain.notes)
    weights = {
        row["model_id"]: row["weight"] for row in rows(plain.weights, horizon=0, location="US")
    }
    assert list(weights.values()) == pytest.approx([1 / 3] * 3)
    lines = [
        {"location": place, "target_end_date": day, "target": CHANGE, "output_type": "pmf",
         "output_type_id": name, "oracle_value": int(name == direction(place, day))}
        for day in DATES for place in PLACES for name in CLASSES
    ]  # fmt: skip
    write_csv(hub / "target-data" / "oracle-output.csv", lines)
    found = blend_hub(hub, CHANGE, LAST)
    weights = {
        row["model_id"]: row["weight"] for row in rows(found.weights, horizon=0, location="US")
    }
    assert weights["Good-arima"] > 0.5
    value = {
        row["output_type_id"]: row["value"]
        for row in rows(found.submission, horizon=0, location="US")
    }
    assert max(value, key=lambda name: value[name]) == direction("US", LAST)
    assert found.scores[0].loss == "log loss"
    assert found.scores[0].blend < found.scores[0].mean


def test_all_formats_of_target_data_give_the_same(hub: Path) -> None:
    first = blend_hub(hub, COUNT, LAST)
    old = hub / "target-data" / "target-toy-admissions.csv"
    lines = read_csv(old)
    old.unlink()
    series = [
        {"target_end_date": row["date"], "location": row["location"], "target": COUNT,
         "observation": row["value"]} for row in lines
    ]  # fmt: skip
    path = hub / "target-data" / "time-series.csv"
    write_csv(path, series)
    assert same(blend_hub(hub, COUNT, LAST), first)
    # Of several versions the newest counts that was released by the date.
    early = [{**row, "as_of": "2023-01-01", "observation": "1.0"} for row in series]
    right = [{**row, "as_of": str(LAST)} for row in series]
    late = [{**row, "as_of": str(LAST + timedelta(days=1)), "observation": "2.0"} for row in series]
    write_csv(path, [*late, *right, *early])
    assert same(blend_hub(hub, COUNT, LAST), first)
    write_csv(path, [*late, *early])
    assert not same(blend_hub(hub, COUNT, LAST), first)
    path.unlink()
    oracle = [
        {"location": row["location"], "output_type": kind, "output_type_id": "NA", "target": COUNT,
         "target_end_date": row["target_end_date"], "oracle_value": row["observation"]}
        for row in series for kind in ("quantile", "mean")
    ]  # fmt: skip
    write_csv(hub / "target-data" / "oracle-output.csv", oracle)
    assert same(blend_hub(hub, COUNT, LAST), first)


@pytest.mark.parametrize("known_after", [0, 7, 14])
def test_nothing_looks_ahead(tmp_path: Path, known_after: int) -> None:
    hub = make_hub(tmp_path / "hub")
    day = DATES[5]
    first = blend_hub(hub, COUNT, day, known_after=known_after)
    # Later submissions are not even opened, and later outcomes may be anything.
    for later in DATES[6:]:
        for model in TEAMS:
            for path in (hub / "model-output" / model).glob(f"{later}*"):
                path.write_bytes(b"\xff\x00 not a table")
    path = hub / "target-data" / "target-toy-admissions.csv"
    known = str(day - timedelta(days=known_after))
    lines = read_csv(path)
    write_csv(
        path, [{**row, "value": 1e6 if row["date"] > known else row["value"]} for row in lines]
    )
    found = blend_hub(hub, COUNT, day, known_after=known_after)
    assert same(found, first)
    assert found.notes == first.notes
    # But the last outcome that is known counts, unless nobody forecast it.
    write_csv(
        path, [{**row, "value": 1e3 if row["date"] == known else row["value"]} for row in lines]
    )
    assert not same(blend_hub(hub, COUNT, day, known_after=known_after), first)


def test_each_week_has_the_blend_that_it_would_have_had_then(tmp_path: Path) -> None:
    whole, part = make_hub(tmp_path / "whole"), make_hub(tmp_path / "part", weeks=5)
    assert same(blend_hub(whole, date=DATES[4]), blend_hub(part))
    assert blend_hub(part).date == DATES[4]


def test_models_of_the_hub_and_the_blend_itself_are_left_out(hub: Path) -> None:
    first = blend_hub(hub, COUNT)
    models = set(first.weights["model_id"])
    assert models == {"Good-arima", "Bad-guess", "Wide-band"}
    assert "left out Toy-baseline: Toy is the hub's own team" in first.notes
    assert any(note.startswith("left out Toy-ensemble: its metadata") for note in first.notes)
    kept = blend_hub(hub, COUNT, keep="Toy-base*", leave_out=["Bad-*"])
    assert set(kept.weights["model_id"]) == {"Good-arima", "Wide-band", "Toy-baseline"}
    _copy(hub, "Bad-guess", "normalhedge-blend")
    _copy(hub, "Bad-guess", "ToyHub-simple")
    assert same(blend_hub(hub, COUNT), first)
    assert not same(blend_hub(hub, COUNT, keep="ToyHub-*"), first)
    shutil.rmtree(hub / "model-output" / "ToyHub-simple")
    (hub / "hub-config" / "admin.json").unlink()
    assert {"Toy-baseline", "Toy-ensemble"} & {*blend_hub(hub, COUNT).weights["model_id"]} == set()


def _copy(hub: Path, model: str, name: str) -> None:
    """Submit the forecasts of a model under another name, too."""
    own = shutil.copytree(hub / "model-output" / model, hub / "model-output" / name)
    for path in list(own.iterdir()):
        path.rename(own / path.name.replace(model, name))


@pytest.mark.parametrize("cap", [0.2, 0.5, 0.7])
def test_no_weight_exceeds_the_cap(hub: Path, cap: float) -> None:
    found = blend_hub(hub, [COUNT, CHANGE], LAST, max_weight=cap)
    free = blend_hub(hub, [COUNT, CHANGE], LAST)
    assert max(free.weights["weight"]) > 0.7
    for kind, place in (("quantile", "US"), ("quantile", "36"), ("pmf", "06"), ("mean", "36")):
        ids = {"horizon": 1, "location": place, "output_type": kind}
        weights = {row["model_id"]: row["weight"] for row in rows(found.weights, **ids)}
        assert sum(weights.values()) == pytest.approx(1.0)
        assert max(weights.values()) <= max(cap, 1 / len(weights)) + 1e-12
        # The forecasts are the weighted means with these weights.
        submitted: dict[str, float] = {}
        for name, weight in weights.items():
            for row in _submitted(hub, name, LAST):
                if all(str(row[key]) == str(value) for key, value in ids.items()):
                    label = row["output_type_id"]
                    submitted[label] = submitted.get(label, 0.0) + weight * float(row["value"])
        for row in rows(found.submission, **ids):
            assert row["value"] == pytest.approx(submitted[str(row["output_type_id"])], rel=1e-9)


def _submitted(hub: Path, model: str, day: date) -> list[dict[str, Any]]:
    folder = hub / "model-output" / model
    if model == "Wide-band":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(folder / f"{day}-{model}.parquet").to_pylist()
        return [{k: "NA" if v is None else v for k, v in row.items()} for row in table]
    return list(read_csv(folder / f"{day}-{model}.csv"))


def test_progress_reaches_the_end(hub: Path) -> None:
    shares: list[float] = []
    blend_hub(hub, date=LAST, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert len(shares) == 3 + 3  # experts to read, and targets to blend


def test_values_stay_within_the_limits_of_the_hub(hub: Path) -> None:
    path = hub / "hub-config" / "tasks.json"
    tasks = json.loads(path.read_text())
    block = tasks["rounds"][0]["model_tasks"][1]
    block["output_type"]["quantile"]["value"] = {"type": "integer", "minimum": 0, "maximum": 120}
    path.write_text(json.dumps(tasks))
    found = rows(blend_hub(hub, COUNT).submission, output_type="quantile")
    values = [row["value"] for row in found]
    assert max(values) == 120.0
    assert all(value == round(value) for value in values)


def test_files_that_are_not_as_they_should_be_are_left_out(hub: Path) -> None:
    output = hub / "model-output"
    good = read_csv(output / "Good-arima" / f"{LAST}-Good-arima.csv")

    def broken(name: str, lines: list[dict[str, Any]]) -> None:
        write_csv(output / name / f"{LAST}-{name}.csv", lines)

    broken("No-value", [{k: v for k, v in row.items() if k != "value"} for row in good])
    broken("Other-date", [{**row, "reference_date": "2024-01-06"} for row in good])
    broken("Twice-said", [*good, good[0]])
    broken("No-number", [{**row, "value": "much"} for row in good])
    broken("Far-away", [{**row, "location": "99"} for row in good if row["location"] == "06"])
    (output / "Good-arima" / "notes.csv").write_text("a,b\n1,2\n")
    found = blend_hub(hub, [COUNT, CHANGE, PEAK], LAST)
    text = "\n".join(found.notes)
    for reason in (
        f"No-value/{LAST}-No-value.csv: there is no column value",
        f"Other-date/{LAST}-Other-date.csv: it has rows of another reference_date",
        f"Twice-said/{LAST}-Twice-said.csv: it has more than one value",
        f"No-number/{LAST}-No-number.csv: ",
        f"Far-away/{LAST}-Far-away.csv: ",
        "location '99' is not one of the hub's",
        "Good-arima/notes.csv: it is not named DATE-Good-arima",
    ):
        assert reason in text
    assert set(found.weights["model_id"]) == {"Good-arima", "Bad-guess", "Wide-band"}


def test_a_model_with_other_levels_is_interpolated(hub: Path) -> None:
    path = hub / "model-output" / "Good-arima" / f"{LAST}-Good-arima.csv"
    kept = [row for row in read_csv(path) if row["output_type_id"] not in {"0.25", "0.975"}]
    write_csv(path, [*kept, {**kept[0], "target": COUNT, "output_type_id": "0.333"}])
    found = blend_hub(hub, COUNT, LAST)
    level = "1 row of wk inc toy left out: level 0.333 is not one of the hub's"
    assert f"Good-arima/{path.name}: {level}" in found.notes
    text = "\n".join(found.notes)
    assert "quantiles interpolated: Good-arima at 0.25" in text
    assert "asleep for want of levels: Good-arima at 0.975" in text
    one = rows(found.submission, horizon=0, location="US", output_type="quantile")
    assert len(one) == len(LEVELS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "wk inc"}, "unknown target 'wk inc': did you mean wk inc toy?"),
        ({"date": "2024-02-01"}, "no team submitted forecasts of 2024-02-01: the last date before"),
        ({"date": "January"}, "date must be a date such as 2024-01-06, got 'January'"),
        ({"since": "2023"}, "since must be a date"),
        ({"max_weight": 1.5}, "max_weight must be more than 0 and at most 1, got 1.5"),
        ({"max_weight": 0.0}, "max_weight must be"),
        ({"known_after": -1}, "known_after must be a number of days, 0 or more, got -1"),
        ({"leave_out": "*"}, "there are no submissions of models to blend"),
    ],
)
def test_wrong_arguments_get_one_sentence(hub: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^[^\n]*{re.escape(message)}[^\n]*$"):
        blend_hub(hub, **options)


def test_folders_that_are_no_hubs_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no folder"):
        read_hub(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"is not a hub: it has no hub-config/tasks\.json"):
        read_hub(tmp_path)
    hub = make_hub(tmp_path / "hub")
    shutil.rmtree(hub / "target-data")
    with pytest.raises(ValueError, match="has no target data"):
        blend_hub(hub, COUNT)
    shutil.rmtree(hub / "model-output")
    with pytest.raises(ValueError, match="it has no folder model-output"):
        read_hub(hub)
    (hub / "hub-config" / "tasks.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tasks\.json cannot be read as the tasks of a hub"):
        read_hub(hub)


def test_a_file_without_targets_is_that_of_the_target_with_its_words(hub: Path) -> None:
    tasks = read_hub(hub).tasks
    count = tasks[COUNT]

    def found(task: Task, *others: Task) -> bool:
        every = [task, tasks[PEAK], tasks[CHANGE], *others]
        return bool(TargetData(hub).outcomes(task, every, "quantile", LAST, LAST)[0])

    assert found(count)  # it is the only one with a number for each step ahead
    assert not found(tasks[PEAK])
    visits, admissions = replace(count, target="wk visits"), replace(count, target="inc admiss")
    assert found(admissions, visits)
    assert not found(visits, admissions)


def test_hubs_with_other_columns(hub: Path) -> None:
    """The date may have another name, and the date that a forecast is for may be left out."""
    first = blend_hub(hub, COUNT, LAST)
    shutil.rmtree(hub / "model-output" / "Wide-band")
    path = hub / "hub-config" / "tasks.json"
    tasks = json.loads(path.read_text().replace("reference_date", "origin_date"))
    for block in tasks["rounds"][0]["model_tasks"]:
        del block["task_ids"]["target_end_date"]
    path.write_text(json.dumps(tasks))
    for file in (hub / "model-output").rglob("*.csv"):
        lines = [
            {k.replace("reference", "origin"): v for k, v in row.items() if k != "target_end_date"}
            for row in read_csv(file)
        ]
        write_csv(file, lines)
    found = blend_hub(hub, COUNT, LAST)
    assert "target_end_date" not in found.submission
    assert set(found.submission["origin_date"]) == {str(LAST)}
    assert found.scores[0].settled == first.scores[0].settled
    assert set(found.weights["model_id"]) == {"Good-arima", "Bad-guess"}
