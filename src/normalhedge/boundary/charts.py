"""Plots of panels with curves, drawn by matplotlib or by plotly, whichever is installed."""

import html
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.notebook import in_notebook
from normalhedge.boundary.terminal import clipped, shown

LIBRARIES = ("matplotlib", "plotly")
"""The libraries that draw, the preferred one first."""

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c564b", "#7b6fb0",
    "#5f9e3c", "#b3261e",
)  # fmt: skip
"""The colours of curves, in order."""

BLACK, BLUE, GREY = "#000000", COLOURS[0], "#9aa3ad"

WIDTH, HEIGHT = 9.0, 2.6
"""The width of a plot, and the height of a panel, in inches."""


@dataclass(frozen=True)
class Curve:
    """A curve of a panel: a line, points, a band up to ``upper``, or bars."""

    name: str
    values: Any  # NaN where there is a gap
    form: str = "line"  # "line", "points", "band" or "bars"
    colour: str = ""  # by default the next of the colours
    upper: Any = None  # the upper edge of a band


@dataclass(frozen=True)
class PlotPanel:
    """A panel of a plot."""

    title: str
    # the places of the values: numbers, dates, or names of bars
    places: Any
    curves: Sequence[Curve] = field(default_factory=list)
    top: float | None = None  # the end of the vertical axis, from 0; None for the largest value


def find_library(library: str | None = None) -> str:
    """Return the library that draws plots; refuse one that is unknown or not installed."""
    if library is not None:
        if library not in LIBRARIES:
            raise ValueError(f"library must be {' or '.join(LIBRARIES)}, got {library!r}")
        extras.require(library)
        return library
    for name in LIBRARIES:
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError(
        "plots need matplotlib or plotly: pip install matplotlib, or 'normalhedge[cli]' for both"
    )


def draw(title: str, panels: Sequence[PlotPanel], library: str | None = None) -> Any:
    """Return a figure of matplotlib or plotly with panels below one another.

    A notebook shows the figure if it is the last value of a cell.
    """
    drawing = _draw_matplotlib if find_library(library) == "matplotlib" else _draw_plotly
    return drawing(clipped(shown(title), 90), panels)


Drawing = tuple[str, Sequence[PlotPanel]]
"""The title and the panels of a figure."""


class Plotted:
    """An object that a notebook shows as a figure."""

    def _drawing(self) -> Drawing:
        raise NotImplementedError

    def plot(self, library: str | None = None) -> Any:
        """Return a figure, which a notebook shows if it is the last value of a cell.

        A mixture has the outcomes and blends of its `history`, and the weights now; a table that
        was blended has the last outcomes and blends, and losses and weights over time; regimes have
        the observations by regime, and the probabilities of regimes.

        Parameters
        ----------
        library
            ``"matplotlib"`` or ``"plotly"``; by default the first of them that is installed.

        Examples
        --------
        >>> from normalhedge import Mixture
        >>> mixture = Mixture()
        >>> for day in range(20):
        ...     mixture.update(mixture.predict({"gam": 51.0, "ar": 49.0}).ticket, 50.0)
        >>> figure = mixture.plot("matplotlib")
        >>> len(figure.axes)
        2
        """
        return draw(*self._drawing(), library)


def _colours(curves: Sequence[Curve]) -> list[str]:
    return [
        curve.colour or COLOURS[k % len(COLOURS)]
        for k, curve in zip(np.cumsum([not c.colour for c in curves]) - 1, curves, strict=True)
    ]


def _name(text: str) -> str:
    return clipped(shown(text), 28)


def _draw_matplotlib(title: str, panels: Sequence[PlotPanel]) -> Any:
    plt = extras.require("matplotlib.pyplot")
    figure, grid = plt.subplots(
        len(panels), 1, squeeze=False, figsize=(WIDTH, HEIGHT * len(panels)), layout="constrained"
    )
    figure.suptitle(_plain(title), fontsize=11)
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        axes.set_title(_plain(panel.title), fontsize=9, loc="left")
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
        axes.tick_params(labelsize=8)
        for curve, colour in zip(panel.curves, _colours(panel.curves), strict=True):
            _add_to_axes(axes, panel.places, curve, colour)
        if panel.top is not None:
            axes.set_ylim(0.0, panel.top)
        if any(curve.name for curve in panel.curves):
            axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if in_notebook():
        plt.close(figure)  # the cell shows its value, and would show open figures once more
    return figure


def _plain(text: str) -> str:
    """Return a text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")


def _add_to_axes(axes: Any, places: Any, curve: Curve, colour: str) -> None:
    # matplotlib hides curves whose name begins with an underscore
    name = _plain(_name(curve.name))
    name = f"\u200b{name}" if name.startswith("_") else name
    if curve.form == "band":
        axes.fill_between(places, curve.values, curve.upper, color=colour, alpha=0.2, label=name)
    elif curve.form == "bars":
        labels = [_plain(_name(str(place))) for place in places]
        axes.barh(range(len(labels)), curve.values, color=colour, label=name)
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
    elif curve.form == "points":
        axes.plot(places, curve.values, ".", markersize=4, color=colour, label=name)
    else:
        axes.plot(places, curve.values, linewidth=1.2, color=colour, label=name)


def _draw_plotly(title: str, panels: Sequence[PlotPanel]) -> Any:
    titles = [html.escape(shown(panel.title), quote=False) for panel in panels]
    figure = extras.require("plotly.subplots").make_subplots(
        rows=len(panels), cols=1, subplot_titles=titles, vertical_spacing=0.3 / (len(panels) + 1)
    )
    figure.update_layout(
        template="plotly_white", height=round(100 * HEIGHT * len(panels)) + 80,
        title={"text": html.escape(title, quote=False), "font": {"size": 15}},
    )  # fmt: skip
    named: set[tuple[str, str]] = set()  # one entry of the legend switches all curves of a name
    for row, panel in enumerate(panels, start=1):
        for curve, colour in zip(panel.curves, _colours(panel.curves), strict=True):
            for trace in _traces(panel.places, curve, colour):
                trace.showlegend = trace.showlegend and (curve.name, colour) not in named
                figure.add_trace(trace, row=row, col=1)
            named.add((curve.name, colour))
        if panel.top is not None:
            figure.update_yaxes(range=[0.0, panel.top], row=row, col=1)
        if any(curve.form == "bars" for curve in panel.curves):
            figure.update_yaxes(autorange="reversed", row=row, col=1)
    return figure


def _traces(places: Any, curve: Curve, colour: str) -> list[Any]:
    graph = extras.require("plotly.graph_objects")
    look: dict[str, Any] = {"name": html.escape(_name(curve.name), quote=False)}
    look |= {"showlegend": bool(curve.name), "legendgroup": f"{colour} {curve.name}"}
    if curve.form == "bars":
        names = [html.escape(_name(str(place)), quote=False) for place in places]
        return [graph.Bar(x=curve.values, y=names, orientation="h", marker_color=colour, **look)]
    if curve.form == "band":
        look |= {"x": places, "mode": "lines", "line": {"width": 0, "color": colour}}
        lower = graph.Scatter(y=curve.values, **look | {"showlegend": False})
        return [lower, graph.Scatter(y=curve.upper, fill="tonexty", **look)]
    mode = "markers" if curve.form == "points" else "lines"
    look |= {"marker": {"size": 4, "color": colour}, "line": {"color": colour, "width": 1.4}}
    return [graph.Scatter(x=places, y=curve.values, mode=mode, **look)]
