"""A dot for each panel, hedger and loss: how far the blend is from the better plain combination."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from normalhedge.boundary.whole_files import write_whole
from normalhedge.reports.plots import PALETTE

GOAL = 1.02
"""How far the blend may be from the better plain combination."""

EDGE = 4.0
"""Panels beyond are drawn at the edge, with their number."""

LOSSES = (("s", ("square", "l1")), ("o", ("absolute", "log")))
"""Markers: filled squares and open circles."""


def draw(table: pd.DataFrame, hedgers: Sequence[str], path: Path) -> None:
    """Draw a table of ``panel``, ``kind``, ``loss`` and a column for each hedger."""
    import matplotlib as mpl  # noqa: PLC0415 -- slow to import

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    names = list(dict.fromkeys(table["panel"]))
    height = 0.13 + 0.1 * len(hedgers)  # of a panel, in inches
    figure, axes = plt.subplots(figsize=(8, 1.6 + height * len(names)), layout="constrained")
    axes.axvline(1.0, color="0.4", lw=1)
    axes.axvspan(1.0, GOAL, color="0.85", lw=0)
    for k, hedger in enumerate(hedgers):
        shift = 0.6 * ((k + 0.5) / len(hedgers) - 0.5)
        places = {name: len(names) - 1 - j - shift for j, name in enumerate(names)}
        _dots(axes, table, hedger, places, PALETTE[(k + 1) % len(PALETTE)].colour)
    _label(axes, names, table)
    write_whole(path, lambda part: figure.savefig(part, dpi=150))
    plt.close(figure)


def _dots(
    axes: Any, table: pd.DataFrame, hedger: str, places: dict[str, float], colour: str
) -> None:
    """Draw the dots of one hedger, a marker for each loss."""
    beyond: dict[str, list[str]] = {}
    for marker, losses in LOSSES:
        part = table[table["loss"].isin(losses)]
        axes.plot(
            part[hedger].clip(upper=EDGE), [places[name] for name in part["panel"]], marker, ms=4.5,
            color=colour, mfc="white" if marker == "o" else colour, clip_on=False,
            label=f"{hedger}: {', '.join(losses)}",
        )  # fmt: skip
        for name, value in zip(part["panel"], part[hedger], strict=True):
            if value > EDGE:
                beyond.setdefault(name, []).append(f"{value:.2g}")
    for name, values in beyond.items():
        text = " " + ", ".join(values)
        axes.text(1.05 * EDGE, places[name], text, color=colour, fontsize=6.5, va="center")


def _label(axes: Any, names: Sequence[str], table: pd.DataFrame) -> None:
    """Name the panels, and let numbers be read off a logarithmic scale."""
    from matplotlib import ticker  # noqa: PLC0415

    kinds = dict(zip(table["panel"], table["kind"], strict=True))
    axes.set_yticks(range(len(names)), [f"{name} ({kinds[name]})" for name in reversed(names)])
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylim(-0.8, len(names) - 0.2)
    axes.set_xscale("log")
    axes.set_xlim(right=EDGE)
    axes.xaxis.set_major_locator(ticker.FixedLocator([0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2, 3, 4]))
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.grid(color="0.92", lw=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(
        f"loss of the blend, relative to the better of plain mean and median (grey: up to {GOAL})"
    )
    axes.figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
