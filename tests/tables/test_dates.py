"""Times as dates."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from normalhedge.tables.frames import as_dates


@pytest.mark.parametrize(
    ("times", "name", "first"),
    [
        ([date(2024, 2, 29)], "ds", "2024-02-29"),
        ([datetime(2024, 2, 29, 13, 30)], "ds", "2024-02-29T13:30"),
        ([20240229, 20240301], "day", "2024-02-29"),
        (["2024-02-29", "2024-03-01"], "day", "2024-02-29"),
        ([date(2024, 2, 29).toordinal()], "ordinal_date", "2024-02-29"),
    ],
)
def test_dates_are_found(times: list[Any], name: str, first: str) -> None:
    found = as_dates(pa.array(times), name)
    assert found is not None
    assert found[0] == np.datetime64(first)


@pytest.mark.parametrize(
    ("times", "name"),
    [([1, 2], "ds"), ([20240231], "ds"), ([20241301], "ds"), (["week 1"], "ds"), ([0.5], "ds"),
     ([738945], "day"), ([20240229], None)],
)  # fmt: skip
def test_other_times_are_not_dates(times: list[Any], name: str | None) -> None:
    assert as_dates(pa.array(times), name) is None


def test_hours_are_those_of_the_clock_on_the_wall() -> None:
    noon = datetime(2024, 7, 1, 10, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin"))
    column = pa.array([noon], pa.timestamp("us", tz="Europe/Berlin"))
    found = as_dates(column, "ds")
    assert found is not None
    assert found[0] == np.datetime64("2024-07-01T12:00")
