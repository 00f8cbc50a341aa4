"""Panels, mixtures and comparisons for the tests of summaries."""

from typing import Any

import numpy as np
import pyarrow as pa

from normalhedge import Mixture
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.summaries._comparison import Comparison, Line

NAMES = ("gam", "ar", "naive", "survey")


def numbers(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Return outcomes, and forecasts of whom one is awake always and the others often."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=rows).cumsum()
    x = y[:, None] + rng.normal(size=(rows, len(NAMES))) * [1.0, 2.0, 3.0, 1.5]
    x[:, 1:][rng.random((rows, 3)) < 0.2] = np.nan
    return y, x


def table_of(y: Floats, x: Floats, **more: Any) -> pa.Table:
    columns = {name: pa.array(x[:, i], from_pandas=True) for i, name in enumerate(NAMES)}
    return pa.table({**more, "y": y, **columns})


def fed(mixture: Mixture, y: Floats, x: Floats, **options: Any) -> Mixture:
    for outcome, row in zip(y, x, strict=True):
        said = dict(zip(NAMES, row.tolist(), strict=True))
        mixture.update(mixture.predict(said, **options).ticket, float(outcome))
    return mixture


def compared(rows: int, *losses: float, since: int | None = None) -> Comparison:
    names = ("blend", "plain mean", "plain median", "best expert")
    lines = tuple(Line(name, loss) for name, loss in zip(names, losses, strict=True))
    return Comparison("square", rows, since, rows, lines)
