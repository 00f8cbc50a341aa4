"""Figures on paper: results in, PNG and PDF out. Nothing is computed here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normalhedge import _extras, _tables
from normalhedge.games import Trace


@dataclass(frozen=True)
class Style:
    """How a curve looks: told apart by its dashes as well as by its colour, so in grey too."""

    colour: str
    dash: str
    width: float = 1.4
    second: bool = False
    """Whether it belongs to the second set, which the paper does not show."""


DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1, 1.4)),
    "dashdot": (0, (5, 1.5, 1, 1.5)),
    "longdash": (0, (10, 3)),
}
"""The names of dashes, which are plotly's, as matplotlib has them."""


PALETTE = (
    Style("#000000", "solid"),
    Style("#0072b2", "dash", 1.8),
    Style("#e69f00", "dot", 2.0),
    Style("#009e73", "dashdot"),
    Style("#cc79a7", "longdash"),
    Style("#d55e00", "dash"),
    Style("#56b4e9", "solid"),
)
"""Styles for curves that have none of their own."""


def regret_figure(
    panels: Sequence[tuple[str, Trace]],
    styles: Mapping[str, Style],
    stem: Path,
    *,
    second: bool,
    columns: int = 2,
) -> list[Path]:
    """Draw the regret to the best expert, a panel for each trace.

    Written are PNG and PDF, or the one that the ending of ``stem`` names. The second set of curves
    is drawn only where it is asked for.
    """
    _extras.require("matplotlib").use("Agg")
    plt = _extras.require("matplotlib.pyplot")
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(4.4 * columns, 2.5 * rows + 0.9), squeeze=False, sharex=True
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, trace) in zip(grid.flat, panels, strict=False):
        for k, name in enumerate(trace.hedgers):
            style = styles[name]
            if style.second and not second:
                continue
            axes.plot(
                trace.rounds,
                trace.regret.mean[k],
                color=style.colour,
                linestyle=DASHES[style.dash],
                linewidth=style.width,
                label=name,
            )
        axes.set_title(title, fontsize=10)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
        axes.tick_params(labelsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel("regret to the best expert", fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("round", fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper center", ncols=4, fontsize=8, frameon=False, handlelength=3.2
    )
    top = 1.0 - (0.5 if second else 0.34) / figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0, 1, top))
    paths = [stem] if stem.suffix else [stem.with_suffix(ending) for ending in (".png", ".pdf")]
    for path in paths:
        _tables.write_whole(path, lambda part: figure.savefig(part, dpi=130))
    plt.close(figure)
    return paths
