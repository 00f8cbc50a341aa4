"""How Dask scales: many short series on one and on two workers, beside `blend` in one process.

Wall times depend on what else a machine does. So the time of the processors is measured, too: what
all workers used, what the busiest of them used, and what the scheduler and the client used, which
are one process here. With a core for each of these, a run takes as long as its busiest worker; on
two cores, not less than half of all together.
"""

import argparse
import os
import re
import statistics
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import normalhedge
from normalhedge.boundary.threads import on_one_core
from normalhedge.integrations.clusters import blend

EXPERTS = 5
ROWS = 150_000
"""The rows of a partition."""


LINE = "{:>10} {:<12} {:>9} {:>11} {:>9} {:>10} {:>10} {:>6} {:>6}"
"""The columns of the output."""


class ClusterRun(NamedTuple):
    """The cost of a run.

    Attributes
    ----------
    wall
        Seconds on the clock.
    processors, busiest, scheduler
        Seconds of the processors: of all workers, of the busiest one, of scheduler and client.
    memory
        The largest memory of a worker in GB.
    """

    wall: float
    processors: float
    busiest: float
    scheduler: float
    memory: float


def rows_of(start: int, stop: int, series: int, rounds: int = 0) -> pd.DataFrame:
    """Return some rows of a table in the order of time: a partition has rows of nearly all series.

    Parameters
    ----------
    start, stop
        The first row, and the row after the last.
    series
        The number of series.
    rounds
        If given, rows are in the order of series, of so many rounds each.
    """
    rng = np.random.default_rng(start)
    place = np.arange(start, stop)
    truth = rng.normal(size=len(place))
    forecasts = truth[:, np.newaxis] + rng.normal(size=(len(place), EXPERTS))
    names = {f"model {k}": forecasts[:, k] for k in range(EXPERTS)}
    ds, key = (place % rounds, place // rounds) if rounds else (place // series, place % series)
    return pd.DataFrame({"ds": ds, "unique_id": key, "y": truth, **names})


def edges_of(series: int, rounds: int) -> list[int]:
    """Return the first rows of the partitions, and the number of rows.

    Parameters
    ----------
    series, rounds
        The number of series, and of rows of each.
    """
    count = max(series * rounds // ROWS, 4)
    return [series * k // count * rounds for k in range(count + 1)]


def _used() -> tuple[float, float]:
    """Return the processor time of this process in seconds, and its largest memory in GB."""
    # The peak of getrusage is that of the parent, if the parent had more when the process began.
    peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return time.process_time(), float(peak[1]) / 2**20 if peak else float("nan")


def on_cluster(
    series: int, rounds: int, workers: int, options: dict[str, Any], *, shuffle: bool
) -> ClusterRun:
    """Blend on a cluster of processes with one thread each: rows are made, shuffled and blended.

    Parameters
    ----------
    series, rounds
        The number of series, and of rows of each.
    workers
        The number of workers.
    options
        The settings of the blend.
    shuffle
        Whether the rows of a series are in different partitions.
    """
    edges = edges_of(series, rounds)
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.wait_for_workers(workers)
        client.run(in_one_process, 10, 5, options)  # imports
        shuffled = dd.from_pandas(rows_of(0, 100, 10), npartitions=2)
        blend(shuffled, **options).summary()
        table = dd.from_map(
            rows_of, edges[:-1], edges[1:], series=series, rounds=0 if shuffle else rounds,
            meta=rows_of(0, 1, series)[:0],
        )  # fmt: skip
        before = client.run(_used)
        start, here = time.perf_counter(), time.process_time()
        found = blend(table, shuffle=shuffle, **options).summary()
        wall, here = time.perf_counter() - start, time.process_time() - here
        after = client.run(_used)
    assert (found.series, found.rows) == (series, series * rounds)
    spent = [after[name][0] - before[name][0] for name in after]
    return ClusterRun(wall, sum(spent), max(spent), here, max(after[name][1] for name in after))


def in_one_process(series: int, rounds: int, options: dict[str, Any]) -> ClusterRun:
    """Blend the same rows by one call of `normalhedge.blend`, on one core.

    Parameters
    ----------
    series, rounds
        The number of series, and of rows of each.
    options
        The settings of the blend.
    """
    edges = edges_of(series, rounds)
    parts = [rows_of(a, b, series) for a, b in pairwise(edges)]
    table = pd.concat(parts, ignore_index=True)
    start, before = time.perf_counter(), _used()[0]
    with on_one_core():
        normalhedge.blend(table, **options)
    used, memory = _used()
    return ClusterRun(time.perf_counter() - start, used - before, used - before, 0.0, memory)


def main() -> None:
    """Print a line for each number of series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--hedger", default="normal-hedge")
    parser.add_argument("--whole", action="store_true", help="partitions of whole series")
    parser.add_argument("--alone", action="store_true", help="not beside one process")
    given = parser.parse_args()
    options: dict[str, Any] = {"hedger": given.hedger, "pooled": False}
    dask.config.set({"distributed.comm.timeouts.connect": "60s"})
    print(f"{given.hedger}, {given.rounds} rows of {EXPERTS} models for each series")
    heads = ("series", "where", "wall", "processors", "busiest", "scheduler", "µs/series", "GB",
             "load")  # fmt: skip
    print(LINE.format(*heads))
    for series in given.series:
        runs: dict[str, list[ClusterRun]] = {}
        for _ in range(given.repeats):
            if not given.alone:
                runs.setdefault("one process", []).append(
                    in_one_process(series, given.rounds, options)
                )
            for workers in (1, 2):
                one = on_cluster(series, given.rounds, workers, options, shuffle=not given.whole)
                runs.setdefault(f"{workers} workers", []).append(one)
        for where, found in runs.items():
            wall, processors, busiest, scheduler, memory = (
                statistics.median(values) for values in zip(*found, strict=True)
            )
            each, load = 1e6 * processors / series, os.getloadavg()[0]
            seconds = (f"{value:.1f} s" for value in (wall, processors, busiest, scheduler))
            print(LINE.format(f"{series:,}", where, *seconds, f"{each:.0f}", f"{memory:.2f}",
                              f"{load:.1f}"))  # fmt: skip
        pairs = list(zip(runs["1 workers"], runs["2 workers"], strict=True))
        walls = statistics.median(alone.wall / two.wall for alone, two in pairs)
        busy = statistics.median(alone.busiest / two.busiest for alone, two in pairs)
        print(f"two workers beside one: wall time {walls:.2f}x, busiest {busy:.2f}x; goal 1.7x")


if __name__ == "__main__":
    main()
