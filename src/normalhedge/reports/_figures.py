"""Interactive plots as pieces of a page: readers can zoom, hover and switch curves on and off.

Every plot of a page is made of these parts: a figure in one style, curves, axes of times, and
ranges that a few absurd points do not spoil.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import clipped, shown

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#8c564b",
    "#7b6fb0", "#5f9e3c",
)  # fmt: skip
"""The colours of experts and symbols, the same in every plot of a page."""

BLACK, BLUE, GREY = "#000000", COLOURS[0], "#9aa3ad"

LONGEST_NAME = 28
"""The largest number of letters of a name in a legend, so that plots keep their room."""


def label(text: str) -> str:
    """Escape a text for plotly, which reads labels as HTML, links included.

    Examples
    --------
    >>> label("<a href='x'>R&D</a>")
    "&lt;a href='x'&gt;R&amp;D&lt;/a&gt;"
    """
    return html.escape(shown(text), quote=False)


def short_names(names: Sequence[str]) -> list[str]:
    """Return names short enough for a legend; as they are, if two of them would become alike.

    Examples
    --------
    >>> short_names(["a" * 40, "b"])
    ['aaaaaaaaaaaaaaaa ... aaaaaaa', 'b']
    >>> len(short_names([f"{'b' * 40}{k}{'b' * 40}" for k in range(2)])[1])
    81
    """
    short = [clipped(name, LONGEST_NAME) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def new_figure(height: int = 380, panels: Mapping[str, Any] | None = None, **layout: Any) -> Any:
    """Return a figure without curves, in the style of all pages.

    ``panels`` are the arguments of plotly's ``make_subplots``; without them there is one panel.
    """
    if panels is None:
        figure = extras.require("plotly.graph_objects").Figure()
    else:
        figure = extras.require("plotly.subplots").make_subplots(**panels)
    figure.update_layout(
        template="plotly_white",
        height=height,
        hovermode="x unified",
        hoverlabel={"namelength": 40},
        margin={"l": 60, "r": 40, "t": 20, "b": 40},
        modebar={"orientation": "v"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 11}},
    )
    figure.update_layout(**layout)
    return figure


def add_curve(
    figure: Any,
    x: Any,
    y: np.ndarray,
    name: str = "",
    at: tuple[int, int] | None = None,
    hover: str = "%{y:,.4~g}",
    **style: Any,
) -> None:
    """Add a curve to a figure, or to its panel at a row and a column, both from 1 on."""
    go = extras.require("plotly.graph_objects")
    if y.dtype.kind == "f" and not (np.abs(y) > 1e30).any():  # half the room on the page
        y = y.astype(np.float32)
    row, column = at or (None, None)
    where = {"x": x}
    if evenly(x):
        where = {"x0": float(x[0]), "dx": float(x[1] - x[0])}
    trace = go.Scatter(**where, y=y, name=label(name), hovertemplate=hover, **style)
    figure.add_trace(trace, row=row, col=column)


def evenly(x: Any) -> bool:
    """Tell whether places lie at equal distances, so that two numbers stand for them on a page."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iufM" or len(x) < 3:
        return False
    gaps = np.diff(x)
    return bool((gaps == gaps[0]).all() and gaps[0] > gaps[0] * 0)


def add_shades(
    figure: Any, x: Any, names: Sequence[str], shares: np.ndarray, colours: Any, **style: Any
) -> None:
    """Add a table of numbers as shades, with a row for each name, the first at the top."""
    go = extras.require("plotly.graph_objects")
    z, rows = shares.astype(np.float32), [label(name) for name in names]
    figure.add_trace(go.Heatmap(x=x, y=rows, z=z, colorscale=colours, showscale=False, **style))
    figure.update_yaxes(autorange="reversed", tickfont={"size": 11})


def as_html(figure: Any, identifier: str) -> str:
    """Return a plotly figure as a piece of HTML."""
    unused = ["select2d", "lasso2d", "autoScale2d"]
    config = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": unused}
    piece: str = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=identifier, config=config
    )
    return piece


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
