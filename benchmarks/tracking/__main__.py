"""``python -m benchmarks.tracking [judge]``: error, coverage and time of all trackers."""

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.tracking import cases, ours, rivals
from benchmarks.tracking.cases import Case
from benchmarks.tracking.rivals import Tracked

TRACKERS = {
    "hedged, linear": ours.linear,
    "hedged, linear, NormalHedge": ours.linear_normal_hedge,
    "hedged, 1,000 paths": ours.paths,
    **rivals.RIVALS,
}
Row = tuple[float, float, float, float, float]


def measured(case: Case, went: Tracked) -> Row:
    """Return errors after an observation (RMSE, median) and before it, coverage, microseconds."""
    start = min(cases.WARM, len(case.truth) // 2)
    truth = case.truth[start:]
    there = np.isfinite(truth).all(axis=1)

    def error(said: np.ndarray) -> float:
        return float(np.sqrt(np.square(said[start:] - truth)[there].sum(axis=1).mean()))

    inside = (went.low[start:] <= truth) & (truth <= went.high[start:])
    away = np.sqrt(np.square(went.now[start:] - truth).sum(axis=1))
    now, usual = (error(went.now), float(np.median(away))) if case.known else (np.nan, np.nan)
    return now, usual, error(went.ahead), float(inside[there].mean()), went.micros


def groups(kind: str) -> Iterator[tuple[str, list[Case]]]:
    """Yield the tracks to develop on or to judge on, by name."""
    seeds = cases.JUDGE_SEEDS if kind == "judge" else cases.DEVELOP_SEEDS
    for name, make in cases.SIMULATED.items():
        yield name, [make(np.random.default_rng(seed)) for seed in seeds]
    flights = cases.JUDGE_FLIGHTS if kind == "judge" else cases.DEVELOP_FLIGHTS
    for name, case in cases.real(flights):
        yield name, [case]


def main() -> None:
    """Print a table: medians of errors over the tracks, mean coverage, least time."""
    kind = "judge" if "judge" in sys.argv[1:] else "develop"
    for name, drawn in groups(kind):
        print(f"\n{name} ({kind}, {len(drawn)} tracks)")
        print(f"  {'':32}{'RMSE now':>10}{'median now':>12}{'RMSE next':>11}{'90 %':>13}{'us':>7}")
        for label, tracker in TRACKERS.items():
            rows = [measured(c, went) for c in drawn if (went := tracker(c)) is not None]
            if rows:
                now, usual, ahead, _, _ = np.median(rows, axis=0)
                inside, micros = np.mean([r[3] for r in rows]), min(r[4] for r in rows)
                print(
                    f"  {label:32}{now:10.4g}{usual:12.4g}{ahead:11.4g}{inside:13.3f}{micros:7.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
