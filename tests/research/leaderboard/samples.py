"""Small settings and a small panel for the tests of the leaderboard."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from normalhedge.research.leaderboard._yardsticks import ContestSettings

SMALL = ContestSettings(alpha=0.1, experts=6, rounds=120, runs=3, quantile=0.5, switches=2)


def panel_file(path: Path, rows: int = 40) -> Path:
    rng = np.random.default_rng(0)
    y = rng.normal(size=rows)
    forecasts = {
        name: y + rng.normal(0, s, rows) for name, s in zip("abc", (1, 0.5, 2), strict=True)
    }
    forecasts["c"][::3] = math.nan
    columns = {name: pa.array(values, from_pandas=True) for name, values in forecasts.items()}
    series = np.where(np.arange(rows) % 2 == 0, "one", "two")
    table = pa.table({"day": np.arange(rows) // 2, "series": series, "y": y, **columns})
    pyarrow.csv.write_csv(table, path)
    return path
