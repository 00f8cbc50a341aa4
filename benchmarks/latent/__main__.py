"""``python -m benchmarks.latent``: hidden states beside the others, then real series, then speed.

With ``--judge`` the seeds to judge on; with names, these cases only; with ``--figures``, only the
rivals that figures are measured by; with ``--hindsight``, only states in hindsight.
"""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import numpy as np

from benchmarks.latent import cases, hindsight, improper, live, real, rivals
from benchmarks.latent.cases import Drawn
from benchmarks.latent.rivals import Rival

WANTED = ("arch", "dynamax", "hmmlearn", "statsmodels", "vega_datasets")
DEVELOP, JUDGE = (0, 1, 2), (100, 101, 102, 103, 104)
SHORT = {
    "true_filter": "truth",
    "forgetting_bayes": "Bayes .99",
    "bayes": "Bayes",
    "markov_regression": "statsmod",
    "changepoints": "changept",
    "normal_hedge": "NormalH",
}

Found = dict[str, tuple[float, float]]
"""Agreement and mean log score, by rival."""


def found(case: Drawn, seeds: Sequence[int], who: Sequence[Rival]) -> Found:
    """Return the means over seeds."""
    table = np.empty((len(seeds), len(who), 2))
    for row, seed in zip(table, seeds, strict=True):
        series = case(np.random.default_rng([seed, 1]))
        row[:] = [rivals.judged(rival(series), series) for rival in who]
    means = table.mean(axis=0)
    return {r.__name__: (100.0 * a, b) for r, (a, b) in zip(who, means, strict=True)}


def beside_truth(cells: Found) -> tuple[str, bool]:
    """Return how far ours is from the true filter: points, and percent of the log score."""
    points = cells["ours"][0] - cells["true_filter"][0]
    percent = _percent(cells, "true_filter")
    return f"{points:+.1f} {percent:+.1f} %", points >= -2.0 and percent >= -1.0


def beside_rivals(cells: Found) -> tuple[str, bool]:
    """Return how far ours is ahead of the best rival, by either measure."""
    names = [rival.__name__ for rival in rivals.NAMED if not math.isnan(cells[rival.__name__][1])]
    points = min(cells["ours"][0] - cells[name][0] for name in names)
    percent = min(_percent(cells, name) for name in names)
    return f"{points:+.1f} {percent:+.1f} %", points >= -1.0 and (points >= 3.0 or percent >= 2.0)


def _percent(cells: Found, name: str) -> float:
    theirs = cells[name][1]
    return 100.0 * (cells["ours"][1] - theirs) / abs(theirs)


def lines(seeds: Sequence[int], wanted: Sequence[str], who: Sequence[Rival]) -> Iterator[str]:
    """Yield two lines for each case: agreement in percent, and below it the mean log score."""
    names = [SHORT.get(rival.__name__, rival.__name__.replace("_", " ")) for rival in who]
    yield f"seeds {', '.join(map(str, seeds))}"
    for title, group, compared in (
        ("stationary, against the truth", cases.STATIONARY, beside_truth),
        ("harder, against the best of EM 500, EM 1000, refitted, Bayes .99", cases.HARDER,
         beside_rivals),
        ("extreme", cases.EXTREME, beside_rivals),
    ):  # fmt: skip
        chosen = [case for case in group if not wanted or case.__name__ in wanted]
        if not chosen:
            continue
        yield f"\n{title:16s}\n{'':16s}" + "".join(f"{name:>10s}" for name in names)
        for case in chosen:
            cells = found(case, seeds, who)
            text, good = compared(cells)
            said = list(cells.values())
            yield f"{case.__name__:16s}" + "".join(_cell(a, 1) for a, _ in said)
            yield (
                f"{'':16s}"
                + "".join(_cell(b, 4) for _, b in said)
                + (f"   {text} {'reached' if good else 'missed'}")
            )


def _cell(value: float, digits: int) -> str:
    return f"{'':>10s}" if math.isnan(value) else f"{value:10.{digits}f}"


def main() -> None:
    """Print everything, or some cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latent")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--hindsight", action="store_true")
    given = parser.parse_args()
    begun = time.perf_counter()
    absent = [name for name in WANTED if find_spec(name) is None]
    if absent:
        print(f"left out, not installed (pip install --group bench): {', '.join(absent)}\n")
    who = rivals.RIVALS
    if given.figures:
        who = (rivals.true_filter, *rivals.NAMED, rivals.ours)
    seeds = JUDGE if given.judge else DEVELOP
    parts = [] if given.hindsight else [lines(seeds, given.cases, who)]
    parts.append(hindsight.lines(seeds, given.cases))
    if not given.cases and not given.hindsight:
        parts += [real.lines(), improper.lines(), live.lines()]
    for part in parts:
        for line in part:
            print(line, flush=True)
        print()
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
