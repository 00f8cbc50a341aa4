"""Log wealth on old stocks of the New York exchange: ``python -m benchmarks.portfolios``.

36 stocks, 5651 days from 1962 to 1984, the data of Cover (1991) and of Helmbold, Schapire, Singer
and Warmuth (1998). They come with the wheel of universal-portfolios, of which nothing is imported:
``pip install --no-deps universal-portfolios``. Costs of trading are not counted, and every rule
here trades every day.
"""

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from normalhedge import blend
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.losses import LogWealth
from normalhedge.mixtures.summaries._best_convex import best_convex

MEMORIES = (20, 100, 500, 2500)

RULES = (
    "normal-hedge",
    "hedge",
    "ada-hedge",
    "squint",
    "boa",
    "ml-poly",
    "ml-poly-opera",
    "coin-betting",
    "fixed-share",
)
"""Rules that are run by themselves, with the gradient trick."""

RATE = 0.05
"""The learning rate that Helmbold et al. take for EG."""


def relatives() -> Floats | None:
    """Return by what each stock was multiplied on each day; none where the wheel is not there."""
    found = find_spec("universal")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "data" / "nyse_o.csv"
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        prices = np.array([[float(cell) for cell in line] for line in lines])
    before = np.vstack([np.ones(prices.shape[1]), prices[:-1]])
    return np.asarray(prices / before)


def exponentiated_gradient(days: Floats, rate: float = RATE) -> float:
    """Return the wealth of EG: ``w_i <- w_i exp(rate x_i / w.x) / Z``."""
    weights, wealth = np.full(days.shape[1], 1.0 / days.shape[1]), 1.0
    for day in days:
        grown = float(weights @ day)
        wealth *= grown
        weights = weights * np.exp(rate * day / grown)
        weights /= weights.sum()
    return wealth


def best_rebalanced(days: Floats) -> tuple[float, float]:
    """Return the wealth of the best constant portfolio in hindsight, and by what it may be less."""
    told = np.ones(len(days)), np.zeros(len(days), dtype=np.int32)
    found = best_convex(LogWealth(), np.ascontiguousarray(days[:, np.newaxis]), *told)
    least, most = -found.loss * len(days), (found.gap - found.loss) * len(days)
    return float(np.exp(least)), float(np.exp(most))


def wealth(days: Floats, **options: Any) -> float:
    """Return what a blend of the stocks is worth in the end."""
    names = [f"stock {i}" for i in range(days.shape[1])]
    table = pa.table({"cash": np.ones(len(days)), **dict(zip(names, days.T, strict=True))})
    options = {"loss": "log-wealth"} | options
    made = blend(table, target="cash", experts=names, **options)
    return float(np.exp(np.log(made.frame["blend"].to_numpy()).sum()))


def lines() -> Iterator[str]:
    """Yield what one dollar becomes."""
    days = relatives()
    if days is None:
        yield "\nnyse_o is not here: pip install --no-deps universal-portfolios"
        return
    least, most = best_rebalanced(days)
    yield f"\nnyse_o, {days.shape[1]} stocks, {len(days)} days: what 1 becomes"
    yield f"all stocks evenly, every day    {np.prod(days.mean(axis=1)):8.2f}"
    yield f"EG, rate {RATE}                   {exponentiated_gradient(days):8.2f}"
    yield f"the best stock                  {days.prod(axis=0).max():8.2f}   in hindsight"
    yield f"the best fixed weights          {least:8.2f}   in hindsight, none above {most:.2f}"
    yield f"blend, as it is by default      {wealth(days):8.2f}"
    yield "by the memory, in days        " + "".join(f"{memory:10}" for memory in MEMORIES)
    for name in RULES:
        found = [wealth(days, hedger=f"{name}:alpha={1 / memory}") for memory in MEMORIES]
        yield f"{name:<30}" + "".join(f"{value:10.2f}" for value in found)


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
