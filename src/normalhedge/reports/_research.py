"""The sections of the page of a blend that researchers read: losses, components and regrets."""

import numpy as np

from normalhedge.boundary.terminal import counted
from normalhedge.guarantees import at_most
from normalhedge.mixtures import Summary
from normalhedge.reports._blend_figures import behind_plot, component_plot, largest_regret_plot
from normalhedge.reports._page import Section, sentence
from normalhedge.tables import Timeline


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
            "The cumulative loss of each expert minus the loss of the blend in the same rows: "
            "above zero, the blend did better. Curves off the scale, and curves of experts "
            f"with little weight, are hidden: click their names in the legend to show them.{cut}",
            plot,
        ),
        *([] if summary.automatic else [_regrets(summary, timeline)]),
        Section("experts", "The experts", "After the last round.", head=head, rows=rows),
        Section(
            "facts", "Other numbers", head=["", ""], rows=[*summary.facts(), *summary.theory()]
        ),
    ]


def _yardsticks(summary: Summary) -> Section:
    compared = summary.comparison
    head, rows = compared.table()
    words = [
        f"Means over {compared.where}." if compared.rows else "No row has an outcome yet.",
        sentence(summary.warning),
        sentence(summary.corrected),
        sentence(summary.by_context),
        sentence(summary.guarded),
    ]
    text, title = " ".join(filter(None, words)), "Losses of the blend and of its yardsticks"
    return Section("yardsticks", title, text, head=head, rows=rows, part="For researchers")


def _components(summary: Summary) -> Section:
    rows = summary.comparison.component_rows
    text = (
        "The blend is a weighted mean of these ways of combining the experts. The plot shows their "
        f"weights at the end, and their mean losses over {counted(rows, 'row')}; the vertical line "
        "is the loss of the blend."
    )
    head, body = summary.component_table()
    names = [row.name for row in summary.components]
    weights = np.array([row.weight for row in summary.components])
    losses = np.array([row.loss for row in summary.components])
    plot = component_plot(names, weights, losses, summary.comparison.loss_of("blend"))
    return Section("components", "The components of the blend", text, plot, head, body)


def _regrets(summary: Summary, timeline: Timeline) -> Section:
    bound = summary.bound.regret if summary.bound else None
    text = (
        "The largest regret to an expert: how much more the blend lost than the expert, discounted "
        "as the hedger forgets. "
    )
    text += "" if bound is None else f"At the end it is at most {at_most(bound, 4)}: "
    text += sentence(summary.bound.source)
    plot = largest_regret_plot(timeline, bound)
    return Section("regret", "Regret and its bound", text, plot)
