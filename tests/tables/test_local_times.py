"""Times with their offset stay as they are, and dates with the day first are read, or refused."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from normalhedge import blend
from normalhedge.reports.analysis import review
from tests.cli.command import call

BERLIN = ZoneInfo("Europe/Berlin")
HOURS = 24 * 40
START = datetime(2024, 3, 20, tzinfo=UTC)  # the clock changes on 31 March
INSTANTS = [START + timedelta(hours=k) for k in range(HOURS)]
LOCAL = [instant.astimezone(BERLIN) for instant in INSTANTS]


def table(times: Any) -> pa.Table:
    rows, rng = len(times), np.random.default_rng(0)
    y = rng.normal(size=rows).cumsum()
    return pa.table({"ds": times, "y": y, "a": y + rng.normal(size=rows), "b": y + 1.0})


def written(form: str, days: int, start: str = "2024-11-25") -> list[str]:
    return [f"{day:{form}}" for day in pd.date_range(start, periods=days)]


@pytest.mark.parametrize("of_python", [True, False])
def test_offsets_come_out_as_they_went_in(
    of_python: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [time.isoformat() for time in LOCAL]
    if of_python:
        result = blend(table(texts).to_pandas(), "y")
        assert result.frame["ds"].tolist() == texts
        notes = "; ".join(result.notes)
    else:
        pa.csv.write_csv(table(texts), tmp_path / "data.csv")
        code, _, notes = call(
            capsys, "blend", str(tmp_path / "data.csv"), "--out", str(tmp_path / "out.csv"),
            "--report", str(tmp_path / "page.html"),
        )  # fmt: skip
        assert code == 0
        lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
        assert [line.split(",")[0].strip('"') for line in lines] == texts
        page = (tmp_path / "page.html").read_text()
        assert "by hour of the day, in the local time of UTC+01:00 and UTC+02:00" in page
    assert "times of ds are in UTC+01:00 and UTC+02:00" in notes


def test_hours_are_local_and_rounds_in_the_order_of_time() -> None:
    by_zone = blend(table(pa.array(LOCAL, pa.timestamp("us", "Europe/Berlin"))), "y")
    by_offset = blend(table([time.isoformat() for time in LOCAL]), "y")
    assert by_zone.frame["blend"].to_pylist() == by_offset.frame["blend"].to_pylist()
    for result in (by_zone, by_offset):
        found = review(result)
        hours = dict(found.groups)["hour of the day"]
        counts = dict(zip(hours.labels, hours.counts[:, 0].tolist(), strict=True))
        assert counts == {f"{h:02d}:00": sum(t.hour == h for t in LOCAL) for h in range(24)}
    assert review(by_zone).zone == "Europe/Berlin"


def test_csv_has_the_times_of_a_place_with_their_offset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table(pa.array(LOCAL, pa.timestamp("ns", "Europe/Berlin")))
    pa.parquet.write_table(frame, tmp_path / "data.parquet")
    out = tmp_path / "out.csv"
    assert call(capsys, "blend", str(tmp_path / "data.parquet"), "--out", str(out))[0] == 0
    times = [line.split(",")[0].strip('"') for line in out.read_text().splitlines()[1:]]
    assert times == [time.isoformat() for time in LOCAL]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y 06:30", "%m/%d/%Y"])
def test_dates_are_read_if_every_row_agrees(form: str) -> None:
    days = written("%Y-%m-%d 06:30", 60)
    expected = blend(table(days), "y").frame["blend"].to_pylist()
    order = np.random.default_rng(1).permutation(60)
    shuffled = table(written(form, 60)).to_pandas().assign(
        **{name: table(days)[name].to_numpy() for name in ("y", "a", "b")}
    ).iloc[order]  # fmt: skip
    result = blend(shuffled, "y")
    assert result.frame["ds"].tolist() == shuffled["ds"].tolist()
    assert result.frame["blend"].tolist() == [expected[k] for k in order]
    first = "month first" if form.startswith("%m") else "day first"
    assert any(f"ds: {first}, " in note for note in result.notes)
    assert [label for label, _ in review(result).groups] == ["weekday"]


def test_ambiguous_dates_are_refused_with_both_readings() -> None:
    frame = table(written("%d.%m.%Y", 8, "2024-02-01"))
    with pytest.raises(ValueError, match="ambiguous") as caught:
        blend(frame, "y")
    assert "01.02.2024 is 1 February 2024 with the day first" in str(caught.value)
    assert "2 January 2024 with the month first" in str(caught.value)
    days = blend(frame, "y", dayfirst=True)
    assert days.when[-1] == datetime(2024, 2, 8)
    months = blend(frame, "y", dayfirst=False)
    assert months.when[-1] == datetime(2024, 8, 2)


def test_dates_of_one_reading_need_no_word() -> None:
    assert blend(table(["01.01.2024", "02.02.2024"]), "y").when[-1] == datetime(2024, 2, 2)


@pytest.mark.parametrize(
    ("dates", "options", "words"),
    [
        (["31.12.2024", "12.31.2024"], {}, "neither with the day first nor with the month first"),
        (["30.02.2024", "31.02.2024"], {}, "neither with the day first"),
        (["31.12.2024", "30.12.2024"], {"dayfirst": False}, "not all of them are dates with the"),
        (["31.12.24", "30.12.24"], {}, "write them as 2024-09-30"),
    ],
)
def test_other_dates_are_refused(dates: list[str], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        blend(table(dates), "y", **options)


def test_the_future_is_read_as_the_past() -> None:
    past = blend(table(written("%d.%m.%Y", 40)), "y")  # until 3 January 2025
    future = past.predict(table(["04.01.2025", "05.01.2025"]).drop_columns(["y"]))
    assert future["ds"].to_pylist() == ["04.01.2025", "05.01.2025"]
    with pytest.raises(ValueError, match="it must come after them"):
        past.predict(table(["01.12.2024"]))


def test_the_command_says_which_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, state, out = (tmp_path / name for name in ("data.csv", "state.json", "out.csv"))
    pa.csv.write_csv(table(written("%d.%m.%Y", 8, "2024-02-01")), data)
    words = ["blend", str(data), "--state", str(state), "--out", str(out)]
    code, _, error = call(capsys, *words)
    assert code == 2
    assert "--dayfirst or --monthfirst" in error
    assert not state.exists()
    assert not out.exists()
    code, _, error = call(capsys, *words, "--dayfirst")
    assert code == 0
    assert "ds: day first, 01.02.2024 is 1 February 2024" in error
    assert "01.02.2024" in out.read_text()
