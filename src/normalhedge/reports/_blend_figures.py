"""The plots of a blend: forecasts, errors by groups, intervals, and curves over its time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import clipped
from normalhedge.reports._figures import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    LONGEST_NAME,
    add_curve,
    add_shades,
    as_html,
    cut_off,
    label,
    new_figure,
    positions,
    robust_range,
    short_names,
)
from normalhedge.reports.analysis import MEAN, CoverageReview, Errors, SeriesCurves, SeriesTrack
from normalhedge.reports.plots import PALETTE
from normalhedge.tables import Timeline

MOST_AWAKE = 60
"""The largest number of models in the plot of the models awake."""

NEAR = 5.0
"""Curves whose median is at most this many times the median of the blend decide on a range."""

WIDE = 10.0
"""The axis of losses is logarithmic if the largest is this many times the smallest."""


DENSE = 2000
"""Curves of more points are thin."""


def track_plot(tracks: Sequence[SeriesTrack], target: str) -> tuple[str, str]:
    """Return a plot of forecasts and outcomes, and a sentence about hidden points."""
    two, several = any(track.whole is not None for track in tracks), len(tracks) > 1
    titles = ["the last part", "the whole time"] if two else None
    lines = 1 + (len(tracks[0].models) + 5) // 5
    figure = new_figure(
        (640 if two else 400) + 40 * several + 20 * lines,
        {"rows": 2 if two else 1, "subplot_titles": titles, "vertical_spacing": 0.16},
        margin={"t": 70 if several else 30},
        legend={"y": -0.08 if two else -0.14, "yanchor": "top"},
    )
    owners: list[int] = []
    ranges, cut = [], 0
    for k, track in enumerate(tracks):
        parts = [track.last, *([track.whole or track.last] if two else [])]
        limits = [_limits(curves) for curves in parts]
        cut += sum(limit.cut for limit in limits)
        ranges.append([[limit.low, limit.high] for limit in limits])
        for row, curves in enumerate(parts, start=1):
            _add_series(figure, curves, row, track.models)
        owners += [k] * (len(figure.data) - len(owners))
    visible = [trace.visible for trace in figure.data]
    shown = [
        [seen if owner == k else False for owner, seen in zip(owners, visible, strict=True)]
        for k in range(len(tracks))
    ]
    for trace, seen in zip(figure.data, shown[0], strict=True):
        trace.visible = seen
    figure.update_xaxes(**positions(tracks[0].last.times)[1])
    for row, limit in enumerate(ranges[0], start=1):
        figure.update_yaxes(range=limit, row=row, col=1)
    figure.update_yaxes(title_text=label(clipped(target, LONGEST_NAME)), row=1)
    if several:
        buttons = []
        for k, track in enumerate(tracks):
            places = zip(("", 2), ranges[k], strict=False)
            axes: dict[str, Any] = {f"yaxis{row}.range": limit for row, limit in places}
            axes |= {f"xaxis{row}.autorange": True for row in ("", 2)[: 1 + two]}
            change = {"method": "update", "args": [{"visible": shown[k]}, axes]}
            buttons.append({"label": label(clipped(track.name, LONGEST_NAME)), **change})
        place = {"x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "pad": {"b": 24}}
        figure.update_layout(updatemenus=[{"buttons": buttons, **place}])
    return as_html(figure, "forecast"), cut_off(cut)


def _limits(curves: SeriesCurves) -> Any:
    """Return the range of a plot of a series; the plain mean may lie outside."""
    bands = () if curves.bands is None else (curves.bands.lower, curves.bands.upper)
    return robust_range(curves.actual, curves.forecast, *bands)


def _add_series(figure: Any, curves: SeriesCurves, row: int, models: Sequence[str]) -> None:
    """Add the curves of a series to the panel of a row; the first row has the legend."""
    x, first = positions(curves.times)[0], row == 1
    levels = () if curves.bands is None else curves.bands.levels
    for k in reversed(range(len(levels))):
        assert curves.bands is not None
        name = f"{100 * levels[k]:g} % interval"
        style: dict[str, Any] = {"legendgroup": f"{k}", "mode": "lines", "line": {"width": 0}}
        style |= {"hover": "%{y:,.4~g}<extra>" + name + "</extra>", "visible": True}
        add_curve(figure, x, curves.bands.lower[k], "", (row, 1), showlegend=False, **style)
        style["fillcolor"] = f"rgba(0,114,178,{0.14 + 0.08 / (k + 1):.2f})"
        style |= {"fill": "tonexty", "showlegend": first}
        add_curve(figure, x, curves.bands.upper[k], name, (row, 1), **style)
    lines: list[tuple[str, np.ndarray, dict[str, Any], Any]] = [
        ("plain average", curves.plain, {"color": GREY, "width": 1.4}, "legendonly"),
        ("actual", curves.actual, {"color": BLACK, "width": 1.6}, True),
        ("blend", curves.forecast, {"color": BLUE, "width": 1.8}, True),
    ]
    for k, values in enumerate(curves.models.T):
        lines.append((short_names(models)[k], values, _line(k + 1), "legendonly"))
    mode = "lines+markers" if first and len(curves.times) <= 60 else "lines"
    thin = 0.5 if len(curves.times) > DENSE else 1.0
    for k, (name, values, line, visible) in enumerate(lines):
        look = {**line, "width": thin * line["width"]}
        style = {"line": look, "marker": {"size": 4}, "mode": mode, "legendgroup": f"line {k}"}
        style |= {"showlegend": first, "visible": visible}
        add_curve(figure, x, values, name, (row, 1), **style)


def group_plot(title: str, errors: Errors, measure: int) -> tuple[str, str]:
    """Return a plot of errors by groups, and a sentence about points that it does not show."""
    figure = new_figure(270, yaxis_title=errors.measures[measure].name)
    values = errors.values[measure]
    limit = robust_range(*_near(values.T), zero=True)
    for k, name in enumerate(errors.names):
        colour = BLACK if k == 0 else GREY if k == 1 else COLOURS[1 if "median" in name else 0]
        style = {"color": colour, "width": 2.2 if k == 0 else 1.4}
        short = "plain average" if name == MEAN else clipped(name, LONGEST_NAME)
        look: dict[str, Any] = {"mode": "lines+markers", "line": style, "marker": {"size": 5}}
        add_curve(figure, errors.labels, values[:, k], short, **look)
    figure.update_yaxes(range=limit[:2])
    figure.update_xaxes(type="category", title_text=title)
    cut = int((values > limit.high).sum())
    return as_html(figure, f"by-{title.replace(' ', '-')}"), cut_off(cut)


def _near(curves: Sequence[np.ndarray] | np.ndarray) -> list[np.ndarray]:
    """Return the first curve, and the others that stay near it."""
    scale = NEAR * np.nanmedian(np.abs(curves[0]))
    return [curves[0], *(curve for curve in curves[1:] if np.nanmedian(np.abs(curve)) <= scale)]


def coverage_plot(coverage: CoverageReview) -> str:
    """Return a plot of the coverage and the width of intervals over time."""
    rows = {"rows": 2, "shared_xaxes": True, "vertical_spacing": 0.08}
    figure = new_figure(480, rows, margin={"t": 40})
    x, axis = positions(coverage.times)
    for k, level in enumerate(coverage.levels):
        name, line = f"{100 * level:g} %", {"color": COLOURS[k % len(COLOURS)], "width": 1.6}
        mode = "lines+markers" if len(coverage.times) < 5 else "lines"
        style: dict[str, Any] = {"legendgroup": name, "line": line, "mode": mode}
        panels = ((coverage.covered_in[k], "%{y:.1%}"), (coverage.width_in[k], "%{y:,.4~g}"))
        for row, (values, hover) in enumerate(panels, start=1):
            add_curve(figure, x, values, name, (row, 1), hover, showlegend=row == 1, **style)
        dashed = {"color": line["color"], "dash": "dash", "width": 1}
        figure.add_hline(y=float(level), line=dashed, row=1, col=1)
    least = min(float(coverage.covered_in.min()), 0.98 * float(coverage.levels.min()))
    figure.update_yaxes(title_text="coverage", tickformat=".0%", range=[least - 0.03, 1.02], row=1)
    limit = robust_range(coverage.width_in, zero=True)
    figure.update_yaxes(title_text="median width", range=limit[:2], row=2)
    figure.update_xaxes(**axis)
    return as_html(figure, "coverage")


def reliability_plot(coverage: CoverageReview) -> str:
    """Return a plot of the shares of outcomes below and between quantiles, beside their claims.

    The shares between neighbours are a histogram of the probability integral transform.
    """
    go = extras.require("plotly.graph_objects")
    titles = ("below each quantile", "between quantiles, relative to the claim")
    panels = {"cols": 2, "horizontal_spacing": 0.12, "subplot_titles": titles}
    figure = new_figure(320, panels, showlegend=False, hovermode="closest", margin={"t": 40})
    dashed = {"color": GREY, "dash": "dash"}
    add_curve(figure, [0, 1], np.array([0, 1]), at=(1, 1), mode="lines", line=dashed)
    hover = "quantile %{x:.1%}: %{y:.1%} of the outcomes<extra></extra>"
    style: dict[str, Any] = {"mode": "lines+markers", "line": {"color": BLUE}}
    add_curve(figure, coverage.quantiles, coverage.below, "", (1, 1), hover, **style)
    edges = np.concatenate([[0.0], coverage.quantiles, [1.0]])
    below = np.concatenate([[0.0], coverage.below, [1.0]])
    wide = np.diff(edges) > 1e-9
    names = np.array([f"{100 * a:.3g} to {100 * b:.3g} %" for a, b in pairwise(edges)])
    widths = np.diff(edges)[wide]
    bars = go.Bar(
        x=(edges[:-1] + 0.5 * np.diff(edges))[wide], y=np.diff(below)[wide] / widths, width=widths,
        marker={"color": BLUE, "line": {"color": "#ffffff", "width": 1}},
        customdata=names[wide].tolist(),
        hovertemplate="%{customdata}: %{y:.2f} times as many<extra></extra>",
    )  # fmt: skip
    figure.add_trace(bars, 1, 2)
    figure.add_hline(y=1.0, line=dashed, row=1, col=2)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", range=[0, 1.02], col=1)
    figure.update_annotations(font_size=12)
    return as_html(figure, "reliability")


def _add(figure: Any, timeline: Timeline, values: np.ndarray, name: str, **style: Any) -> None:
    """Add a curve over the time of a blend."""
    style = {"mode": "lines" if len(timeline.when) > 3 else "lines+markers", **style}
    add_curve(figure, positions(timeline.when)[0], values, name, **style)


def _finish(figure: Any, timeline: Timeline, identifier: str) -> str:
    figure.update_xaxes(**positions(timeline.when)[1])
    return as_html(figure, identifier)


def _line(k: int) -> dict[str, Any]:
    style = PALETTE[1 + k % (len(PALETTE) - 1)]
    return {"color": COLOURS[k % len(COLOURS)], "dash": style.dash, "width": 1.6}


def behind_plot(timeline: Timeline) -> tuple[str, str]:
    """Return a plot of cumulative losses, and a sentence about points that it does not show."""
    figure = new_figure(yaxis_title="cumulative loss minus the blend's")
    curves = [("uniform weights", {"color": GREY, "width": 2.4}, -1)]
    curves += [(name, _line(k), k) for k, name in enumerate(short_names(timeline.names))]
    visible = [np.zeros(1)]
    for name, line, k in curves:
        curve, hidden = timeline.behind[:, k], k >= 6 or timeline.wild[k]
        seen = "legendonly" if hidden else True
        _add(figure, timeline, curve, name, line=line, visible=seen)
        visible += [] if hidden else [curve]
    figure.add_hline(y=0, line={"color": BLACK, "width": 1})
    limit = robust_range(*visible)
    figure.update_yaxes(range=limit[:2])
    return _finish(figure, timeline, "behind"), cut_off(limit.cut)


def weights_plot(timeline: Timeline) -> str:
    """Return a plot of the weights of the models."""
    figure = new_figure(yaxis_title="weight", yaxis_range=[0, 1], yaxis_tickformat=".0%")
    curves = list(zip(short_names(timeline.names), timeline.weights.T, COLOURS, strict=False))
    if len(timeline.everybody) > len(timeline.names):
        curves.append(("all others", timeline.others, GREY))
    for name, weights, colour in curves:
        style: dict[str, Any] = {"stackgroup": "one", "line": {"width": 0.4, "color": colour}}
        _add(figure, timeline, np.nan_to_num(weights), name, hover="%{y:.1%}", **style)
    return _finish(figure, timeline, "weights")


def error_plot(timeline: Timeline, name: str, *, square: bool) -> tuple[str, str]:
    """Return a plot of errors over time, and a sentence about points that it does not show."""
    curves, experts = np.stack([timeline.blend, timeline.uniform]), timeline.losses
    if square:
        curves, experts = np.sqrt(curves), np.sqrt(experts)
    figure = new_figure(yaxis_title=name)
    looks = zip(("blend", "plain average"), curves, (BLACK, GREY), strict=True)
    for key, curve, colour in looks:
        _add(figure, timeline, curve, key, line={"color": colour, "width": 2.1})
    for k, key in enumerate(short_names(timeline.names)):
        _add(figure, timeline, experts[:, k], key, line=_line(k), visible="legendonly")
    limit = robust_range(*_near(curves), zero=bool(np.nanmin(curves[0]) >= 0.0))
    figure.update_yaxes(range=limit[:2])
    outside = (curves < limit.low) | (curves > limit.high)
    return _finish(figure, timeline, "loss"), cut_off(int(outside.sum()))


def awake_plot(timeline: Timeline) -> str:
    """Return a plot of the share of rows in which each model made a forecast."""
    shown = timeline.everybody[:MOST_AWAKE]
    margin = {"l": 170, "r": 80}
    figure = new_figure(90 + 18 * len(shown), hovermode="closest", margin=margin)
    x, colours = positions(timeline.when)[0], [[0, "#f2f4f6"], [1, "#1f6f8b"]]
    style: dict[str, Any] = {"zmin": 0, "zmax": 1, "hovertemplate": "%{y}: %{z:.0%}<extra></extra>"}
    add_shades(figure, x, short_names(shown), timeline.awake[: len(shown)], colours, **style)
    figure.update_yaxes(tickfont={"size": 10}, type="category")
    return _finish(figure, timeline, "awake")


def largest_regret_plot(timeline: Timeline, bound: float | None) -> str:
    """Return a plot of the largest regret."""
    figure = new_figure(300, yaxis_title="regret, in the loss", yaxis_rangemode="tozero")
    line = {"color": BLACK, "width": 1.6}
    _add(figure, timeline, timeline.regret, "largest regret", line=line)
    if bound is not None:
        dashed = {"color": "#d55e00", "dash": "dash"}
        figure.add_hline(y=bound, line=dashed, annotation_text="bound at the end")
    return _finish(figure, timeline, "regret")


def component_plot(
    names: Sequence[str], weights: np.ndarray, losses: np.ndarray, blend: float
) -> str:
    """Return a plot of the weights and mean losses of components; a line marks the blend's loss."""
    go = extras.require("plotly.graph_objects")
    titles, margin = ("weight", "mean loss"), {"l": 210, "t": 30}
    figure = new_figure(
        90 + 21 * len(names),
        {"cols": 2, "shared_yaxes": True, "horizontal_spacing": 0.03, "subplot_titles": titles},
        showlegend=False, hovermode="closest", margin=margin,
    )  # fmt: skip
    rows = [label(name) for name in names]
    bars = {"orientation": "h", "marker_color": BLUE, "text": [f"{x:.2f}" for x in weights]}
    hover = "%{y}: %{x:.4f}<extra></extra>"
    figure.add_trace(go.Bar(x=weights, y=rows, hovertemplate=hover, **bars), row=1, col=1)
    marker, hover = {"color": COLOURS[4], "size": 8}, "%{y}: %{x:.5g}<extra></extra>"
    dots = go.Scatter(x=losses, y=rows, mode="markers", marker=marker, hovertemplate=hover)
    figure.add_trace(dots, row=1, col=2)
    figure.add_vline(x=blend, line={"color": BLACK, "width": 1}, row=1, col=2)
    figure.update_xaxes(range=[0, 1.15 * max(float(weights.max()), 1e-9)], col=1)
    if (losses > 0.0).all() and losses.max() > WIDE * losses.min():
        figure.update_xaxes(type="log", col=2)
    figure.update_yaxes(
        autorange="reversed", tickfont={"size": 11}, type="category", ticksuffix=" "
    )
    return as_html(figure, "components")
