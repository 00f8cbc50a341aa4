"""The command on a stream, with and without a state: rounds a second, start-up taken off."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROUNDS, EXPERTS = 50_000, 5


def stream(rounds: int, experts: int) -> bytes:
    """Return the lines of a stream: forecasts and their outcome, in turns."""
    rng = np.random.default_rng(0)
    lines = []
    for ticket, (outcome, *said) in enumerate(rng.normal(size=(rounds, experts + 1)).tolist()):
        lines.append(json.dumps({f"model {k}": value for k, value in enumerate(said)}))
        lines.append(json.dumps({"ticket": ticket, "outcome": outcome}))
    return "\n".join(lines).encode()


def seconds(lines: bytes, *options: str) -> float:
    """Return how long the command takes for some lines."""
    command = [sys.executable, "-m", "normalhedge", "blend", "-", *options]
    start = time.perf_counter()
    subprocess.run(command, input=lines, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def lines(repeats: int = 3) -> Iterator[str]:
    """Yield the rounds a second of each way to run it, measured in turns."""
    whole, one = stream(ROUNDS, EXPERTS), stream(1, EXPERTS)
    ways: dict[str, list[str]] = {
        "without --state": [],
        "--state": [],
        "--state --sync": ["--sync"],
    }
    rates: dict[str, list[float]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeats):
            for way, options in ways.items():
                state = [] if way == "without --state" else ["--state"]
                taken = []
                for part, text in (("one", one), ("whole", whole)):
                    path = str(Path(folder) / f"{number} {way} {part}.json")
                    taken.append(seconds(text, *state, *([path] if state else []), *options))
                rates[way].append(ROUNDS / (taken[1] - taken[0]))
    plain = float(np.median(rates["without --state"]))
    for way, found in rates.items():
        rate = float(np.median(found))
        goal = " (goal 10,000)" if way == "--state" else ""
        yield (
            f"blend -, {EXPERTS} experts, {way}: {rate:,.0f} rounds/s{goal}, "
            f"{rate / plain:.2f}x that without a state"
        )


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
