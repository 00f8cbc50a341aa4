"""Figures as PNG and PDF files. They show results; nothing is computed here."""

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normalhedge.boundary import extras, whole_files
from normalhedge.hedgers.trace import Trace


@dataclass(frozen=True)
class Style:
    """The look of a curve: colour and dashes, so that curves also differ without colour."""

    colour: str
    dash: str
    width: float = 1.4
    second: bool = False
    """Whether the curve belongs to the second set, which is not in the paper."""


DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1, 1.4)),
    "dashdot": (0, (5, 1.5, 1, 1.5)),
    "longdash": (0, (10, 3)),
}
"""The dash patterns of matplotlib, by their names in plotly."""


PALETTE = (
    Style("#000000", "solid"),
    Style("#0072b2", "dash", 1.8),
    Style("#e69f00", "dot", 2.0),
    Style("#009e73", "dashdot"),
    Style("#cc79a7", "longdash"),
    Style("#d55e00", "dash"),
    Style("#56b4e9", "solid"),
    Style("#8c564b", "dot"),
    Style("#5f9e3c", "longdash"),
    Style("#7b6fb0", "solid"),
    Style("#6b7280", "dashdot", 2.0),
    Style("#b3261e", "solid", 1.8),
)
"""The styles of curves without a style of their own, in order."""


def regret_figure(
    panels: Sequence[tuple[str, Trace]],
    styles: Mapping[str, Style],
    path: Path,
    *,
    columns: int = 2,
) -> list[Path]:
    """Draw the regret to the best expert, one panel for each trace; return the files written.

    Bands of two standard errors lie around the means of several runs.

    If there is a second set of curves, a second figure beside the first shows both sets.
    """
    extras.require("matplotlib").use("Agg")
    plt = extras.require("matplotlib.pyplot")
    rows = -(-len(panels) // columns)
    height = 2.5 * rows + 0.9
    figure, grid = plt.subplots(
        rows, columns, figsize=(4.4 * columns, height), squeeze=False, sharex=True
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, trace) in zip(grid.flat, panels, strict=False):
        _draw_curves(axes, trace, styles)
        axes.set_title(title, fontsize=10)
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
        axes.tick_params(labelsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel("regret to the best expert", fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("round", fontsize=9)
    figure.subplots_adjust(
        left=0.62 / (4.4 * columns),
        right=1.0 - 0.15 / (4.4 * columns),
        bottom=0.5 / height,
        top=1.0 - 0.8 / height,
        hspace=0.22,
        wspace=0.14,
    )
    stems = [path.with_suffix("")]
    if any(styles[name].second for name in panels[0][1].hedgers):
        stems.append(path.with_name(f"{path.stem}-second-set"))
    endings = (path.suffix,) if path.suffix else (".png", ".pdf", ".svg")
    files = []
    for second, stem in enumerate(stems):
        for axes in grid.flat[: len(panels)]:
            _show(axes, second=bool(second))
        figure.legends.clear()
        shown = [line for line in grid.flat[0].lines if line.get_visible()]
        figure.legend(
            handles=shown, loc="upper center", ncols=4, fontsize=8, frameon=False, handlelength=3.2
        )
        for ending in endings:
            files.append(stem.with_suffix(ending))
            _save(figure, files[-1])
    plt.close(figure)
    return files


def _draw_curves(axes: Any, trace: Trace, styles: Mapping[str, Style]) -> None:
    """Draw the curves of a trace, with bands of two standard errors if there are several runs."""
    for k, name in enumerate(trace.hedgers):
        style = styles[name]
        look = {
            "color": style.colour,
            "linestyle": DASHES[style.dash],
            "linewidth": style.width,
        }
        group = "second" if style.second else "first"
        regret = trace.regret.mean[k]
        axes.plot(trace.rounds, regret, label=trace.labels[k], gid=group, **look)
        if trace.runs > 1:  # two standard errors of the mean
            half = 2.0 * trace.regret.spread[k] / math.sqrt(trace.runs)
            band = {"gid": group, "color": style.colour, "alpha": 0.15, "linewidth": 0.0}
            axes.fill_between(trace.rounds, regret - half, regret + half, **band)


def frontier_figure(
    points: Sequence[Any], lines: Mapping[str, float], title: str, path: Path
) -> None:
    """Draw average potential and regret against c: the certified bounds and the best attacks."""
    extras.require("matplotlib").use("Agg")
    plt = extras.require("matplotlib.pyplot")
    figure, grid = plt.subplots(1, 2, figsize=(8.0, 3.2))
    fields = (("potential", "led", "attack_potential"), ("bound", "led_bound", "attack_regret"))
    curves = ((":", "one round"), ("-", "leader known"), ("o", "best attack"))
    for axes, names in zip(grid, fields, strict=True):
        for name, (marks, label) in zip(names, curves, strict=True):
            values = [getattr(p, name) for p in points]
            colour = "#d55e00" if marks == "o" else "black"
            axes.plot([p.c for p in points], values, marks, label=label, color=colour)
        axes.set_xscale("log")
        axes.set_xlabel("c", fontsize=9)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}")
        axes.tick_params(labelsize=8, which="both")
        axes.tick_params(axis="x", labelsize=6.5, which="minor")  # 0.7, 0.8 and 0.9 are close
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
    grid[0].set_yscale("log")
    grid[0].set_title("average potential", fontsize=10)
    grid[1].set_title("regret × √α", fontsize=10)
    for style, (name, level) in zip(PALETTE[1:], lines.items(), strict=False):
        grid[1].axhline(level, color=style.colour, linestyle=DASHES[style.dash], label=name)
    grid[1].legend(fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    _save(figure, path, dpi=160)
    plt.close(figure)


def _save(figure: Any, path: Path, dpi: int = 130) -> None:
    """Write a figure whole; the ending of its name decides the format."""
    kind = path.suffix[1:].lower()
    if kind == "pgf":
        _check_tex(path)
    options: dict[str, Any] = {"dpi": dpi, "format": kind}
    if kind == "svg":  # the same figure is the same file
        options["metadata"] = {"Date": None}
    with extras.require("matplotlib").rc_context({"svg.hashsalt": "normalhedge"}):
        whole_files.write_whole(path, lambda part: figure.savefig(part, **options))


def _check_tex(path: Path) -> None:
    """Refuse PGF where TeX is missing: it measures the texts of the figure."""
    system = extras.require("matplotlib").rcParams["pgf.texsystem"]
    if shutil.which(system) is None:
        raise ValueError(f"{path}: PGF needs {system}, which is not installed; SVG does not")


def _show(axes: Any, *, second: bool) -> None:
    """Show the first set of curves, or both sets, and fit the axis to the visible curves."""
    for line in (*axes.lines, *axes.collections):
        line.set_visible(second or line.get_gid() == "first")
    axes.relim(visible_only=True)
    axes.set_autoscaley_on(True)
    axes.autoscale_view()
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
