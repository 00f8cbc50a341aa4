"""``python -m benchmarks.latent.beside PYTHON``: live objects beside those of another version.

PYTHON is an interpreter that has the other version. Both run the same work in turns, each in a
process of its own, so that a noisy machine is noisy to both.
"""

import copy
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import cycle
from typing import NamedTuple

import numpy as np

from normalhedge import NormalHedge
from normalhedge.latent import (
    HedgedTracker,
    Regimes,
    StateExperts,
    infer,
    random_categorical_bank,
)

REPEATS = 15


def jitter(paths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add noise to paths."""
    return paths + 0.3 * rng.normal(size=paths.shape)


class Work(NamedTuple):
    """A call that is timed, how often at a time, and what is done before."""

    calls: int
    act: Callable[[], object]
    prepare: Callable[[], object] = bool


def works() -> dict[str, Work]:
    """Return what is timed, by name."""
    rng = np.random.default_rng(0)
    wild = np.cumsum(rng.random(4_000) < 0.02) % 2
    seen = rng.normal(0.0, np.where(wild, 2.2, 0.7))
    numbers, places = cycle(seen.tolist()), cycle(np.cumsum(seen).tolist())
    counts = rng.poisson(2.0 + 4.0 * wild)
    regimes = Regimes()
    regimes.run(seen[:1_001])
    live = [regimes]

    def copied() -> None:  # to stay between two reviews
        live[0] = copy.deepcopy(regimes)

    linear = HedgedTracker()
    start = rng.normal(size=(200, 1))
    paths = HedgedTracker(start, lambda p: 0.99 * p, jitter, rng=1)
    symbols = cycle(rng.integers(2, size=999).tolist())
    bank = random_categorical_bank(100, 4, 2, rng)
    hedged = StateExperts(bank, NormalHedge(memory=1_000))
    return {
        "Regimes.observe": Work(45, lambda: live[0].observe(next(numbers)), copied),
        "Regimes.observe, missing": Work(45, lambda: live[0].observe(None), copied),
        "Regimes.predict": Work(20, regimes.predict),
        "Regimes.run, 1,000 rounds": Work(1, lambda: Regimes().run(seen[:1_000])),
        "infer, 800 numbers": Work(1, lambda: infer(seen[:800])),
        "infer, 400 counts": Work(1, lambda: infer(counts[:400])),
        "HedgedTracker.observe": Work(100, lambda: linear.observe(next(places))),
        "HedgedTracker.observe, 200 paths": Work(100, lambda: paths.observe(next(places))),
        "StateExperts.observe, 400 states": Work(500, lambda: hedged.observe(next(symbols))),
    }


def work() -> None:
    """Time what the lines of stdin name, and print the seconds of one call."""
    known = works()
    for line in sys.stdin:
        calls, act, prepare = known[line.strip()]
        prepare()
        begun = time.process_time()
        for _ in range(calls):
            act()
        print((time.process_time() - begun) / calls, flush=True)


def main(other: str) -> None:
    """Print the time of each work in both versions, and the ratio."""
    both = [
        subprocess.Popen(
            [python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for python in (other, sys.executable)
    ]
    print(f"{'':36s}{'other':>12s}{'this':>12s}{'ratio':>8s}")
    for name in works():
        seconds: list[list[float]] = [[], []]
        for _ in range(REPEATS):
            for process, times in zip(both, seconds, strict=True):
                assert process.stdin is not None
                assert process.stdout is not None
                print(name, file=process.stdin, flush=True)
                times.append(float(process.stdout.readline()))
        before, now = (statistics.median(times) for times in seconds)
        print(f"{name:36s}{1e6 * before:9.1f} us{1e6 * now:9.1f} us{now / before:8.2f}", flush=True)
    for process in both:
        process.communicate()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        work()
