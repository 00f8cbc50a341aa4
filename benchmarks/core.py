"""The core against straightforward NumPy, through the public functions, validation included."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row, measure
from normalhedge import NormalHedge
from normalhedge.boundary import threads
from normalhedge.boundary.inputs import Floats

ALPHA, C = 0.001, 4.0


def numpy_step(weights: Floats, regrets: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """NormalHedge as anybody would write it in NumPy."""
    gain = weights @ gains
    regrets = (1.0 - ALPHA) * regrets + gains - gain
    positive = np.maximum(regrets, 0.0)
    exponents = ALPHA * positive**2 / (2.0 * C)
    weights = positive * np.exp(exponents - exponents.max())
    total = weights.sum()
    if total == 0.0:
        return np.full(len(regrets), 1.0 / len(regrets)), regrets
    return weights / total, regrets


class NumpyGame:
    """A game of `numpy_step`, round by round on the rows of an array."""

    def __init__(self, gains: Floats) -> None:
        self.gains = gains
        self.round = 0
        n = gains.shape[1]
        self.weights, self.regrets = np.full(n, 1.0 / n), np.zeros(n)

    def __call__(self) -> None:
        """Play a round."""
        row = self.gains[self.round % len(self.gains)]
        self.weights, self.regrets = numpy_step(self.weights, self.regrets, row)
        self.round += 1


class OurGame:
    """The same of `NormalHedge.step`."""

    def __init__(self, gains: np.ndarray, *, in_place: bool) -> None:
        self.gains = gains
        self.round = 0
        self.in_place = in_place
        self.hedger = NormalHedge(ALPHA, C)
        self.state = self.hedger.init(gains.shape[1])

    def __call__(self) -> None:
        """Play a round."""
        row = self.gains[self.round % len(self.gains)]
        self.state = self.hedger.step(self.state, row, in_place=self.in_place)
        self.round += 1


def coins(rounds: int, n: int) -> Floats:
    """Gains of fair coins."""
    return np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (rounds, n))


def few_ahead(rounds: int, n: int) -> Floats:
    """Return gains with which one expert of a hundred is ahead, and the others fall behind."""
    gains = np.random.default_rng(0).choice(np.array([-1.0, 0.0]), (rounds, n))
    gains[:, ::100] = 1.0
    return gains


def rows() -> Iterator[Row]:
    """Yield the table of the core."""
    for n, in_place, goal, calls in (
        (10, False, ">= 10x", 5000),
        (1_000, False, ">= 8x", 2000),
        (10, True, ">= 15x", 5000),
        (1_000, True, ">= 10x", 2000),
        (100_000, True, ">= 7x", 20),
        (1_000_000, True, "", 10),
    ):
        gains = coins(max(2, 2000 // n), n)
        work = f"{'in-place step' if in_place else 'step'}, N = {n:,}"
        ours, reference = OurGame(gains, in_place=in_place), NumpyGame(gains)
        yield measure(work, ours, ("NumPy step", reference), goal, calls=calls)
    for n, goal, calls in ((1_000, "", 2000), (100_000, "", 20)):
        gains = few_ahead(max(2, 2000 // n), n)
        ours, reference = OurGame(gains, in_place=True), NumpyGame(gains)
        work = f"in-place step, N = {n:,}, 1 % ahead"
        yield measure(work, ours, ("NumPy step", reference), goal, calls=calls)
    yield bare_pass()
    for dtype in (np.float64, np.int8):
        yield whole_run(coins(10_000, 1_000).astype(dtype), ">= 16x")
    yield whole_run(few_ahead(10_000, 1_000), ">= 40x", ", 1 % ahead")
    yield whole_run(coins(1_000_000, 10), ">= 200x")


def _bare(regrets: Floats, gains: Floats) -> None:
    """Read two arrays and write one, as ``R <- (1 - alpha) R + g`` does."""
    np.add(regrets, gains, out=regrets)


def bare_pass() -> Row:
    """Return the row of ten million experts beside one pass over their memory, on all cores."""
    n = 10_000_000
    gains = coins(2, n)
    regrets = np.zeros(n)
    parts = [slice(start, start + (1 << 17)) for start in range(0, n, 1 << 17)]
    pieces = [(regrets[part], gains[0][part]) for part in parts]

    def one_pass() -> None:
        threads.spread(_bare, pieces)

    ours = OurGame(gains, in_place=True)
    return measure(
        f"in-place step, N = {n:,}", ours, ("R += g, on all cores", one_pass), ">= 0.286x", calls=3
    )


def whole_run(gains: np.ndarray, goal: str, of: str = "") -> Row:
    """Return the row of a whole game beside a loop over `numpy_step`, timed on a part of it."""
    rounds, n = gains.shape
    hedger = NormalHedge(ALPHA, C)
    row = measure(
        f"run, {rounds:,} x {n:,}{of}, {gains.dtype}",
        lambda: hedger.run(gains),
        ("NumPy loop", NumpyGame(gains[:5000].astype(np.float64))),
        goal,
        reference_calls=5000,
        repeats=9,
    )
    return row._replace(reference_seconds=row.reference_seconds * rounds)


START_UP = """
import time
start = time.process_time(); import numpy
others = time.process_time(); import normalhedge
ours = time.process_time()
mixture = normalhedge.Mixture()
mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, 1.5)
print(others - start, ours - others, time.process_time() - ours)
"""


def start_up() -> Iterator[str]:
    """Yield what a new process without any cache pays before its first round."""
    with tempfile.TemporaryDirectory() as home:
        for what in ("first process ever", "next process"):
            out = subprocess.run(
                [sys.executable, "-c", START_UP],
                env={**os.environ, "HOME": home, "XDG_CACHE_HOME": home},
                capture_output=True,
                text=True,
                check=True,
            )
            others, ours, first = (float(word) for word in out.stdout.split())
            yield (
                f"{what:<20} CPU seconds: numpy {others:.2f}, normalhedge {ours:.2f}, first "
                f"predict and update {first:.3f} (goal: 0.4 beyond numpy)"
            )
