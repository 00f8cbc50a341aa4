"""The panels by name: made once, then read from ``out/panels``.

When a source or a model has changed, delete the files of its panels there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from benchmarks.panels import hubs, rolling
from benchmarks.panels.sources import SOURCES
from benchmarks.panels.split import kind
from normalhedge.boundary.whole_files import write_whole

OUT = Path(__file__).parents[2] / "out" / "panels"
"""Where panels are kept, and the picture is."""

KEYS = ("series", "time", "cutoff", "y", "model")
"""The columns that hold no forecasts."""


@dataclass(frozen=True)
class Entry:
    """What is known of a panel before it is made.

    Attributes
    ----------
    source, horizon
        Where the series come from, which is what the split goes by; how many steps ahead is
        forecast.
    lag
        For how many further rounds an outcome stays unknown.
    make
        Makes the panels of the source: a table for each of some horizons.
    """

    source: str
    horizon: int
    lag: int
    make: Callable[[], dict[int, pd.DataFrame]]

    @property
    def name(self) -> str:
        """What the panel is called."""
        return f"{self.source}-h{self.horizon}"

    @property
    def kind(self) -> str:
        """Whether to develop or to judge on it."""
        return kind(self.source)


@dataclass(frozen=True)
class Panel:
    """Forecasts of experts, and the outcomes.

    Attributes
    ----------
    name, lag
        See `Entry`.
    frame
        ``series``, ``time`` of the outcome, ``y``, and a column for each expert, empty where it
        sleeps. With ``cutoff``, the time at which the forecasts were made, outcomes are known by
        date. Class probabilities are long: a row for each ``model``, and a column for each class.
    """

    name: str
    lag: int
    frame: pd.DataFrame

    @cached_property
    def columns(self) -> list[str]:
        """The columns of forecasts: experts, or classes where the table is long."""
        return [str(name) for name in self.frame.columns if name not in KEYS]

    @property
    def long(self) -> bool:
        """Whether forecasts are class probabilities."""
        return "model" in self.frame

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many rows (of one series and time), experts and series there are."""
        series = self.frame["series"].nunique()
        if not self.long:
            return len(self.frame), len(self.columns), series
        rows = len(self.frame[["series", "time"]].drop_duplicates())
        return rows, self.frame["model"].nunique(), series


def entries(which: str = "all") -> list[Entry]:
    """Return the panels to develop on, to judge on, or all."""
    return [entry for entry in _all() if which in {"all", entry.kind}]


def _all() -> Iterator[Entry]:
    for name, readers in hubs.READERS.items():
        for horizon, read in readers.items():
            # Of FluSight the outcome of horizon 0 is known at the next date only: see `hubs`.
            lag = horizon if name == "flusight" else horizon - 1
            yield Entry(name, horizon, lag, partial(_alone, horizon, read))
    for source in SOURCES:
        for horizon in source.horizons:
            yield Entry(source.name, horizon, horizon - 1, partial(rolling.panels, source))


def _alone(horizon: int, read: Callable[[], pd.DataFrame]) -> dict[int, pd.DataFrame]:
    return {horizon: read()}


def load(entry: Entry, folder: Path = OUT) -> Panel:
    """Return a panel; where it must be made, all panels made with it are kept, too."""
    path = folder / f"{entry.name}.parquet"
    if not path.is_file():
        for horizon, frame in entry.make().items():
            other = folder / f"{entry.source}-h{horizon}.parquet"
            write_whole(other, partial(frame.to_parquet, index=False))
    return Panel(entry.name, entry.lag, pd.read_parquet(path))
