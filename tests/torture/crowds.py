"""Names come and go: a million of them in bounded memory; and how long it takes to join."""

import inspect
import os
import time
from pathlib import Path

import numpy as np

from normalhedge.mixtures import Mixture
from tests.torture.result import Report, Result, isolated
from tests.torture.snapshot import amiss, unusable

PATIENCE = 60.0
LARGEST = 64 << 20
"""By how many bytes the process may grow after a tenth of the names."""


def _resident() -> int:
    """Return how many bytes this process has in memory."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _joined(count: int, *, by_predict: bool) -> str:
    """Return how long it takes that many names to join one by one."""
    mixture, start = Mixture(), time.monotonic()
    for k in range(count):
        if by_predict:
            mixture.update(mixture.predict({f"n{k}": 1.0}).ticket, 1.0)
        else:
            mixture.join([f"n{k}"])
        if k % 100 == 0 and time.monotonic() - start > PATIENCE:
            return f"only {k:,} of {count:,} joined in {PATIENCE:g} s"
    return f"{count:,} joined in {time.monotonic() - start:.2f} s"


def _pass_by(count: int, how: str, report: Report) -> None:
    """Let names come, play a round and go; report the memory."""
    options = {"forget_after": 20} if how == "forget_after" else {}
    mixture = Mixture(**options)  # type: ignore[arg-type, unused-ignore]
    early = 0
    start = time.monotonic()
    for k in range(count):
        made = mixture.predict({"a": 1.0, "b": 2.0, f"n{k}": 0.5})
        mixture.update(made.ticket, 1.0)
        if how == "leave":
            mixture.leave(f"n{k}")
        if k == count // 10:
            early = _resident()
        if k % 1000 == 0 and time.monotonic() - start > 10 * PATIENCE:
            report(f"only {k:,} of {count:,} passed by in {10 * PATIENCE:g} s")
            return
    grown = _resident() - early
    report(f"{grown / 1e6:.0f} MB more for {count:,} names" if grown > LARGEST else None)
    known = len(mixture.names)
    report(f"{known:,} names are still there" if known > 1000 else None)
    report(amiss(mixture) or unusable(mixture))


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Let a million names come and go, and 100,000 join one by one (a figure, not a fault)."""
    del rng
    result = Result("crowds")
    if not quick:
        result.notes.append("join: " + _joined(100_000, by_predict=False))
        result.notes.append("predict + update, a new name each: " + _joined(5_000, by_predict=True))
    else:
        result.notes.append("join: " + _joined(1_000, by_predict=False))
    ways = {
        "leave": hasattr(Mixture, "leave"),
        "forget_after": "forget_after" in inspect.signature(Mixture).parameters,
    }
    for how, there in ways.items():
        if not there:
            result.notes.append(f"{how} skipped: there is none yet")
            continue

        def work(start: int, report: Report, how: str = how) -> None:
            if not start:
                _pass_by(300 if quick else 1_000_000, how, report)

        isolated(result, how, work, 1200.0)
    return result
