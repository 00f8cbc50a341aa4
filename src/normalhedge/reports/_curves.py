"""Curves over the time of a blend, for the plots of its page."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import clipped
from normalhedge.reports._axes import cut_off, positions, robust_range
from normalhedge.reports._figures import COLOURS, GREY, as_html, empty_figure, label
from normalhedge.reports.plots import PALETTE
from normalhedge.tables import Timeline

LONGEST_NAME = 28
"""The largest number of letters of a name in a legend, so that plots keep their room."""

MOST_AWAKE = 60
"""The largest number of models in the plot of those awake."""


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


def _add(figure: Any, timeline: Timeline, values: np.ndarray, name: str, **style: Any) -> None:
    go = extras.require("plotly.graph_objects")
    hover = style.pop("hover", "%{y:,.4~g}")
    figure.add_trace(
        go.Scatter(
            x=positions(timeline.when)[0],
            y=values.astype(np.float32),
            name=label(name),
            mode="lines" if len(timeline.when) > 3 else "lines+markers",
            hovertemplate=hover,
            **style,
        )
    )


def _finished(figure: Any, timeline: Timeline, identifier: str) -> str:
    figure.update_xaxes(**positions(timeline.when)[1])
    return as_html(figure, identifier)


def _line(k: int) -> dict[str, object]:
    style = PALETTE[1 + k % (len(PALETTE) - 1)]
    return {"color": COLOURS[k % len(COLOURS)], "dash": style.dash, "width": 1.6}


def behind_plot(timeline: Timeline) -> tuple[str, str]:
    """Return a plot of cumulative losses, and a sentence about points that it does not show."""
    figure = empty_figure(yaxis_title="cumulative loss minus that of the blend")
    plain = {"color": GREY, "width": 2.4}
    seen = "legendonly" if timeline.wild[-1] else True
    _add(figure, timeline, timeline.behind[:, -1], "uniform weights", line=plain, visible=seen)
    shown = [] if timeline.wild[-1] else [timeline.behind[:, -1]]
    for k, name in enumerate(short_names(timeline.names)):
        visible = True if k < 6 and not timeline.wild[k] else "legendonly"
        _add(figure, timeline, timeline.behind[:, k], name, line=_line(k), visible=visible)
        shown += [timeline.behind[:, k]] if visible is True else []
    figure.add_hline(y=0, line={"color": "#000000", "width": 1})
    limit = robust_range(np.zeros(1), *shown)
    figure.update_yaxes(range=[limit.low, limit.high])
    return _finished(figure, timeline, "behind"), cut_off(limit.cut)


def weights_plot(timeline: Timeline) -> str:
    """Return a plot of the weights of the models."""
    figure = empty_figure(yaxis_title="weight", yaxis_range=[0, 1], yaxis_tickformat=".0%")
    for k, name in enumerate(short_names(timeline.names)):
        style = {"width": 0.4, "color": COLOURS[k % len(COLOURS)]}
        values = np.nan_to_num(timeline.weights[:, k])
        _add(figure, timeline, values, name, stackgroup="one", line=style, hover="%{y:.1%}")
    if len(timeline.everybody) > len(timeline.names):
        values = np.nan_to_num(timeline.others)
        style = {"width": 0.4, "color": GREY}
        _add(figure, timeline, values, "all others", stackgroup="one", line=style, hover="%{y:.1%}")
    return _finished(figure, timeline, "weights")


def error_plot(timeline: Timeline, name: str, *, square: bool) -> tuple[str, str]:
    """Return a plot of errors over time, and a sentence about points that it does not show."""
    curves = {"blend": timeline.blend, "plain average": timeline.uniform}
    experts = timeline.losses
    if square:
        curves, experts = {key: np.sqrt(x) for key, x in curves.items()}, np.sqrt(experts)
    figure = empty_figure(yaxis_title=name)
    colours = {"blend": "#000000", "plain average": GREY}
    for key, curve in curves.items():
        _add(figure, timeline, curve, key, line={"color": colours[key], "width": 2.1})
    for k, key in enumerate(short_names(timeline.names)):
        _add(figure, timeline, experts[:, k], key, line=_line(k), visible="legendonly")
    scale = np.nanmedian(np.abs(curves["blend"])) if len(timeline.when) else 0.0
    near = [x for x in curves.values() if np.nanmedian(np.abs(x)) <= 5.0 * scale]
    limit = robust_range(*(near or curves.values()), zero=bool(np.nanmin(curves["blend"]) >= 0.0))
    figure.update_yaxes(range=[limit.low, limit.high])
    outside = [(x < limit.low) | (x > limit.high) for x in curves.values()]
    return _finished(figure, timeline, "loss"), cut_off(int(np.sum(outside)))


def awake_plot(timeline: Timeline) -> str:
    """Return a plot of the share of rows in which each model made a forecast."""
    go = extras.require("plotly.graph_objects")
    shown = timeline.everybody[:MOST_AWAKE]
    figure = empty_figure(height=90 + 18 * len(shown))
    x, _ = positions(timeline.when)
    figure.add_trace(
        go.Heatmap(
            x=x,
            y=[label(name) for name in short_names(shown)],
            z=timeline.awake[: len(shown)].astype(np.float32),
            zmin=0,
            zmax=1,
            colorscale=[[0, "#f2f4f6"], [1, "#1f6f8b"]],
            showscale=False,
            hovertemplate="%{y}: %{z:.0%}<extra></extra>",
        )
    )
    figure.update_layout(hovermode="closest", margin={"l": 170, "r": 80})
    figure.update_yaxes(autorange="reversed", tickfont={"size": 10}, type="category")
    return _finished(figure, timeline, "awake")


def largest_regret_plot(timeline: Timeline, bound: float | None) -> str:
    """Return a plot of the largest regret."""
    figure = empty_figure(height=300, yaxis_title="regret, in the loss", yaxis_rangemode="tozero")
    _add(
        figure, timeline, timeline.regret, "largest regret", line={"color": "#000000", "width": 1.6}
    )
    if bound is not None:
        line = {"color": "#d55e00", "dash": "dash"}
        figure.add_hline(y=bound, line=line, annotation_text="bound at the end")
    return _finished(figure, timeline, "regret")
