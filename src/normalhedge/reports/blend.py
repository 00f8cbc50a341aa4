"""The page of a blend."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _extras
from normalhedge.certificates.bounds import at_most
from normalhedge.mixtures import Summary
from normalhedge.plots import PALETTE
from normalhedge.reports.figures import (
    COLOURS,
    GREY,
    as_html,
    empty_figure,
    label,
)
from normalhedge.reports.page import Section, sentence, write_page
from normalhedge.tables.timeline import Timeline

WIDE = 10.0
"""The axis of losses is logarithmic if the largest is this many times the smallest."""


def write_blend(
    path: Path,
    summary: Summary,
    timeline: Timeline,
    *,
    title: str,
    notes: Sequence[str],
    command: str,
    settings: Mapping[str, object],
) -> None:
    """Write the page of a blend: yardsticks, components, experts, and curves over time.

    Parameters
    ----------
    path
        The file to write.
    summary, timeline
        The summary and the timeline of the blend.
    title
        The title of the page.
    notes
        Sentences about the guesses.
    command
        The command that writes the page again.
    settings
        Names and values for the footer, such as versions.
    """
    head, rows = summary.table()
    rounds = timeline.rounds
    unit = f"Each point is a mean over {rounds:,.3g} rounds." if rounds > 1.5 else ""
    sections = [
        _yardsticks(summary, notes),
        *([_components(summary)] if summary.components else []),
        Section(
            "behind",
            "Cumulative loss, compared with the blend",
            "The cumulative loss of each expert minus that of the blend in the same rows: above "
            "zero, the blend did better. Curves off the scale, and those of experts with little "
            "weight, are hidden: click their names in the legend to show them.",
            _behind(timeline),
        ),
        Section("weights", "Weights of the experts", f"Mean weights. {unit}", _weights(timeline)),
        Section(
            "loss",
            "Loss over time",
            f"Mean losses over the last {timeline.window:,.3g} rounds. Click an expert in the "
            "legend to show its curve.",
            _losses(timeline),
        ),
        Section(
            "awake",
            "Awake experts",
            "The share of rows in which each expert made a forecast.",
            _awake(timeline),
        ),
        *([] if summary.automatic else [_regrets(summary, timeline)]),
        Section("experts", "The experts", "After the last round.", head=head, rows=rows),
        Section("facts", "Other numbers", head=["", ""], rows=summary.facts()),
    ]
    write_page(
        path,
        title=title,
        subtitle=summary.settings,
        warnings=[f"Warning: {summary.warning}."] if summary.warning else [],
        claims=[],
        sections=sections,
        command=command,
        settings=settings,
    )


def _yardsticks(summary: Summary, notes: Sequence[str]) -> Section:
    compared = summary.comparison
    head, rows = compared.table()
    words = [
        f"Guessed: {'; '.join(notes)}." if notes else "",
        f"Means over {compared.where}." if compared.rows else "No row has an outcome yet.",
        sentence(summary.guarded),
    ]
    return Section(
        "yardsticks",
        "The blend and its yardsticks",
        " ".join(filter(None, words)),
        head=head,
        rows=rows,
    )


def _components(summary: Summary) -> Section:
    rows = summary.comparison.component_rows
    text = (
        "The blend is a weighted mean of these ways of combining the experts. The plot shows their "
        f"weights at the end, and their mean losses over {rows:,} rows; the vertical line is the "
        "loss of the blend."
    )
    head, body = summary.component_table()
    names = [row.name for row in summary.components]
    weights = np.array([row.weight for row in summary.components])
    losses = np.array([row.loss for row in summary.components])
    plot = _bars(names, weights, losses, summary.comparison.loss_of("blend"))
    return Section("components", "The components of the blend", text, plot, head, body)


def _regrets(summary: Summary, timeline: Timeline) -> Section:
    return Section(
        "regret",
        "Regret and its bound",
        "The largest discounted regret to an expert, in units of gain. "
        + (f"It never exceeds {at_most(summary.bound.regret, 4)}: " if summary.bound else "")
        + sentence(summary.bound.source),
        _regret(timeline, summary),
    )


def _bars(names: Sequence[str], weights: np.ndarray, losses: np.ndarray, level: float) -> str:
    """Return a plot of the weights and mean losses of components; a line marks the blend's loss."""
    go = _extras.require("plotly.graph_objects")
    figure = _extras.require("plotly.subplots").make_subplots(
        cols=2, shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=("weight", "mean loss")
    )
    rows = [label(name) for name in names]
    first = {"orientation": "h", "marker_color": COLOURS[0], "text": [f"{x:.2f}" for x in weights]}
    figure.add_trace(
        go.Bar(x=weights, y=rows, hovertemplate="%{y}: %{x:.4f}<extra></extra>", **first),
        row=1,
        col=1,
    )
    marker = {"color": COLOURS[4], "size": 8}
    hover = "%{y}: %{x:.5g}<extra></extra>"
    figure.add_trace(
        go.Scatter(x=losses, y=rows, mode="markers", marker=marker, hovertemplate=hover),
        row=1,
        col=2,
    )
    figure.add_vline(x=level, line={"color": "#000000", "width": 1}, row=1, col=2)
    figure.update_layout(
        template="plotly_white",
        height=90 + 21 * len(names),
        showlegend=False,
        hovermode="closest",
        margin={"l": 210, "r": 40, "t": 30, "b": 40},
        modebar={"orientation": "v"},
    )
    figure.update_xaxes(range=[0, 1.15 * max(float(weights.max()), 1e-9)], col=1)
    positive = losses[losses > 0.0]
    if len(positive) == len(losses) and positive.max() > WIDE * positive.min():
        figure.update_xaxes(type="log", col=2)
    figure.update_yaxes(
        autorange="reversed", tickfont={"size": 11}, type="category", ticksuffix=" "
    )
    return as_html(figure, "components")


def _as_html(figure: Any, timeline: Timeline, identifier: str) -> str:
    if isinstance(timeline.when[0], int):
        figure.update_xaxes(tickformat="d")
    return as_html(figure, identifier)


def _times(timeline: Timeline) -> list[Any]:
    return [label(time) if isinstance(time, str) else time for time in timeline.when]


def _add(figure: Any, timeline: Timeline, values: np.ndarray, name: str, **style: Any) -> None:
    go = _extras.require("plotly.graph_objects")
    hover = style.pop("hover", "%{y:.4g}")
    figure.add_trace(
        go.Scatter(
            x=_times(timeline),
            y=values.astype(np.float32),
            name=label(name),
            mode="lines",
            hovertemplate=hover,
            **style,
        )
    )


def _line(k: int) -> dict[str, object]:
    style = PALETTE[1 + k % (len(PALETTE) - 1)]
    return {"color": COLOURS[k % len(COLOURS)], "dash": style.dash, "width": 1.6}


def _behind(timeline: Timeline) -> str:
    figure = empty_figure(yaxis_title="cumulative loss minus that of the blend")
    plain = {"color": GREY, "width": 2.4}
    seen = "legendonly" if timeline.wild[-1] else True
    _add(figure, timeline, timeline.behind[:, -1], "uniform weights", line=plain, visible=seen)
    for k, name in enumerate(timeline.names):
        shown = True if k < 6 and not timeline.wild[k] else "legendonly"
        _add(figure, timeline, timeline.behind[:, k], name, line=_line(k), visible=shown)
    figure.add_hline(y=0, line={"color": "#000000", "width": 1})
    return _as_html(figure, timeline, "behind")


def _weights(timeline: Timeline) -> str:
    figure = empty_figure(yaxis_title="weight", yaxis_range=[0, 1])
    for k, name in enumerate(timeline.names):
        style = {"width": 0.4, "color": COLOURS[k % len(COLOURS)]}
        values = np.nan_to_num(timeline.weights[:, k])
        _add(figure, timeline, values, name, stackgroup="one", line=style, hover="%{y:.3f}")
    if len(timeline.everybody) > len(timeline.names):
        values = np.nan_to_num(timeline.others)
        style = {"width": 0.4, "color": GREY}
        _add(figure, timeline, values, "all others", stackgroup="one", line=style, hover="%{y:.3f}")
    return _as_html(figure, timeline, "weights")


def _losses(timeline: Timeline) -> str:
    figure = empty_figure(yaxis_title="mean loss")
    _add(figure, timeline, timeline.blend, "blend", line={"color": "#000000", "width": 2.2})
    _add(figure, timeline, timeline.uniform, "uniform weights", line={"color": GREY, "width": 2.0})
    for k, name in enumerate(timeline.names):
        _add(figure, timeline, timeline.losses[:, k], name, line=_line(k), visible="legendonly")
    return _as_html(figure, timeline, "loss")


def _awake(timeline: Timeline) -> str:
    go = _extras.require("plotly.graph_objects")
    shown = timeline.everybody[:80]
    figure = empty_figure(height=90 + 18 * len(shown))
    figure.add_trace(
        go.Heatmap(
            x=_times(timeline),
            y=[label(name) for name in shown],
            z=timeline.awake[: len(shown)].astype(np.float32),
            zmin=0,
            zmax=1,
            colorscale=[[0, "#f2f4f6"], [1, "#1f6f8b"]],
            showscale=False,
            hovertemplate="%{y}: %{z:.0%}<extra></extra>",
        )
    )
    figure.update_layout(hovermode="closest", margin={"l": 150})
    figure.update_yaxes(autorange="reversed", tickfont={"size": 10}, type="category")
    return _as_html(figure, timeline, "awake")


def _regret(timeline: Timeline, summary: Summary) -> str:
    figure = empty_figure(height=300, yaxis_title="regret, units of gain", yaxis_rangemode="tozero")
    _add(
        figure, timeline, timeline.regret, "largest regret", line={"color": "#000000", "width": 1.6}
    )
    if summary.bound:
        figure.add_hline(y=summary.bound.regret, line={"color": "#d55e00", "dash": "dash"})
    return _as_html(figure, timeline, "regret")
