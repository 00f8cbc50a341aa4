"""Mixtures against river and against a loop over themselves."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from river import base, ensemble

from benchmarks.instructions import rounds_by_name
from benchmarks.timing import Row, measure
from normalhedge import Mixture, blend


class PassThrough(base.Regressor):  # type: ignore[misc]
    """A model of river's that says what a column says."""

    def __init__(self, column: str) -> None:
        self.column = column

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing."""

    def predict_one(self, x: Any) -> Any:
        """Return the column."""
        return x[self.column]


def by_name(n: int, goal: str, calls: int) -> Row:
    """Return the row of one predict and update by name, beside river's EWARegressor."""
    rng = np.random.default_rng(0)
    names = [f"expert {i}" for i in range(n)]
    days = [
        (dict(zip(names, row, strict=True)), y)
        for row, y in zip(
            rng.normal(size=(50, n)).tolist(), rng.normal(size=50).tolist(), strict=True
        )
    ]
    ours, mixture = cycle(days), Mixture("normal-hedge")
    theirs = cycle(days)
    model: Any = ensemble.EWARegressor([PassThrough(name) for name in names])

    def play_ours() -> None:
        said, outcome = next(ours)
        mixture.update(mixture.predict(said).ticket, outcome)

    def play_theirs() -> None:
        said, outcome = next(theirs)
        model.predict_one(said)
        model.learn_one(said, outcome)

    work = f"predict + update by name, {n:,} experts"
    return measure(work, play_ours, ("river EWARegressor", play_theirs), goal, calls=calls)


def panel(rounds: int, experts: int) -> dict[str, np.ndarray]:
    """Return a table of forecasts."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=rounds).cumsum()
    noise = rng.normal(size=(experts, rounds))
    return {
        "ds": np.arange(rounds),
        "y": y,
        **{f"m{i}": y + (1 + i / 10) * part for i, part in enumerate(noise)},
    }


def parquet(rounds: int = 100_000, experts: int = 50, part: int = 2_000) -> Iterator[Row]:
    """Yield Parquet to Parquet, beside the same with a loop over `Mixture`, timed on a part."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.parquet", Path(folder) / "out.parquet"
        few = Path(folder) / "few.parquet"
        table = pa.table(panel(rounds, experts))
        pq.write_table(table, data)
        pq.write_table(table.slice(0, part), few)

        def whole() -> None:
            table = pq.read_table(data)
            pq.write_table(blend(table, "y", time="ds", hedger="normal-hedge").frame, out)

        mixture = Mixture("normal-hedge")

        def loop() -> None:
            predictions = []
            for day in pq.read_table(few).to_pylist():
                outcome, _ = day.pop("y"), day.pop("ds")
                made = mixture.predict(day)
                mixture.update(made.ticket, outcome)
                predictions.append(made.value)
            pq.write_table(pa.table({"blend": predictions}), out)

        work = f"blend, {rounds:,} x {experts}, Parquet to Parquet"
        row = measure(work, whole, ("loop over Mixture", loop), "< 0.2 s", repeats=5)
        yield row._replace(reference_seconds=row.reference_seconds * rounds / part)


def automatic() -> Iterator[Row]:
    """Yield what hedging over ways of combining costs, beside a single rule."""
    for hedger in ("auto:inside=true", "auto"):
        for experts, items, goal in (
            (5, 0, "3 us"),
            (50, 0, "6 us"),
            (1000, 0, "80 us"),
            (8, 24, "60 us"),
        ):
            single = rounds_by_name("normal-hedge", experts, items)
            work = f"{hedger}, {items or 1} x {experts:,} experts"
            ours = rounds_by_name(hedger, experts, items)
            yield measure(work, ours, ("NormalHedge alone", single), goal, calls=100)
    table = pa.table(panel(100_000, 50))
    yield measure(
        "auto: blend, 100,000 x 50",
        lambda: blend(table, "y", time="ds"),
        ("NormalHedge alone", lambda: blend(table, "y", time="ds", hedger="normal-hedge")),
        ">= 0.067x",
        repeats=3,
    )


def rows() -> Iterator[Row]:
    """Yield the table of mixtures."""
    yield from automatic()
    yield by_name(5, ">= 3x", 2000)
    yield by_name(1_000, ">= 40x", 20)
    yield from parquet()


SERIES = """
import re, time
import numpy as np, pyarrow as pa
from normalhedge import blend
series, rounds, experts = 10_000, 100, 10
rng = np.random.default_rng(0)
y = rng.normal(size=series * rounds)
ids, days = np.repeat(np.arange(series), rounds), np.tile(np.arange(rounds), series)
columns = {f"m{i}": y + rng.normal(size=len(y)) for i in range(experts)}
table = pa.table({"unique_id": ids, "ds": days, "y": y, **columns})
del columns, ids, days
small = table.slice(0, 20 * rounds)
blend(small, "y", hedger="normal-hedge")
def memory(word):
    return 1024 * int(re.search(word + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before = memory("VmRSS")
start = time.perf_counter()
blend(table, "y", hedger="normal-hedge")
seconds = time.perf_counter() - start
print(seconds, (memory("VmHWM") - before + table.nbytes) / table.nbytes, table.nbytes / 2**20)
"""


def whole() -> Iterator[str]:
    """Yield many series at once, in time and memory."""
    out = subprocess.run(
        [sys.executable, "-c", SERIES], check=True, capture_output=True, text=True
    ).stdout.split()
    seconds, memory, size = (float(word) for word in out)
    yield (
        f"blend, 10,000 series x 100 rounds x 10 experts: {seconds:.2f} s (goal 1.2 s), peak "
        f"memory {memory:.1f}x the table of {size:.0f} MB, that included (goal 2.5x)"
    )
