"""``nox -s torture``: every kind of fault, tried and counted."""

import argparse
import importlib
import sys
import time
import zlib
from typing import Protocol, cast

import numpy as np

from tests.torture.result import Result

KINDS = (
    "injected", "interrupts", "reentry", "signals", "kills", "files", "processes", "threads",
    "forks", "disks", "crowds", "cells", "serve", "standby",
)  # fmt: skip


class Kind(Protocol):
    """A module of this package that tries one kind of fault."""

    def run(self, quick: bool, rng: np.random.Generator) -> Result:
        """Try it."""


def main() -> int:
    """Try the kinds of faults that are asked for; return 1 if any did harm."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a sample, in seconds")
    parser.add_argument("--only", action="append", choices=KINDS, metavar="NAME", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failed = 0
    for name in given.only or KINDS:
        start = time.monotonic()
        kind = cast("Kind", importlib.import_module(f"tests.torture.{name}"))
        rng = np.random.default_rng([given.seed, zlib.crc32(name.encode())])
        result = kind.run(given.quick, rng)
        failed += result.failed
        taken = f"    {time.monotonic() - start:.1f} s; seed {given.seed}"
        sys.stdout.write(f"{result.lines()}\n{taken}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
