"""``make bench``: every speed we claim, as a ratio measured in this run."""

import platform

from benchmarks import core
from benchmarks.timing import HEADER
from normalhedge._threads import cores


def main() -> None:
    """Print the tables."""
    print(f"{platform.machine()}, {cores()} cores, Python {platform.python_version()}\n")
    print(HEADER)
    for row in core.rows():
        print(row, flush=True)
    print()
    for line in core.start_up():
        print(line, flush=True)


if __name__ == "__main__":
    main()
