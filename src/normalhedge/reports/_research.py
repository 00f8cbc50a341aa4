"""The sections of the page of a blend that researchers read: losses, components and regrets."""

from collections.abc import Sequence

import numpy as np

from normalhedge.boundary import extras
from normalhedge.guarantees import at_most
from normalhedge.mixtures import Summary
from normalhedge.reports._curves import behind_plot, largest_regret_plot
from normalhedge.reports._figures import COLOURS, as_html, label
from normalhedge.reports._page import Section, sentence
from normalhedge.tables import Timeline

WIDE = 10.0
"""The axis of losses is logarithmic if the largest is this many times the smallest."""


def research_sections(summary: Summary, timeline: Timeline) -> list[Section]:
    """Return the sections for researchers."""
    head, rows = summary.table()
    plot, cut = behind_plot(timeline)
    return [
        _yardsticks(summary),
        *([_components(summary)] if summary.components else []),
        Section(
            "behind",
            "Cumulative loss, compared with the blend",
            "The cumulative loss of each expert minus that of the blend in the same rows: above "
            "zero, the blend did better. Curves off the scale, and those of experts with little "
            f"weight, are hidden: click their names in the legend to show them.{cut}",
            plot,
        ),
        *([] if summary.automatic else [_regrets(summary, timeline)]),
        Section("experts", "The experts", "After the last round.", head=head, rows=rows),
        Section("facts", "Other numbers", head=["", ""], rows=summary.facts()),
    ]


def _yardsticks(summary: Summary) -> Section:
    compared = summary.comparison
    head, rows = compared.table()
    words = [
        f"Means over {compared.where}." if compared.rows else "No row has an outcome yet.",
        sentence(summary.warning),
        sentence(summary.guarded),
    ]
    return Section(
        "yardsticks",
        "Losses of the blend and of its yardsticks",
        " ".join(filter(None, words)),
        head=head,
        rows=rows,
        part="For researchers",
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
        "The largest regret to an expert: how much more the blend lost than the expert, discounted "
        "as the hedger forgets. "
        + (
            f"At the end it is at most {at_most(summary.bound.regret, 4)}: "
            if summary.bound
            else ""
        )
        + sentence(summary.bound.source),
        largest_regret_plot(timeline, summary.bound.regret if summary.bound else None),
    )


def _bars(names: Sequence[str], weights: np.ndarray, losses: np.ndarray, level: float) -> str:
    """Return a plot of the weights and mean losses of components; a line marks the blend's loss."""
    go = extras.require("plotly.graph_objects")
    figure = extras.require("plotly.subplots").make_subplots(
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
