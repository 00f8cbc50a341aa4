"""Target data of other hubs: columns are found by their names, or named."""

import re
from pathlib import Path

import pytest

from normalhedge.tables.hubs import HubBlend, blend_hub
from tests.tables.hubs.examples import COUNT, LAST, make_hub, read_csv, write_csv


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


def rename(hub: Path, **names: str) -> Path:
    """Give columns of the target data other names."""
    path = hub / "target-data" / "target-toy-admissions.csv"
    write_csv(path, [{names.get(k, k): v for k, v in row.items()} for row in read_csv(path)])
    return path


def same(first: HubBlend, second: HubBlend) -> bool:
    return first.submission == second.submission and first.weights == second.weights


@pytest.mark.parametrize("name", ["truth_date", "week_end_date", "target_end_date", "ending on"])
def test_the_column_of_dates_is_found(hub: Path, name: str) -> None:
    plain = blend_hub(hub, COUNT, LAST)
    rename(hub, date=name)
    assert same(blend_hub(hub, COUNT, LAST), plain)


def test_columns_are_named(hub: Path) -> None:
    plain = blend_hub(hub, COUNT, LAST)
    path = rename(hub, date="week", location="state", value="cases")
    write_csv(path, [{**row, "entered": row["week"]} for row in read_csv(path)])
    notes = blend_hub(hub, COUNT, LAST).notes
    text = "it has no column of dates, but week, state, cases, weekly_rate, entered: name the"
    assert any(note.startswith(f"no outcomes of {COUNT}") and text in note for note in notes)
    columns = {"target_end_date": "week", "observation": "cases", "location": "state"}
    assert same(blend_hub(hub, COUNT, LAST, columns=columns), plain)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"day": "date"}, "unknown name of a column 'day'"),
        ({"observation": "valu"}, "unknown column of target-data 'valu': did you mean value?"),
    ],
)
def test_columns_that_do_not_exist_are_refused(
    hub: Path, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        blend_hub(hub, COUNT, LAST, columns=columns)


def test_each_missing_column_is_named(hub: Path) -> None:
    path = rename(hub, value="cases")
    notes = "\n".join(blend_hub(hub, COUNT, LAST).notes)
    assert f"target-data/{path.name}: it has no column of values, but date, location" in notes
    rename(hub, cases="value", location="place")
    notes = "\n".join(blend_hub(hub, COUNT, LAST).notes)
    assert "it has no column location, but date, place, value" in notes


def test_cells_that_are_no_numbers_are_missing(hub: Path) -> None:
    path = hub / "target-data" / "target-toy-admissions.csv"
    lines = read_csv(path)
    write_csv(
        path, [{**row, "value": "" if k % 7 == 0 else row["value"]} for k, row in enumerate(lines)]
    )
    plain = blend_hub(hub, COUNT, LAST)
    write_csv(
        path,
        [{**row, "value": "<5" if k % 7 == 0 else row["value"]} for k, row in enumerate(lines)],
    )
    found = blend_hub(hub, COUNT, LAST)
    assert same(found, plain)
    assert any(
        "value must be a number, it is '<5'; such rows are left out" in n for n in found.notes
    )


def test_outcomes_of_other_days_are_noticed(hub: Path) -> None:
    path = hub / "target-data" / "target-toy-admissions.csv"
    weeks = [{**row, "date": row["date"].replace("-02-", "-03-")} for row in read_csv(path)]
    write_csv(path, [{**row, "date": f"1{row['date'][1:]}"} for row in weeks])
    notes = "\n".join(blend_hub(hub, COUNT, LAST).notes)
    assert f"none of the 42 outcomes of {COUNT} in target-data/{path.name} belongs to" in notes
    assert "the last outcome is of '1024-" in notes


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"date,value\n"])
def test_a_file_that_cannot_be_read_is_named(hub: Path, data: bytes) -> None:
    path = hub / "target-data" / "target-toy-admissions.csv"
    path.write_bytes(data)
    notes = "\n".join(blend_hub(hub, COUNT, LAST).notes)
    assert f"no outcomes of {COUNT} (quantile) are known, so the blend is a plain" in notes
    assert f"target-data/{path.name}: it " in notes
