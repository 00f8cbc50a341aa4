"""Draw docs/hero.png: a blend of five models by day, and losses on panels beside other methods.

``python -m benchmarks.panels.overview && python docs/hero_picture.py``
"""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from normalhedge import blend

DOCS = Path(__file__).parent
OURS, GREY, COLOURS = "#0072b2", "#8a9099", ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7")
DAYS = slice("2013-01-01", "2015-12-31")
SHOWN = slice("2015-03-01", "2015-07-31")


def draw(path: Path) -> None:
    """Draw both halves of the picture."""
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10.4, 4.3), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.45, 1))
    _blend(left)
    _methods(right.subplots(), json.loads((DOCS / "overview.json").read_text(encoding="utf-8")))
    figure.savefig(path, dpi=150)


def _blend(part: Any) -> None:
    """Draw the forecasts of some months, and the weights of all years."""
    table = pd.read_csv(DOCS.parent / "examples" / "temperatures.csv", parse_dates=["date"])
    result = blend(table, target="y", time="date", weights=True)
    frame = result.frame.set_index("date").loc[DAYS]
    months, forecasts = frame.loc[SHOWN], table.set_index("date").loc[SHOWN].drop(columns="y")
    above, below = part.subplots(2, 1, height_ratios=(1.5, 1))
    above.plot(forecasts, color=GREY, lw=0.6, alpha=0.6)
    above.plot([], [], color=GREY, lw=0.6, label="five models")
    above.plot(months["y"], "k.", ms=3.5, label="outcome")
    above.plot(months["blend"], color=OURS, lw=1.8, label="blend")
    above.set(ylabel="°C", title="Each day, one forecast from five models ...")
    above.legend(frameon=False, ncols=3, loc="upper left", fontsize=8.5)
    above.set_ylim(top=above.get_ylim()[1] + 4)
    weights = frame.filter(like="weight_").rename(columns=lambda name: name.removeprefix("weight_"))
    below.stackplot(weights.index, weights.T, colors=COLOURS, lw=0)
    below.set(ylabel="weight", ylim=(0, 1), title="... with weights learned from every outcome")
    below.margins(x=0)
    _label_bands(below, weights)
    for axes, locator, format_ in ((above, "Month", "%b %Y"), (below, "Year", "%Y")):
        axes.xaxis.set_major_locator(getattr(mdates, f"{locator}Locator")())
        axes.xaxis.set_major_formatter(mdates.DateFormatter(format_))
    above.margins(x=0)


def _label_bands(axes: Any, weights: pd.DataFrame) -> None:
    """Write the name of each model where its band is broadest."""
    lower = weights.cumsum(axis=1).shift(axis=1, fill_value=0.0)
    inner = weights.iloc[len(weights) // 12 : -len(weights) // 6]
    for name in weights:
        day = inner[name].idxmax()
        if weights.at[day, name] > 0.15:
            height = lower.at[day, name] + weights.at[day, name] / 2
            axes.text(day, height, name.replace("_", " "), ha="center", va="center", fontsize=8.5)


def _methods(axes: Any, figures: dict[str, Any]) -> None:
    """Draw the loss of each method, with its number."""
    absolute = figures["absolute"]
    names = sorted(absolute, key=lambda name: -absolute[name]["mean"])
    values = [absolute[name]["mean"] for name in names]
    widest = 1.5  # a bar that is longer is cut
    colours = [OURS if name == "normalhedge" else "#c9ced6" for name in names]
    labels = {"best single model": "best single model,\nin hindsight"}
    axes.barh([labels.get(name, name) for name in names], np.minimum(values, widest), color=colours)
    for k, value in enumerate(values):
        weight = "bold" if names[k] == "normalhedge" else "normal"
        if value > widest:  # a gap in the bar
            axes.barh(k, 0.02, left=0.93 * widest, height=0.9, color="white")
        axes.text(min(value, widest), k, f" {value:.2f}", va="center", fontweight=weight)
    axes.set(xlim=(0, 1.15 * widest))
    axes.figure.suptitle(
        f"Absolute error on {figures['panels']} held-out panels (median: 1)", fontsize=11
    )
    axes.text(0.0, -1.0, "lower is better; cut bars are longer", fontsize=8.5, color=GREY)
    axes.tick_params(left=False)
    axes.xaxis.set_visible(False)
    axes.spines[["bottom", "left"]].set_visible(False)


if __name__ == "__main__":
    draw(DOCS / "hero.png")
