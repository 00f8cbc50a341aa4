"""Intervals beside the outcomes: how many they hold, how wide they are, and where outcomes fall.

The interval of confidence level c runs from the quantile of level (1 - c) / 2 to the quantile of
level (1 + c) / 2. Its coverage is the share of outcomes inside, which should be c.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.reports.analysis._rows import BlendedRows
from normalhedge.tables import wis_scores
from normalhedge.tables.frames import floats
from normalhedge.tables.quantiles import central_intervals

STRETCHES, FEWEST = 60, 25
"""The largest number of stretches of time, and the smallest number of rows of a stretch."""

BAND = re.compile(r"^blend-(lo|hi)-(\d+(?:\.\d+)?)$")
"""The names of columns with the ends of intervals."""


class IntervalBands(NamedTuple):
    """Intervals of the blend."""

    levels: Floats  # the levels, in (0, 1), in increasing order
    # lower, upper: The ends of the intervals; levels x rows. NaN where there is no interval.
    lower: Floats
    upper: Floats

    def at(self, rows: np.ndarray) -> "IntervalBands":
        """Return the intervals of some rows."""
        return IntervalBands(self.levels, self.lower[:, rows], self.upper[:, rows])


def bands(
    lower: Mapping[float, Any] | None, upper: Mapping[float, Any] | None, rows: int
) -> IntervalBands | None:
    """Return intervals from the arrays of their ends; None without any.

    Infinite intervals, as before the first outcome, count as no intervals: they would hide the
    widths of all others.
    """
    if not lower and not upper:
        return None
    levels = sorted(lower or ())
    if lower is None or upper is None or levels != sorted(upper):
        raise ValueError("lower and upper must have the same levels")
    if not 0.0 < levels[0] <= levels[-1] < 1.0:
        raise ValueError(f"levels of intervals must lie between 0 and 1, got {levels}")
    ends = [
        np.array([np.asarray(side[level], dtype=np.float64) for level in levels])
        for side in (lower, upper)
    ]
    for name, side in zip(("lower", "upper"), ends, strict=True):
        if side.shape != (len(levels), rows):
            raise ValueError(
                f"{name} must have one number for each of the {rows:,} rows of the blend's frame, "
                f"got {side.shape[1:]}"
            )
    endless = np.isinf(ends[0]).any(axis=0) | np.isinf(ends[1]).any(axis=0)
    for side in ends:
        side[:, endless] = np.nan
    return IntervalBands(np.array(levels), *ends)


def bands_in(table: Any) -> IntervalBands | None:
    """Return the intervals in the columns ``blend-lo-90``, ``blend-hi-90`` of an Arrow table."""
    sides: dict[str, dict[float, Floats]] = {"lo": {}, "hi": {}}
    for name in table.column_names:
        hit = BAND.match(name)
        if hit:
            sides[hit[1]][float(hit[2]) / 100.0] = floats(table[name])
    both = sorted(set(sides["lo"]) & set(sides["hi"]))
    lower, upper = ({level: sides[side][level] for level in both} for side in ("lo", "hi"))
    return bands(lower, upper, table.num_rows)


@dataclass(frozen=True)
class CoverageReview:
    """The coverage and the width of intervals."""

    levels: Floats  # the levels of the intervals
    rows: int  # the number of rows with an outcome and intervals
    # covered, width, middle_width: the share of outcomes inside, the mean width and the median
    # width, for each level
    covered: Floats
    width: Floats
    middle_width: Floats
    times: np.ndarray  # the time of the first row of each stretch of time
    # covered_in, width_in: the share of outcomes inside and the median width in each stretch;
    # levels x stretches
    covered_in: Floats
    width_in: Floats
    # quantiles, below: the levels of the ends of all intervals as quantiles, and the share of
    # outcomes at or below each of them
    quantiles: Floats
    below: Floats
    wis: float  # the weighted interval score, with the forecast of the blend as the median


def coverage(rows: BlendedRows, bands: IntervalBands, middle: int = 0) -> CoverageReview | None:
    """Return the coverage of intervals; None if no row has intervals and an outcome."""
    known = rows.settled & ~np.isnan(bands.lower).any(axis=0) & ~np.isnan(bands.upper).any(axis=0)
    order = np.flatnonzero(known)
    if not len(order):
        return None
    order = order[np.argsort(rows.rounds[order], kind="stable")]
    used, outcomes = bands.at(order), rows.outcomes[order]
    inside = (used.lower <= outcomes) & (outcomes <= used.upper)
    width = used.upper - used.lower
    count = max(min(STRETCHES, len(order) // FEWEST), 1)
    edges = len(order) * np.arange(count + 1) // count
    spans = [slice(a, b) for a, b in pairwise(edges)]
    tails = 0.5 * (1.0 - used.levels)
    ends = np.concatenate([used.lower[::-1], used.upper])
    quantiles = np.concatenate([tails[::-1], 1.0 - tails])
    with_median = np.column_stack([ends.T, rows.values[order, middle]])
    return CoverageReview(
        levels=used.levels,
        rows=len(order),
        covered=inside.mean(axis=1),
        width=width.mean(axis=1),
        middle_width=np.median(width, axis=1),
        times=rows.times[order][edges[:-1]],
        covered_in=np.stack([inside[:, span].mean(axis=1) for span in spans], axis=1),
        width_in=np.stack([np.median(width[:, span], axis=1) for span in spans], axis=1),
        quantiles=quantiles,
        below=(outcomes <= ends).mean(axis=1),
        wis=float(wis_scores(with_median, outcomes, [*quantiles, 0.5]).mean()),
    )


def bands_of_quantiles(values: Floats, levels: Floats) -> IntervalBands | None:
    """Return the intervals between quantiles of opposite levels; None if there are none."""
    intervals = central_intervals(levels.tolist())
    if not intervals:
        return None
    content, low, high = (list(part) for part in zip(*intervals, strict=True))
    return IntervalBands(np.array(content), values[:, low].T.copy(), values[:, high].T.copy())
