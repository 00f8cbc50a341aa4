"""Ctrl-C at random moments: KeyboardInterrupt from a timer while a mixture is at work."""

import signal
import time
from types import FrameType
from typing import Any

import numpy as np

from normalhedge.mixtures import Mixture
from tests.torture.result import Report, Result, isolated, one_line
from tests.torture.scenes import Softmax, own_loss
from tests.torture.snapshot import Snapshot, amiss, difference, snapshot

STEPS = 24
BATCH = 250


def steps(things: bool) -> list[tuple[str, Any]]:
    """Return what is done to a mixture: rounds with newcomers, late outcomes, joins."""
    found: list[tuple[str, Any]] = []
    for k in range(STEPS):
        names = ["a", "b", "c", *(f"n{j}" for j in range(k // 3))]
        said: dict[str, Any] = {name: 1.0 + (k * j) % 5 for j, name in enumerate(names)}
        if things:
            said = {name: {"x": value, f"y{k // 8}": 1.0} for name, value in said.items()}
        found.append(("predict", said))
        if k % 5 == 4:
            found.append(("join", [f"j{k}", f"j{k + 1}"]))
        if k >= 2:
            outcome = {"x": 2.0, f"y{(k - 2) // 8}": 1.5} if things else 2.0 + k % 3
            found.append(("update", (k - 2, outcome)))
    return found


def do(mixture: Mixture, step: tuple[str, Any]) -> None:
    """Do one step."""
    name, given = step
    if name == "predict":
        mixture.predict(given)
    elif name == "join":
        mixture.join(given)
    else:
        mixture.update(*given)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _once(
    mixture: Mixture, todo: list[tuple[str, Any]], states: list[Snapshot], delay: float
) -> str | None:
    """Interrupt once, look, and play to the end."""
    done, hit = 0, False
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            while done < len(todo):
                do(mixture, todo[done])
                done += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        hit = True
    where = f"after {delay * 1e6:.0f} us in step {done} ({todo[min(done, len(todo) - 1)][0]})"
    found = snapshot(mixture)
    ways = [k for k in (done, done + 1) if k < len(states)]
    differ = [difference(found, states[k]) for k in ways]
    if None not in differ:
        return f"interrupted={hit} {where}: neither before nor after: {differ}"
    try:
        for step in todo[ways[differ.index(None)] :]:
            do(mixture, step)
    except Exception as error:
        return f"interrupted {where}: {one_line(error)}"
    wrong = difference(snapshot(mixture), states[-1]) or amiss(mixture)
    return wrong and f"interrupted {where}: it ends otherwise: {wrong}"


def batch(options: dict[str, Any], things: bool, count: int, seed: int) -> Any:
    """Return the work of so many interrupts."""

    def work(start: int, report: Report) -> None:
        todo, mixture = steps(things), Mixture(**options)
        states = [snapshot(mixture)]
        began = time.perf_counter()
        for step in todo:
            do(mixture, step)
        taken = time.perf_counter() - began
        mixture = Mixture(**options)
        for step in todo:
            do(mixture, step)
            states.append(snapshot(mixture))
        signal.signal(signal.SIGALRM, _interrupt)
        for k in range(start, count):
            rng = np.random.default_rng([seed, k])
            delay = max(float(rng.uniform(0.0, 1.1)) * taken, 2e-6)
            report(_once(Mixture(**options), todo, states, delay))

    return work


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Interrupt mixtures of several kinds at random moments, 3,000 times in all."""
    result = Result("interrupts")
    kinds: dict[str, tuple[dict[str, Any], bool]] = {
        "numbers": ({}, False),
        "things": ({}, True),
        "games": ({"shared": False}, True),
        "own loss": ({"loss": own_loss}, False),
        "own hedger": ({"hedger": Softmax()}, False),
        "plain experts": ({"include": ("mean", "median")}, False),
        "intervals": ({"interval": (0.5, 0.9), "season": 3}, True),
    }
    for name, (options, things) in kinds.items():
        seed = int(rng.integers(1 << 30))
        work = batch(options, things, 15 if quick else 2 * BATCH, seed)
        isolated(result, f"{name}, seed {seed}", work)
    return result
