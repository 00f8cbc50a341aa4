"""Quantile forecasts for tests, in every layout."""

from statistics import NormalDist

import numpy as np
import pandas as pd

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MODELS = {"gam": (0.0, 1.0), "ar": (1.0, 1.5), "naive": (-2.0, 3.0)}
"""The bias and the spread of each model."""


def wide(rounds: int = 40, series: int = 1, seed: int = 0, asleep: float = 0.0) -> pd.DataFrame:
    """Return a row for each model, time and series, and a column for each level."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(rounds):
        for s in range(series):
            y = rng.normal()
            for name, (bias, spread) in MODELS.items():
                middle = bias + 0.3 * rng.normal()
                if rng.random() >= asleep:
                    own = [middle + spread * NormalDist().inv_cdf(level) for level in LEVELS]
                    rows.append((t, f"s{s}", y, name, *own))
    return pd.DataFrame(rows, columns=["ds", "unique_id", "y", "model", *columns()])


def columns() -> list[str]:
    return [f"q{level:g}" for level in LEVELS]


def as_long(table: pd.DataFrame, level: str = "level") -> pd.DataFrame:
    """Return a row for each level, shuffled."""
    index = [name for name in table if name not in columns()]
    found = table.melt(id_vars=index, var_name=level, value_name="value")
    found[level] = found[level].str[1:].astype(float)
    return found.sample(frac=1.0, random_state=1).reset_index(drop=True)


def as_nixtla(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each time and series, with the columns of Nixtla's libraries."""
    found = table.pivot(index=["unique_id", "ds", "y"], columns="model", values=columns())
    names = {0.05: "-lo-90", 0.25: "-lo-50", 0.5: "", 0.75: "-hi-50", 0.95: "-hi-90"}
    found.columns = pd.Index([model + names[float(q[1:])] for q, model in found.columns])
    ordered = [m + names[x] for m in MODELS for x in (0.5, 0.25, 0.05, 0.75, 0.95)]
    return found[ordered].reset_index()
