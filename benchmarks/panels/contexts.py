"""``python -m benchmarks.panels.contexts``: the loss with the hour, weekday and month, or without.

Most panels number their times: these get dates, by their period. The losses of a series are divided
by the loss of its plain mean. All panels with hours are panels to judge on: ``--kind judge``.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels.bench import Panel, entries, load
from benchmarks.panels.scores import losses_of
from benchmarks.panels.sources import SOURCES
from benchmarks.panels.split import KINDS
from normalhedge import blend

PERIODS = {source.name: source.period for source in SOURCES} | {"shampoo": 12}
"""How many times make a season, by source; others are daily."""


def dates(times: pd.Series, first: int, period: int) -> np.ndarray:
    """Return dates for numbered times."""
    numbers = times.to_numpy() - first
    if period in {4, 12}:
        months = np.datetime64("1980-01", "M") + 12 // period * numbers
        return np.asarray(months.astype("datetime64[us]"))
    if period in {24, 48}:
        minutes = np.datetime64("1960-01-04T00:00", "m") + 1440 // period * numbers
        return np.asarray(minutes.astype("datetime64[us]"))
    days = numbers * (7 if period == 52 else 1)
    if period == 5:  # without weekends
        days = numbers // 5 * 7 + numbers % 5
    return np.asarray((np.datetime64("1960-01-04") + days).astype("datetime64[us]"))


def dated(panel: Panel) -> pd.DataFrame:
    """Return the table of a panel, with dates."""
    frame = panel.frame.copy()
    period = PERIODS.get(panel.name.rpartition("-h")[0], 1)
    first = frame["time"].min()
    for name in {"time", "cutoff"} & set(frame.columns):
        if not np.issubdtype(frame[name].dtype, np.datetime64):
            frame[name] = dates(frame[name], first, period)
    return frame


def error(panel: Panel, frame: pd.DataFrame, loss: str, **options: Any) -> float:
    """Return the mean loss of the blend, relative to the plain mean of each series."""
    known: dict[str, Any] = {"cutoff": "cutoff"} if "cutoff" in frame else {"lag": panel.lag}
    result = blend(
        frame, "y", panel.columns, "series", "time", loss=loss, **known, **options
    ).frame  # fmt: skip
    power = 2 if loss == "square" else 1
    mine = (result["blend"] - result["y"]).abs() ** power
    plain = (frame[panel.columns].mean(axis=1) - frame["y"]).abs() ** power
    scale = frame["series"].map(plain.groupby(frame["series"]).mean())
    return float((mine / scale).mean())


def main() -> None:
    """Print the change for each panel, and in the mean."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="develop", choices=(*KINDS, "all"))
    parser.add_argument("--hours", action="store_true", help="only panels that have hours")
    options = parser.parse_args()
    changes = []
    for entry in entries(options.kind):
        if options.hours and PERIODS.get(entry.source) not in {24, 48}:
            continue
        panel = load(entry)
        if panel.long:
            continue
        frame = dated(panel)
        for loss in losses_of(panel):
            ratio = error(panel, frame, loss) / error(panel, frame, loss, context=[])
            changes.append(ratio)
            print(f"{panel.name:24}{loss:10}{ratio - 1.0:+8.2%}", flush=True)
    mean = float(np.exp(np.mean(np.log(changes))))
    print(f"mean {mean - 1.0:+.2%}, worst {max(changes) - 1.0:+.2%}, "
          f"best {min(changes) - 1.0:+.2%}")  # fmt: skip


if __name__ == "__main__":
    main()
