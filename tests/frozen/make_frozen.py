"""Freeze what the package computes: ``python -m tests.frozen.make_frozen``, from the root.

`frozen.npz` and the `saved_*.json` beside it were written by commit 015c8b3, version 0.1.0, whose
engine was compiled by numba: a clone of that commit was given this folder, the command was run in
it, and the files were copied back. They are not to be written again by a later version: what is
frozen is what that one computed. (Its best convex combinations were taken out: they were not the
best, and ``tests/mixtures/test_best_convex.py`` has SciPy's.) The exceptions are in `cases.AGAIN`,
each with the reason: ``--only PREFIX ...`` freezes the cases whose names begin so again, and leaves
all others as they are.

With ``--digests`` nothing is written: a digest of each case is printed, to compare two cores to the
bit. With ``--sensitivity`` nothing is written: every case is computed with its input changed by rounding
alone, and those that move by more than their tolerance are listed.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.frozen.case import NO_NUDGE, Arrays, Nudge
from tests.frozen.cases import CASES
from tests.frozen.frozen import FILE, Frozen, how_far, write
from tests.frozen.mixture_cases import busy

NUDGES = {
    "a little smaller": Nudge(scale=1.0 - 1e-15),
    "the other way round": Nudge(reverse=True),
    "both": Nudge(scale=1.0 - 3e-15, reverse=True),
}


def main() -> None:
    """Write the files, or say what rounding does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sensitivity", action="store_true", help="see what rounding does")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="PREFIX", help="cases whose names begin so"
    )
    parser.add_argument("--digests", action="store_true", help="print a digest of each case")
    asked = parser.parse_args()
    names = [name for name in CASES if name.startswith(tuple(asked.only))]
    if asked.digests:
        for name in names:
            _say(f"{_digest(_computed(name))}  {name}")
        return
    if asked.sensitivity:
        _sensitivity(names)
        return
    if asked.only == [""]:
        save_mixtures(FILE.parent)
        write(FILE, {name: _computed(name) for name in names})
    else:
        frozen = Frozen()
        kept = {name: frozen[name] for name in frozen.index}
        write(FILE, kept | {name: _computed(name) for name in names})
    frozen = Frozen()
    numbers = sum(array.size for name in names for array in frozen[name].values())
    _say(f"{len(names)} cases, {numbers} numbers, {FILE.stat().st_size} bytes")


def save_mixtures(folder: Path) -> None:
    """Write the mixtures in files: two of version 2, and one as version 1 would have written it."""
    busy("normal-hedge", shared=True).save(folder / "saved_v2_shared.json")
    busy("squint", shared=False).save(folder / "saved_v2_items.json")
    path = folder / "saved_v1_items.json"
    busy("normal-hedge:memory=30", shared=False).save(path)
    written = json.loads(path.read_text("utf-8"))
    ledgers = written.pop("ledgers")
    del written["commons"], written["joined_late"]
    written |= {"version": 1, "regrets": [ledger[0] for ledger in ledgers]}
    path.write_text(json.dumps(written, allow_nan=False), "utf-8")


def _computed(name: str, nudge: Nudge = NO_NUDGE) -> Arrays:
    began = time.perf_counter()
    found = CASES[name].run(nudge)
    took = time.perf_counter() - began
    if took > 5.0:
        _say(f"{name} took {took:.0f} s")
    return found


def _digest(found: Arrays) -> str:
    digest = hashlib.sha256()
    for key, array in found.items():
        digest.update(key.encode())
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()[:16]


def _sensitivity(names: Iterable[str]) -> None:
    frozen = Frozen()
    for name in names:
        for label, nudge in NUDGES.items():
            far = how_far(_computed(name, nudge), frozen[name])
            worst = max(far, key=far.__getitem__)
            if far[worst] > CASES[name].tolerance:
                _say(f"{far[worst]:8.1e}  {name}, {label}: {worst}")
    _say(f"compared with {FILE.name}, numpy {np.__version__}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
