"""The axes of plots: times as dates, and ranges that a few absurd points do not spoil."""

from typing import Any, NamedTuple

import numpy as np

from normalhedge.reports._figures import label


class Range(NamedTuple):
    """The range of an axis."""

    # low, high: its ends
    low: float
    high: float
    cut: int  # the number of points outside


def robust_range(*curves: np.ndarray, zero: bool = False) -> Range:
    """Return a range that shows curves well, even if a few points are far away.

    With the 1st and 99th percentiles a and b, points are shown up to b - a beyond them. Errors and
    other positive numbers are shown from zero to six times their upper quartile. If all points lie
    there, the range ends with the points.

    Examples
    --------
    >>> low, high, cut = robust_range(np.append(np.linspace(0.0, 1.0, 99), 1e9))
    >>> round(high, 1), cut
    (2.1, 1)
    """
    points = np.concatenate([np.ravel(curve).astype(np.float64) for curve in curves])
    points = points[np.isfinite(points)]
    if not len(points):
        return Range(0.0, 1.0, 0)
    a, b = np.quantile(points, [0.01, 0.99], method="lower")
    low, high = max(points.min(), a - (b - a)), min(points.max(), b + (b - a))
    if zero:
        low, upper = 0.0, float(np.quantile(points, 0.75))
        high = min(points.max(), 6.0 * upper) if upper > 0.0 else points.max()
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    cut = int(((points < low) | (points > high)).sum())
    return Range(0.0 if zero else float(low - margin), float(high + margin), cut)


def cut_off(count: int) -> str:
    """Return a sentence about points outside of a plot; empty if there are none."""
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return f" {count:,} point{'s' * (count > 1)} far away {verb} cut off."


def positions(times: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Return times as positions on an axis, and the settings of the axis.

    Dates are milliseconds, which plotly shows as dates: they take little room on a page.
    """
    if times.dtype.kind == "M":
        return times.astype("datetime64[ms]").astype(np.float64), {"type": "date"}
    if times.dtype.kind in "iu":
        few = {"dtick": 1} if np.ptp(times) < 10 else {}
        return times, {"type": "linear", "tickformat": "d", **few}
    if times.dtype.kind == "f":
        return times, {"type": "linear"}
    return [label(str(time)) for time in times], {"type": "category", "nticks": 8}
