"""Interactive plots as pieces of a page: readers can zoom, hover and switch curves on and off."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import shown
from normalhedge.hedgers.trace import Trace
from normalhedge.reports.plots import PALETTE, Style

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#8c564b",
    "#7b6fb0", "#5f9e3c",
)  # fmt: skip
"""The colours of experts and symbols, the same in every plot of a page."""

GREY = "#9aa3ad"


def label(text: str) -> str:
    """Escape a text for plotly, which reads labels as HTML, links included.

    Examples
    --------
    >>> label("<a href='x'>R&D</a>")
    "&lt;a href='x'&gt;R&amp;D&lt;/a&gt;"
    """
    return html.escape(shown(text), quote=False)


def empty_figure(height: int = 380, **layout: Any) -> Any:
    """Return a figure in the style of the package, without curves."""
    go = extras.require("plotly.graph_objects")
    figure = go.Figure()
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


def regret_plot(
    identifier: str,
    panels: Sequence[tuple[str, Trace]],
    styles: Mapping[str, Style],
    columns: int = 2,
) -> str:
    """Return a plot of regrets as HTML, with one legend that switches the curves of all panels.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    panels
        The title and the trace of each panel.
    styles
        The style of each hedger's curve, by name.
    columns
        The number of panels side by side.
    """
    go = extras.require("plotly.graph_objects")
    subplots = extras.require("plotly.subplots")
    rows = -(-len(panels) // columns)
    figure = subplots.make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[label(title) for title, _ in panels],
        shared_xaxes=True,
        vertical_spacing=0.22 / (rows + 1),
        horizontal_spacing=0.08,
    )
    for place, (_, trace) in enumerate(panels):
        for k, name in enumerate(trace.hedgers):
            figure.add_trace(
                _line(go, trace, k, name, styles[name], first=place == 0),
                row=place // columns + 1,
                col=place % columns + 1,
            )
    figure.update_xaxes(title_text="round", row=rows)
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="regret to the best", col=1)
    return _laid_out(figure, rows, identifier)


LossPanel = tuple[str, Sequence[str], np.ndarray, int]
"""A title, names, a curve for each name (names x points), and the number of rounds."""


def loss_plot(identifier: str, panels: Sequence[LossPanel], columns: int = 2) -> str:
    """Return a plot of mean losses over time as HTML, with one legend for all panels.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    panels
        The curves of each panel.
    columns
        The number of panels side by side.
    """
    go = extras.require("plotly.graph_objects")
    rows = -(-len(panels) // columns)
    figure = extras.require("plotly.subplots").make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[label(title) for title, *_ in panels],
        vertical_spacing=0.24 / (rows + 1),
        horizontal_spacing=0.08,
    )
    for place, (_, names, curves, rounds) in enumerate(panels):
        for k, (name, curve) in enumerate(zip(names, curves, strict=True)):
            style = PALETTE[k % len(PALETTE)]
            trace = go.Scatter(
                x=np.linspace(0, rounds, len(curve) + 1)[1:].astype(np.int32),
                y=curve.astype(np.float32),
                name=label(name),
                legendgroup=label(name),
                showlegend=place == 0,
                hovertemplate="%{y:.4f}",
                visible="legendonly" if "rounded" in name else True,
                line={"color": style.colour, "dash": style.dash, "width": style.width},
            )
            figure.add_trace(trace, row=place // columns + 1, col=place % columns + 1)
    figure.update_xaxes(title_text="round", row=rows)
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="L1 loss", col=1)
    return _laid_out(figure, rows, identifier)


def curves_plot(
    identifier: str,
    x: np.ndarray,
    curves: Mapping[str, np.ndarray],
    visible: Sequence[str],
    **layout: Any,
) -> str:
    """Return a plot of named curves as HTML.

    The first curve is black; the colours of the others repeat with other dashes.
    """
    go = extras.require("plotly.graph_objects")
    figure = empty_figure(**layout)
    for k, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[(k - 1) % len(COLOURS)] if k else "#000000"
        dash = ("solid", "dash", "dot", "dashdot")[(k - 1) // len(COLOURS) % 4 if k else 0]
        figure.add_trace(
            go.Scatter(
                x=x,
                y=curve.astype(np.float32),
                name=label(name),
                hovertemplate="%{y:.4g}",
                visible=True if name in visible else "legendonly",
                line={"color": colour, "dash": dash, "width": 1.6 if k else 2.2},
            )
        )
    return as_html(figure, identifier)


def places_plot(
    identifier: str,
    rows: Sequence[str],
    columns: Sequence[str],
    places: np.ndarray,
    words: Sequence[Sequence[str]],
) -> str:
    """Return a table of ranks as a plot in HTML, with dark colours for the first ranks."""
    go = extras.require("plotly.graph_objects")
    figure = empty_figure(height=80 + 21 * len(rows), hovermode="closest")
    figure.add_trace(
        go.Heatmap(
            x=[label(name) for name in columns],
            y=[label(name) for name in rows],
            z=places.astype(np.float32),
            text=[[f"{x:g}" if np.isfinite(x) else "" for x in row] for row in places],
            texttemplate="%{text}",
            customdata=[[label(word) for word in row] for row in words],
            colorscale=[[0, "#1f6f8b"], [0.35, "#a9cbd6"], [1, "#f7f8fa"]],
            showscale=False,
            hovertemplate="%{y}: %{customdata}<extra></extra>",
        )
    )
    figure.update_layout(margin={"l": 210, "t": 30, "b": 20})
    figure.update_yaxes(autorange="reversed", tickfont={"size": 11})
    figure.update_xaxes(tickfont={"size": 11}, side="top")
    return as_html(figure, identifier)


def frontier_plot(identifier: str, points: Sequence[Any], lines: Mapping[str, float]) -> str:
    """Return a plot of potential and regret against c as HTML: certified, and reached by attacks.

    Parameters
    ----------
    identifier
        The id of the plot on its page.
    points
        The certified bounds and the attacks for each c.
    lines
        Other bounds on the regret, which do not depend on c, by name.
    """
    go = extras.require("plotly.graph_objects")
    titles = ("average potential", "regret × √α")
    figure = extras.require("plotly.subplots").make_subplots(cols=2, subplot_titles=titles)
    fields = (("potential", "led", "attack_potential"), ("bound", "led_bound", "attack_regret"))
    for column, (*bounds, reached) in enumerate(fields, start=1):
        first = {"showlegend": column == 1, "hovertemplate": "%{y:.5g}"}
        red = {"color": "#d55e00", "size": 7}
        for bound, name, dash in zip(
            bounds, ("one round", "leader known"), ("dot", "solid"), strict=True
        ):
            finite = [p for p in points if np.isfinite(getattr(p, bound))]
            figure.add_trace(
                go.Scatter(
                    x=[p.c for p in finite],
                    y=[getattr(p, bound) for p in finite],
                    name=name,
                    legendgroup=name,
                    mode="lines",
                    line={"color": "#000000", "width": 1.6, "dash": dash},
                    **first,
                ),
                row=1,
                col=column,
            )
        figure.add_trace(
            go.Scatter(
                x=[p.c for p in points],
                y=[getattr(p, reached) for p in points],
                name="best attack",
                legendgroup="attack",
                mode="markers",
                marker=red,
                **first,
            ),
            row=1,
            col=column,
        )
    for k, (name, level) in enumerate(lines.items()):
        style = PALETTE[1 + k]
        figure.add_hline(
            y=level,
            line={"color": style.colour, "dash": style.dash, "width": 1.4},
            annotation={"text": label(name), "font": {"size": 11}},
            row=1,
            col=2,
        )
    figure.update_xaxes(type="log", title_text="c")
    figure.update_yaxes(type="log", col=1)
    return _laid_out(figure, 1, identifier)


def _laid_out(figure: Any, rows: int, identifier: str) -> str:
    figure.update_layout(
        template="plotly_white",
        height=280 * rows + 130,
        hovermode="x unified",
        legend={"orientation": "h", "y": 1.0 + 0.16 / rows, "yanchor": "bottom", "x": 0},
        margin={"l": 60, "r": 40, "t": 20, "b": 50},
        modebar={"orientation": "v"},
    )
    return as_html(figure, identifier)


def as_html(figure: Any, identifier: str) -> str:
    """Return a plotly figure as a piece of HTML."""
    piece: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=identifier,
        config={
            "displaylogo": False,
            "responsive": True,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        },
    )
    return piece


def _line(go: Any, trace: Trace, k: int, name: str, style: Style, *, first: bool) -> Any:
    return go.Scatter(
        x=trace.rounds.astype(np.int32),
        y=trace.regret.mean[k].astype(np.float32),
        customdata=trace.regret.spread[k].astype(np.float32),
        hovertemplate="%{y:.1f} ± %{customdata:.1f}",
        name=label(name),
        legendgroup=label(name),
        showlegend=first,
        visible="legendonly" if style.second else True,
        line={"color": style.colour, "dash": style.dash, "width": style.width + 0.4},
    )
