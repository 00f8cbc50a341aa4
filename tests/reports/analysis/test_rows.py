"""Rows by hour, weekday and month."""

import pandas as pd
import pytest

from normalhedge.reports.analysis._rows import calendar


@pytest.mark.parametrize(
    ("periods", "freq", "titles"),
    [
        (24 * 200, "h", ["hour of the day", "weekday", "month"]),
        (30, "h", []),
        (365, "D", ["weekday", "month"]),
        (10, "D", []),
        (60, "W", ["month"]),
        (5, "YS", []),
        (40, "MS", ["month"]),
        (40, "B", ["weekday"]),
    ],
)
def test_groups_need_variation(periods: int, freq: str, titles: list[str]) -> None:
    dates = pd.date_range("2023-01-01", periods=periods, freq=freq).to_numpy()
    assert [grouping.title for grouping in calendar(dates)] == titles
