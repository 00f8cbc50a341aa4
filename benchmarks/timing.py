"""Two things measured in turns, so that a noisy machine is noisy to both."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the table: ours beside a reference of the same run."""

    work: str
    reference: str
    reference_seconds: float
    seconds: float
    goal: str

    @property
    def ratio(self) -> float:
        """How many times faster than the reference."""
        return self.reference_seconds / self.seconds

    def __str__(self) -> str:
        """Return the line."""
        times = f"{_time(self.reference_seconds):>10} {_time(self.seconds):>10}"
        return f"{self.work:<42} {self.reference:<22} {times} {self.ratio:>8.2f}x   {self.goal}"


HEADER = f"{'work':<42} {'reference':<22} {'reference':>10} {'ours':>10} {'ratio':>9}   goal"


def measure(
    work: str,
    ours: Callable[[], object],
    reference: tuple[str, Callable[[], object]],
    goal: str,
    *,
    calls: int = 1,
    reference_calls: int | None = None,
    repeats: int = 15,
) -> Row:
    """Time batches of calls in turns; the medians of the seconds for one call."""
    name, other = reference
    seconds: tuple[list[float], list[float]] = ([], [])
    for function in (other, ours):
        function()  # load, touch the memory
    for _ in range(repeats):
        seconds[0].append(_batch(other, reference_calls or calls))
        seconds[1].append(_batch(ours, calls))
    return Row(work, name, statistics.median(seconds[0]), statistics.median(seconds[1]), goal)


def _batch(function: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"
