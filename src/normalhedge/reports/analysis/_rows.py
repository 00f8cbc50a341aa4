"""The rows of a blend, each with its forecasts, its outcome, its time, its series and its step."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.tables import Blend
from normalhedge.tables.frames import as_dates, read_dates, to_arrow

STEP = re.compile(r"(?:^|\|)step (\d+)$")
"""The end of the name of an item, if forecasts are made several steps ahead."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

DAY = np.timedelta64(1, "D")


class Grouping(NamedTuple):
    """A way to divide rows into groups."""

    title: str  # such as ``hour of the day``
    labels: list[str]  # the name of each group, in the order in which to show them
    codes: np.ndarray  # the group of each row


@dataclass(frozen=True)
class BlendedRows:
    """The rows of the table of a blend, in the order of series and time."""

    models: list[str]  # the names of the models
    # Rows x parts x models; NaN where a model sleeps. Parts are classes or levels, mostly one.
    forecasts: Floats
    # values, outcomes: the forecasts of the blend, rows x parts, and the outcomes; NaN if there is
    # none
    values: Floats
    outcomes: Floats
    # items, rounds: the item of each row for the loss, and the number of its round
    items: np.ndarray
    rounds: np.ndarray
    # times, dated: the time of each row that the forecast is for: a date, a number or a word;
    # whether it is a date
    times: np.ndarray
    dated: bool
    series: Grouping  # the rows by series
    steps: Grouping | None  # the rows by steps ahead; None if there is one step only
    places: np.ndarray  # the place of each row in the frame of the blend

    @property
    def settled(self) -> np.ndarray:
        """Whether a row has an outcome and a forecast of the blend."""
        return ~np.isnan(self.outcomes) & ~np.isnan(self.values[:, 0])

    def awake_in(self, part: np.ndarray) -> np.ndarray:
        """Return whether each model made a forecast in some rows; rows x models."""
        return np.asarray((np.abs(self.forecasts[part]) < LARGEST).all(axis=1))


def rows_of(blend: Blend) -> BlendedRows:
    """Return the rows of a blend, without rows of earlier tables."""
    rounds, mixture = blend.rounds, blend.mixture
    plain, parts = len(mixture.settings.include), rounds.forecasts.shape[1]
    new = rounds.row_of >= 0
    place = slice(None) if new.all() else np.flatnonzero(new)
    numbers = np.repeat(rounds.offsets, np.diff(rounds.edges))
    arrays = rounds.forecasts, rounds.values, rounds.outcomes, rounds.items, rounds.row_of, numbers
    forecasts, values, outcomes, items, row, numbers = (array[place] for array in arrays)
    every = np.sort(np.concatenate([row, np.array(list(rounds.again), dtype=row.dtype)]))
    places = np.searchsorted(every, row)
    times, dated = _times(blend, places, rounds.base + numbers)
    series, steps = _series(mixture.items, items, ahead=blend.columns.cutoff is not None)
    return BlendedRows(
        list(mixture.names[plain:]), forecasts[:, :, plain:], values[:, :parts], outcomes, items,
        numbers, times, dated, series, steps, places,
    )  # fmt: skip


def _times(blend: Blend, places: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the time of each row, and whether it is a date; without times, the round's number."""
    name = blend.columns.time
    table: Any = read_dates(to_arrow(blend.frame)[0], blend.columns)[0]
    if name is None or name not in table.column_names or not len(places):
        return numbers, False
    pa = extras.require("pyarrow")
    column = table[name].combine_chunks()
    dates = as_dates(column, name)
    if dates is not None:
        return dates[places], True
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_numpy(zero_copy_only=False)[places], False
    words = np.array(column.cast(pa.string()).to_pylist(), dtype=object)
    return words[places], False


def _series(
    names: list[str], items: np.ndarray, *, ahead: bool
) -> tuple[Grouping, Grouping | None]:
    """Return the series and the step ahead of each row, from the names of the items."""
    there, codes = np.unique(items, return_inverse=True)
    whole = [names[k] for k in there]
    if not ahead:
        return Grouping("series", whole, codes), None
    hits = [STEP.search(name) for name in whole]
    starts = [name[: hit.start()] if hit else name for name, hit in zip(whole, hits, strict=True)]
    labels = list(dict.fromkeys(starts))
    places = {label: k for k, label in enumerate(labels)}
    of_item = np.array([places[start] for start in starts], dtype=np.int64)
    steps, step = np.unique([int(hit[1]) if hit else 1 for hit in hits], return_inverse=True)
    series = Grouping("series", labels, of_item[codes])
    if len(steps) < 2:
        return series, None
    return series, Grouping("steps ahead", [f"{k}" for k in steps], step[codes])


def calendar(dates: np.ndarray) -> list[Grouping]:
    """Return the rows by hour, weekday and month, as far as these vary over a longer time.

    Rows a day apart have no hours worth a comparison, and rows a month apart no weekdays.
    """
    if not len(dates):
        return []
    days = dates.astype("datetime64[D]")
    hours = ((dates - days) // np.timedelta64(1, "h")).astype(np.int64)
    weekdays = (days.astype(np.int64) + 3) % 7  # 1 January 1970 was a Thursday
    months = dates.astype("datetime64[M]").astype(np.int64) % 12
    distinct = np.unique(dates)
    span = (distinct[-1] - distinct[0]) / DAY
    gap = float(np.median(np.diff(distinct) / DAY)) if len(distinct) > 1 else np.inf
    groupings = []
    if span >= 2 and gap < 1:
        groupings.append(_present("hour of the day", [f"{h:02d}:00" for h in range(24)], hours))
    if span >= 14 and gap < 2:
        groupings.append(_present("weekday", list(WEEKDAYS), weekdays))
    if span >= 90 and gap < 100:
        groupings.append(_present("month", list(MONTHS), months))
    return [grouping for grouping in groupings if len(grouping.labels) > 1]


def _present(title: str, labels: list[str], codes: np.ndarray) -> Grouping:
    """Return a grouping without its empty groups."""
    there, place = np.unique(codes, return_inverse=True)
    return Grouping(title, [labels[k] for k in there], place)
