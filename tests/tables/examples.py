"""Tables for tests, and a loop over a mixture that does what `blend` does."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from normalhedge import Mixture
from normalhedge.tables import Blend

Frame = dict[str, Any]


ROUNDS = 120


def wide(rounds: int = ROUNDS, series: int = 1, seed: int = 0, asleep: float = 0.2) -> Frame:
    """Return a table of three experts, sorted by time and then by series."""
    rng = np.random.default_rng(seed)
    rows = rounds * series
    y = rng.normal(size=(rounds, series)).cumsum(axis=0).ravel() * 10.0
    forecasts = y[:, np.newaxis] + rng.normal(size=(rows, 3)) * [1.0, 2.0, 5.0]
    forecasts[rng.random(forecasts.shape) < asleep] = np.nan
    return {
        "ds": np.repeat(np.arange(rounds), series),
        "unique_id": [f"s{k}" for _ in range(rounds) for k in range(series)],
        "y": y,
        **{name: forecasts[:, i] for i, name in enumerate(("gam", "ar", "naive"))},
    }


def values(result: Blend) -> np.ndarray:
    return np.array(result.frame["blend"], dtype=float)


def loop(table: Frame, lag: int, *, pooled: bool, **options: Any) -> np.ndarray:
    """Return what a loop over mixtures predicts: each series its own, or all in one."""
    names = ["gam", "ar", "naive"]
    groups = sorted(set(table["unique_id"]))
    found = np.full(len(table["y"]), np.nan)
    for group in [None] if pooled else groups:
        mixture = Mixture(**options)
        mixture.join(names)
        waiting: list[tuple[int, Any]] = []
        for time in np.unique(table["ds"]):
            rows = [
                k
                for k in np.flatnonzero(table["ds"] == time)
                if pooled or table["unique_id"][k] == group
            ]
            if len(waiting) > lag:
                mixture.update(*waiting.pop(0))
            if pooled:
                keys = [table["unique_id"][k] for k in rows]
                said: Any = {
                    name: {key: table[name][k] for key, k in zip(keys, rows, strict=True)}
                    for name in names
                }
                made = mixture.predict(said)
                found[rows] = [
                    np.nan if made.value[key] is None else made.value[key] for key in keys
                ]
                outcome: Any = {key: table["y"][k] for key, k in zip(keys, rows, strict=True)}
            else:
                made = mixture.predict({name: table[name][rows[0]] for name in names})
                found[rows] = np.nan if made.value is None else made.value
                outcome = float(table["y"][rows[0]])
            waiting.append((made.ticket, outcome))
    return found


def cross_validation() -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Return what Nixtla's `cross_validation` does: two series, 30 windows, three steps ahead."""
    rng = np.random.default_rng(3)
    rows = []
    truth = {key: rng.normal(size=40).cumsum() for key in ("a", "b")}
    days = pd.date_range("2024-01-01", periods=40)
    for key, y in truth.items():
        for window in range(30):
            for step in range(1, 4):
                at = window + step
                noise = rng.normal(size=2) * [0.1 * step, 1.0]
                rows.append([key, days[at], days[window], y[at], *(y[at] + noise)])
    names = ["unique_id", "ds", "cutoff", "y", "AutoARIMA", "Naive"]
    return pd.DataFrame(rows, columns=names), truth


def write(path: Path, table: Frame) -> Path:
    frame = pd.DataFrame(table)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path
