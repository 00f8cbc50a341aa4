"""The paper's simulations against a NumPy loop."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedge, NormalHedge
from normalhedge.research.games import play
from normalhedge.research.paper._figures import EVERY, FIGURES, PARTS_OF_A_GAME, STYLES, FigurePanel
from normalhedge.research.paper._part import ALPHA

PANEL = FigurePanel(gamma=0.4, f=0.1)
RUNS, ROUNDS = 50, 10_000
PANELS = sum(len(figure.panels) for figure in FIGURES)
PRINTED = [name for name, style in STYLES.items() if not style.second]


def numpy_panel(rounds: int, seed: int) -> list[Floats]:
    """Play the four printed curves for one run as anybody would in NumPy; return the regrets."""
    rng = np.random.default_rng(seed)
    n = PANEL.experts
    good = PANEL.nature.good
    hedgers = PANEL.hedgers()
    regrets = {name: np.zeros(n) for name in PRINTED}
    curves = {name: np.empty(rounds) for name in PRINTED}
    for t in range(rounds):
        gains = rng.choice([-1.0, 1.0], n)
        start = t // PANEL.nature.shift * good
        coin = 1.0 if rng.random() < (1.0 + PANEL.gamma) / 2.0 else -1.0
        gains[np.arange(start, start + good) % n] = coin
        for name in PRINTED:
            hedger, regret = hedgers[name], regrets[name]
            if isinstance(hedger, Hedge):
                weights = np.exp(hedger.eta * (regret - regret.max()))
            else:
                assert isinstance(hedger, NormalHedge)
                positive = np.maximum(regret, 0.0)
                exponents = ALPHA * positive**2 / (2.0 * hedger.c)
                weights = positive * np.exp(exponents - exponents.max())
            total = weights.sum()
            gain = weights @ gains / total if total > 0.0 else gains.mean()
            regrets[name] = (1.0 - ALPHA) * regret + gains - gain
            curves[name][t] = regrets[name].max()
    return list(curves.values())


def rows() -> Iterator[Row]:
    """Yield one panel, and all of them, with the four printed curves."""
    part = 500
    start = time.perf_counter()
    numpy_panel(part, 0)
    reference = (time.perf_counter() - start) / part * ROUNDS * RUNS
    hedgers = {name: hedger for name, hedger in PANEL.hedgers().items() if name in PRINTED}
    play(hedgers, PANEL.nature, 100, 2)
    start = time.perf_counter()
    play(hedgers, PANEL.nature, ROUNDS, RUNS, every=EVERY, parts=PARTS_OF_A_GAME)
    ours = time.perf_counter() - start
    work = f"panel, {RUNS} runs x {ROUNDS:,} rounds x {len(PRINTED)}"
    yield Row(work, "NumPy loop", reference, ours, ">= 15x")


COMMAND = """
import re, sys
from normalhedge.cli import main
main(["paper", "--out", sys.argv[1]])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(int(peak[1]) // 1024, file=sys.stderr)
"""


def whole() -> Iterator[str]:
    """Yield how long all panels take with the curves of the paper, and then the whole command."""
    start = time.perf_counter()
    for panel in {panel for figure in FIGURES for panel in figure.panels}:
        hedgers = {name: hedger for name, hedger in panel.hedgers().items() if name in PRINTED}
        play(hedgers, panel.nature, ROUNDS, RUNS, every=EVERY, parts=PARTS_OF_A_GAME)
    seconds = time.perf_counter() - start
    yield (
        f"{PANELS} panels x {RUNS} runs x {ROUNDS:,} rounds, {len(PRINTED)} printed curves: "
        f"{seconds:.0f} s"
    )
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        out = subprocess.run(
            [sys.executable, "-c", COMMAND, folder], check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
    memory = out.stderr.split()[-1]
    yield (
        f"normalhedge paper, {PANELS} panels x {RUNS} runs x {ROUNDS:,} rounds, {len(STYLES)} "
        f"curves, claims, figures and page: {seconds:.0f} s, {memory} MB"
    )
