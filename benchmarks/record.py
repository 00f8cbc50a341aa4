"""The record of speed: ``make bench KEEP=yes`` writes its numbers into a file and the page.

Ratios depend on the machine of their run, instructions do not: a kernel that takes 5 % more of them
than when it was last kept is to be explained.
"""

import json
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.timing import Row
from normalhedge import __version__

FILE = Path(__file__).with_name("record.json")
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
HISTORY = re.compile(
    r"(?<=<!-- history: benchmarks/record.py -->\n).*?(?=<!-- end of history)", re.S
)
MORE = 1.05
"""A kernel may take this many times its last instructions without a word."""

Run = dict[str, Any]
"""A kept run: its version, day and machine, ratios by work, and instructions by kernel."""


def read(path: Path = FILE) -> list[Run]:
    """Return the kept runs, the oldest first."""
    runs: list[Run] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return runs


def run_of(rows: Sequence[Row], instructions: Mapping[str, int] | None) -> Run:
    """Return a run of today."""
    return {
        "version": __version__,
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": platform.machine(),
        "ratios": {f"{row.work}, to {row.reference}": float(f"{row.ratio:.3g}") for row in rows},
        "instructions": dict(instructions or {}),
    }


def explain(run: Run, runs: Sequence[Run]) -> list[str]:
    """Return a sentence on each kernel that takes more instructions than when it was last kept."""
    last: dict[str, int] = {}
    for earlier in runs:
        last |= earlier["instructions"]
    return [
        f"{name}: {now:,} instructions, {now / last[name] - 1.0:+.1%} since it was last kept: why?"
        for name, now in run["instructions"].items()
        if name in last and now > MORE * last[name]
    ]


def history(runs: Sequence[Run]) -> str:
    """Return the history as tables in Markdown: a row for each work, a column for each run."""
    heads = [f"{run['version']}, {run['day']}" for run in runs]
    parts = []
    for kind, form in (("ratios", "{:.3g}x"), ("instructions", "{:,}")):
        names = dict.fromkeys(name for run in runs for name in run[kind])
        if not names:
            continue
        lines = [[kind, *heads], ["---"] * (1 + len(heads))]
        for name in names:
            cells = (run[kind].get(name) for run in runs)
            lines.append([name, *("" if cell is None else form.format(cell) for cell in cells)])
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "".join(f"\n{part}\n" for part in parts) + "\n" * bool(parts)


def keep(run: Run, path: Path = FILE, page: Path = PAGE) -> None:
    """Write a run into the file, in the place of the same version's, and draw the page."""
    runs = [*(other for other in read(path) if other["version"] != run["version"]), run]
    path.write_text(json.dumps(runs, indent=1) + "\n", "utf-8")
    page.write_text(HISTORY.sub(lambda _: history(runs), page.read_text("utf-8")), "utf-8")
