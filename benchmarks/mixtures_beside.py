"""Time ``predict`` and ``update`` of this package beside another installation of it.

``python -m benchmarks.mixtures_beside OTHER_PYTHON`` runs the same rounds with both interpreters,
in turns, and prints the medians in microseconds and their ratio.
"""

import json
import statistics
import subprocess
import sys

SCRIPT = """
import json, statistics, time
from normalhedge import Mixture

def rounds(hedger, n, asleep, count):
    mixture, names = Mixture(hedger), [f"m{k}" for k in range(n)]
    everyone = {name: float(k % 7) for k, name in enumerate(names)}
    awake = {name: x for name, x in everyone.items() if not (asleep and name == names[n // 2])}
    mixture.update(mixture.predict(everyone).ticket, 3.0)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(count):
            mixture.update(mixture.predict(awake).ticket, 3.0)
        times.append((time.perf_counter() - begun) / count)
    return 1e6 * statistics.median(times)

print(json.dumps({
    "NormalHedge, 5 experts": rounds("normal-hedge", 5, False, 4000),
    "NormalHedge, 5, one asleep": rounds("normal-hedge", 5, True, 1500),
    "NormalHedge, 50": rounds("normal-hedge", 50, False, 3000),
    "NormalHedge, 1,000": rounds("normal-hedge", 1000, False, 800),
    "NormalHedge, 100,000": rounds("normal-hedge", 100_000, False, 8),
    "default, 5": rounds(None, 5, False, 2000),
    "default, 5, one asleep": rounds(None, 5, True, 1000),
    "default, 1,000": rounds(None, 1000, False, 60),
}))
"""

TURNS = 3


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.mixtures_beside OTHER_PYTHON")
    runs: dict[str, list[dict[str, float]]] = {"other": [], "this": []}
    for _ in range(TURNS):
        for name, python in (("other", sys.argv[1]), ("this", sys.executable)):
            done = subprocess.run(
                [python, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd="/"
            )
            runs[name].append(json.loads(done.stdout))
    print(f"{'predict + update, us':30} {'other':>9} {'this':>9} {'ratio':>7}")
    for case in runs["this"][0]:
        other, this = (
            statistics.median(run[case] for run in runs[name]) for name in ("other", "this")
        )
        print(f"{case:30} {other:9.2f} {this:9.2f} {this / other:7.3f}")


if __name__ == "__main__":
    main()
