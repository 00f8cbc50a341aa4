"""``make bench``: every speed we claim, as a ratio measured in this run; ``--keep`` keeps them."""

import platform
import sys

from benchmarks import (
    adapters,
    core,
    family,
    instructions,
    latent,
    mixtures,
    paper,
    peers,
    portfolios,
    record,
    stream,
)
from benchmarks.panels import goals
from benchmarks.timing import HEADER
from normalhedge.boundary.threads import cores


def main() -> None:
    """Print the tables."""
    print(f"{platform.machine()}, {cores()} cores, Python {platform.python_version()}\n")
    print(HEADER)
    tables = (
        core.rows,
        family.rows,
        peers.rows,
        mixtures.rows,
        adapters.rows,
        latent.rows,
        paper.rows,
    )
    measured = []
    for rows in tables:
        for row in rows():
            print(row, flush=True)
            measured.append(row)
    print()
    run = record.run_of(measured, instructions.count())
    for name, count in run["instructions"].items():
        print(f"{name}: {count:,} instructions")
    for line in record.explain(run, record.read()):
        print(line)
    if "--keep" in sys.argv[1:]:
        record.keep(run)
    texts = (
        core.start_up,
        mixtures.whole,
        adapters.trump,
        stream.lines,
        goals.lines,
        portfolios.lines,
        paper.whole,
    )
    for lines in texts:
        for line in lines():
            print(line, flush=True)


if __name__ == "__main__":
    main()
