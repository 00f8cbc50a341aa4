"""Eight threads on one mixture: no errors, and every update counts once."""

import copy
import pickle
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from threading import Thread

import numpy as np

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state.sum_rows import STEPS
from tests.torture.result import Report, Result, isolated, one_line
from tests.torture.snapshot import amiss

THREADS = 8
CALLS = ("round", "round", "round", "join", "summary", "deepcopy", "pickle", "save", "load")


def _call(what: str, mixture: Mixture, k: int, path: Path) -> str | None:
    """Do one thing to a mixture; return what is wrong, or None."""
    found: Mixture | None = None
    if what == "round":
        made = mixture.predict({"a": 1.0 + k % 3, "b": 2.0, "c": 0.5 * (k % 5)})
        mixture.update(made.ticket, 1.5)
    elif what == "join":
        mixture.join([f"n{k % 50}"])
    elif what == "summary":
        str(mixture.summary())
    elif what == "deepcopy":
        found = copy.deepcopy(mixture)
    elif what == "pickle":
        found = pickle.loads(pickle.dumps(mixture))
    elif what == "save":
        mixture.save(path)
    elif path.exists():
        found = Mixture.load(path)
    return None if found is None else _apart(found)


def _apart(found: Mixture) -> str | None:
    """Return what is wrong with a copy: it is one of a moment between two calls."""
    steps = int(found.live.total_sums[STEPS])
    if steps + len(found.pending) != found.rounds or found.rounds != found.next_ticket:
        said = f"{found.rounds} rounds, {steps} steps, {len(found.pending)} pending"
        return f"a copy in the middle of a call: {said}, next ticket {found.next_ticket}"
    return amiss(found)


class Worker(Thread):
    """Calls a mixture at random; keeps what went wrong, and counts its rounds."""

    def __init__(self, mixture: Mixture, calls: tuple[str, ...], seed: list[int], path: Path):
        super().__init__(daemon=True)
        self.mixture, self.calls, self.path = mixture, calls, path
        self.rng = np.random.default_rng(seed)
        self.tried = Counter[str]()
        self.wrong: list[str] = []
        self.end = 0.0

    def run(self) -> None:
        """Call until the time is over."""
        while time.monotonic() < self.end:
            what = self.calls[int(self.rng.integers(len(self.calls)))]
            self.tried[what] += 1
            try:
                found = _call(what, self.mixture, self.tried.total(), self.path)
            except Exception as error:
                found = one_line(error)
            if found:
                self.wrong.append(f"{what}: {found}")


def together(calls: tuple[str, ...], seconds: float, seed: int, report: Report) -> None:
    """Let threads call at random; report each call, and the totals at the end."""
    mixture = Mixture()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        workers = [Worker(mixture, calls, [seed, k], path) for k in range(THREADS)]
        for worker in workers:
            worker.end = time.monotonic() + seconds
            worker.start()
        for worker in workers:
            worker.join(seconds + 30.0)
            if worker.is_alive():
                worker.wrong.append("a thread hangs")
    tried = sum((worker.tried for worker in workers), Counter[str]())
    wrong = [one for worker in workers for one in worker.wrong]
    for one in [*wrong, *([None] * (tried.total() - len(wrong)))]:
        report(one)
    if not wrong:
        steps = int(mixture.live.total_sums[STEPS])
        counts = {mixture.rounds, mixture.next_ticket, steps, tried["round"]}
        said = f"{tried['round']} rounds played, {mixture.rounds} counted, {steps} steps"
        report(f"totals: {said}" if len(counts) > 1 or mixture.pending else amiss(mixture))


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Call from eight threads for some seconds each: all calls, and each kind beside rounds."""
    result = Result("threads")
    kinds: list[tuple[str, ...]] = [CALLS]
    if not quick:
        kinds += [("round", "join", one) for one in sorted(set(CALLS) - {"round", "join"})]
    sys.setswitchinterval(1e-5)
    try:
        for calls in kinds:
            seed = int(rng.integers(1 << 30))

            def work(
                start: int, report: Report, calls: tuple[str, ...] = calls, seed: int = seed
            ) -> None:
                if not start:
                    together(calls, 0.8 if quick else 5.0, seed, report)

            isolated(result, f"{', '.join(sorted(set(calls)))}, seed {seed}", work, 120.0)
    finally:
        sys.setswitchinterval(0.005)
    return result
