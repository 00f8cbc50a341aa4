"""Instructions of a few kernels, counted by valgrind: the noise of a machine does not change them.

Valgrind runs this file as a program. ``os.getloadavg`` marks the ends of what is counted, as
nothing else calls it. Valgrind has no AVX-512, so every processor with AVX2 runs the same code.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np

from normalhedge import Mixture, NormalHedge


def rounds_by_name(hedger: str, experts: int, items: int = 0) -> Callable[[], None]:
    """Return a function that predicts and settles a round by name."""
    rng = np.random.default_rng(0)
    names, keys = [f"m{i}" for i in range(experts)], [f"i{j}" for j in range(items)]
    rounds = []
    for y in rng.normal(size=(50, max(items, 1))).cumsum(axis=0):
        cells = (y + rng.normal(size=(experts, len(y)))).tolist()
        said = [dict(zip(keys, row, strict=True)) if items else row[0] for row in cells]
        outcome = dict(zip(keys, y.tolist(), strict=True)) if items else float(y[0])
        rounds.append((dict(zip(names, said, strict=True)), outcome))
    mixture, days = Mixture(hedger), cycle(rounds)

    def play() -> None:
        said, outcome = next(days)
        mixture.update(mixture.predict(said).ticket, outcome)

    return play


def _run(rounds: int, experts: int) -> Callable[[], object]:
    gains = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (rounds, experts))
    return lambda: NormalHedge(alpha=0.001).run(gains)


KERNELS: dict[str, tuple[Callable[[], Callable[[], object]], int]] = {
    "run, 1,000 rounds x 100 experts": (lambda: _run(1000, 100), 1),
    "normal-hedge: predict + update, 5 experts": (lambda: rounds_by_name("normal-hedge", 5), 100),
    "auto:inside=true, 5 experts": (lambda: rounds_by_name("auto:inside=true", 5), 100),
    "auto:inside=true, 50 experts": (lambda: rounds_by_name("auto:inside=true", 50), 50),
    "auto, 5 experts": (lambda: rounds_by_name("auto", 5), 100),
    "auto, 50 experts": (lambda: rounds_by_name("auto", 50), 50),
    "auto, 24 items x 8 experts": (lambda: rounds_by_name("auto", 8, 24), 10),
}
"""The kernels: how to make each, and how many calls are counted after as many others."""


def count() -> dict[str, int] | None:
    """Return the instructions of a call of each kernel; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        tool = ["valgrind", "--tool=callgrind", "--dump-before=getloadavg"]
        command = [*tool, f"--callgrind-out-file={out}", sys.executable, "-m", __name__]
        env = {**os.environ, "PYTHONHASHSEED": "0"}  # the order of sets costs instructions, too
        subprocess.run(command, env=env, check=True, capture_output=True)
        # A part ends at each mark: odd ones make a kernel, even ones are its calls.
        parts = (out.with_suffix(f".{2 * k + 2}").read_text("utf-8") for k in range(len(KERNELS)))
        totals = [int(re.search(r"^summary: (\d+)", part, re.M)[1]) for part in parts]  # type: ignore[index]
    calls = (calls for _, calls in KERNELS.values())
    return {name: total // n for name, total, n in zip(KERNELS, totals, calls, strict=True)}


def main() -> None:
    """Call each kernel between two marks."""
    for make, calls in KERNELS.values():
        kernel = make()
        for _ in range(calls):
            kernel()
        os.getloadavg()
        for _ in range(calls):
            kernel()
        os.getloadavg()


if __name__ == "__main__":
    main()
