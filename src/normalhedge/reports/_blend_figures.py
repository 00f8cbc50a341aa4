"""The plots of a blend that anybody can read: forecasts, errors by groups, and intervals."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import clipped
from normalhedge.reports._axes import cut_off, positions, robust_range
from normalhedge.reports._curves import LONGEST_NAME
from normalhedge.reports._figures import COLOURS, GREY, as_html, empty_figure, label
from normalhedge.reports.analysis import MEAN, CoverageReview, Errors, SeriesCurves, SeriesTrack

BLACK, BLUE = "#000000", COLOURS[0]


def track_plot(tracks: Sequence[SeriesTrack], target: str) -> tuple[str, str]:
    """Return a plot of forecasts and outcomes, and a sentence about hidden points."""
    two = any(track.whole is not None for track in tracks)
    figure = extras.require("plotly.subplots").make_subplots(
        rows=2 if two else 1,
        subplot_titles=["the last part", "the whole time"] if two else None,
        vertical_spacing=0.16,
    )
    owners: list[int] = []
    seen: list[Any] = []
    ranges, cut = [], 0
    for k, track in enumerate(tracks):
        parts = [track.last, *([track.whole or track.last] if two else [])]
        limits = [_limits(curves) for curves in parts]
        cut += sum(limit.cut for limit in limits)
        ranges.append([[limit.low, limit.high] for limit in limits])
        for row, curves in enumerate(parts, start=1):
            for trace, visible in _traces(curves, first=row == 1):
                figure.add_trace(trace, row=row, col=1)
                owners.append(k)
                seen.append(visible)
    for trace, owner, visible in zip(figure.data, owners, seen, strict=True):
        trace.visible = visible if owner == 0 else False
    _, axis = positions(tracks[0].last.times)
    figure.update_xaxes(**axis)
    for row, limit in enumerate(ranges[0], start=1):
        figure.update_yaxes(range=limit, row=row, col=1)
    figure.update_yaxes(title_text=label(clipped(target, LONGEST_NAME)), row=1)
    several = len(tracks) > 1
    figure.update_layout(
        template="plotly_white",
        height=(640 if two else 400) + 40 * several,
        hovermode="x unified",
        margin={"l": 60, "r": 40, "t": 120 if several else 70, "b": 40},
        legend={
            "orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top",
            "font": {"size": 11},
        },
        modebar={"orientation": "v"},
    )  # fmt: skip
    if several:
        buttons = []
        for k, track in enumerate(tracks):
            shown = [
                visible if owner == k else False
                for owner, visible in zip(owners, seen, strict=True)
            ]
            axes = {
                f"yaxis{row or ''}.range": limit
                for row, limit in zip(("", 2), ranges[k], strict=False)
            }
            again = {f"xaxis{row}.autorange": True for row in (("", 2) if two else ("",))}
            name = label(clipped(track.name, LONGEST_NAME))
            buttons.append(
                {"label": name, "method": "update", "args": [{"visible": shown}, axes | again]}
            )
        menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
        menu["pad"] = {"b": 28}
        figure.update_layout(updatemenus=[menu])
    return as_html(figure, "forecast"), cut_off(cut)


def _limits(curves: SeriesCurves) -> Any:
    """Return the range of a plot of a series; the plain mean may lie outside."""
    shown = [curves.actual, curves.forecast]
    if curves.bands is not None:
        shown += [curves.bands.lower, curves.bands.upper]
    return robust_range(*shown)


def _traces(curves: SeriesCurves, *, first: bool) -> list[tuple[Any, Any]]:
    """Return the curves of a series, each with whether it is visible at first."""
    go = extras.require("plotly.graph_objects")
    x, _ = positions(curves.times)
    found: list[tuple[Any, Any]] = []
    if curves.bands is not None:
        levels = curves.bands.levels
        for k in reversed(range(len(levels))):
            group = {"legendgroup": f"{k}", "mode": "lines", "line": {"width": 0}, "x": x}
            fill = {"fill": "tonexty", "fillcolor": f"rgba(0,114,178,{0.14 + 0.08 / (k + 1):.2f})"}
            name = f"{100 * levels[k]:g} % interval"
            low, high = (side[k].astype(np.float32) for side in curves.bands[1:])
            hover = "%{y:,.4~g}<extra>" + name + "</extra>"
            found += [
                (go.Scatter(y=low, showlegend=False, hovertemplate=hover, **group), True),
                (go.Scatter(y=high, name=name, hovertemplate=hover, **fill, **group), True),
            ]
    style: dict[str, Any] = {"x": x, "mode": "lines", "hovertemplate": "%{y:,.4~g}"}
    if first and len(curves.times) <= 60:
        style["mode"] = "lines+markers"
    lines = (
        ("plain average", curves.plain, GREY, 1.4, "legendonly"),
        ("actual", curves.actual, BLACK, 1.6, True),
        ("blend", curves.forecast, BLUE, 1.8, True),
    )
    for name, values, colour, width, visible in lines:
        if name == "plain average" and not first:
            continue
        line, marker = {"color": colour, "width": width}, {"size": 4}
        trace = go.Scatter(
            y=values.astype(np.float32), name=name, line=line, marker=marker, showlegend=first,
            **style,
        )  # fmt: skip
        found.append((trace, visible))
    return found


def group_plot(title: str, errors: Errors, measure: int) -> tuple[str, str]:
    """Return a plot of errors by groups, and a sentence about points that it does not show."""
    go = extras.require("plotly.graph_objects")
    figure = empty_figure(height=270, yaxis_title=errors.measures[measure].name)
    values = errors.values[measure]
    limit = robust_range(values[:, 0], *_near(values), zero=True)
    cut = 0
    for k, name in enumerate(errors.names):
        colour = BLACK if k == 0 else GREY if k == 1 else COLOURS[1 if "median" in name else 0]
        figure.add_trace(
            go.Scatter(
                x=errors.labels,
                y=values[:, k].astype(np.float32),
                name="plain average" if name == MEAN else label(clipped(name, LONGEST_NAME)),
                mode="lines+markers",
                line={"color": colour, "width": 2.2 if k == 0 else 1.4},
                marker={"size": 5},
                hovertemplate="%{y:,.4~g}",
            )
        )
        cut += int((values[:, k] > limit.high).sum())
    figure.update_yaxes(range=[limit.low, limit.high])
    figure.update_xaxes(type="category", title_text=title)
    return as_html(figure, f"by-{title.replace(' ', '-')}"), cut_off(cut)


def _near(values: np.ndarray) -> list[np.ndarray]:
    """Return the curves, except the first, that stay near the first."""
    middle = np.nanmedian(values[:, 0])
    return [curve for curve in values.T[1:] if np.nanmedian(curve) <= 5.0 * middle]


def coverage_plot(found: CoverageReview) -> str:
    """Return a plot of the coverage and the width of intervals over time."""
    go = extras.require("plotly.graph_objects")
    figure = extras.require("plotly.subplots").make_subplots(
        rows=2, shared_xaxes=True, vertical_spacing=0.08
    )
    x, axis = positions(found.times)
    for k, level in enumerate(found.levels):
        name, line = f"{100 * level:g} %", {"color": COLOURS[k % len(COLOURS)], "width": 1.6}
        rows = ((found.covered_in[k], "%{y:.1%}"), (found.width_in[k], "%{y:,.4~g}"))
        for row, (values, hover) in enumerate(rows, start=1):
            trace = go.Scatter(
                x=x, y=values.astype(np.float32), name=name, legendgroup=name, line=line,
                mode="lines+markers" if len(found.times) < 5 else "lines",
                showlegend=row == 1, hovertemplate=hover,
            )  # fmt: skip
            figure.add_trace(trace, row=row, col=1)
        dashed = {"color": line["color"], "dash": "dash", "width": 1}
        figure.add_hline(y=float(level), line=dashed, row=1, col=1)
    least = min(float(found.covered_in.min()), 0.98 * float(found.levels.min()))
    figure.update_yaxes(title_text="coverage", tickformat=".0%", range=[least - 0.03, 1.02], row=1)
    limit = robust_range(found.width_in, zero=True)
    figure.update_yaxes(title_text="median width", range=[limit.low, limit.high], row=2)
    figure.update_xaxes(**axis)
    figure.update_layout(
        template="plotly_white",
        height=480,
        hovermode="x unified",
        margin={"l": 60, "r": 40, "t": 40, "b": 40},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        modebar={"orientation": "v"},
    )
    return as_html(figure, "coverage")


def reliability_plot(found: CoverageReview) -> str:
    """Return a plot of the shares of outcomes below and between quantiles, beside what they claim.

    The shares between neighbours are a histogram of the probability integral transform.
    """
    go = extras.require("plotly.graph_objects")
    figure = extras.require("plotly.subplots").make_subplots(
        cols=2, horizontal_spacing=0.12,
        subplot_titles=("below each quantile", "between quantiles, relative to the claim"),
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "dash": "dash"}), 1, 1
    )
    hover = "quantile %{x:.1%}: %{y:.1%} of the outcomes<extra></extra>"
    figure.add_trace(
        go.Scatter(
            x=found.quantiles, y=found.below, mode="lines+markers", line={"color": BLUE},
            hovertemplate=hover,
        ), 1, 1,
    )  # fmt: skip
    edges = np.concatenate([[0.0], found.quantiles, [1.0]])
    below = np.concatenate([[0.0], found.below, [1.0]])
    wide = np.diff(edges) > 1e-9
    relative = np.diff(below)[wide] / np.diff(edges)[wide]
    names = [f"{100 * a:.3g} to {100 * b:.3g} %" for a, b in pairwise(edges)]
    kept = [name for name, there in zip(names, wide, strict=True) if there]
    figure.add_trace(
        go.Bar(
            x=(edges[:-1] + 0.5 * np.diff(edges))[wide], y=relative, width=np.diff(edges)[wide],
            marker={"color": BLUE, "line": {"color": "#ffffff", "width": 1}}, customdata=kept,
            hovertemplate="%{customdata}: %{y:.2f} times as many<extra></extra>",
        ), 1, 2,
    )  # fmt: skip
    figure.add_hline(y=1.0, line={"color": GREY, "dash": "dash"}, row=1, col=2)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", range=[0, 1.02], col=1)
    figure.update_annotations(font_size=12)
    figure.update_layout(
        template="plotly_white", height=320, showlegend=False, hovermode="closest",
        margin={"l": 60, "r": 40, "t": 40, "b": 40}, modebar={"orientation": "v"},
    )  # fmt: skip
    return as_html(figure, "reliability")
