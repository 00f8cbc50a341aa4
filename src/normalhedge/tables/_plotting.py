"""The plot of a table that was blended: outcomes, losses and weights over time."""

from typing import Any, Protocol

import numpy as np

from normalhedge.boundary.charts import BLACK, GREY, Curve, PlotPanel
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures.summaries import forecast_curves
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables._timeline import Stretches, timeline
from normalhedge.tables.frames import as_dates, to_arrow

MOST_ROWS = 300
"""The largest number of outcomes of a plot."""

MOST_EXPERTS = 6
"""The largest number of experts with curves of their own."""

FAR = 3.0
"""Losses this many times as large as the blend's are cut, so that the others can be told apart."""


class Plotted(Stretches, Protocol):
    """The part of a `normalhedge.tables.Blend` that is plotted."""

    frame: Any
    rounds: TableRounds


def blend_panels(blend: Plotted) -> list[PlotPanel]:
    """Return the panels of a blend: its last rows, its losses and its weights over time."""
    first = _last_rows(blend)
    line = timeline(blend)
    places = line.when if line.when.dtype.kind in "iufM" else np.arange(len(line.when))
    names = line.names[:MOST_EXPERTS]
    experts = [Curve(name, line.losses[:, k]) for k, name in enumerate(names)]
    losses = [*experts, Curve("uniform weights", line.uniform, colour=GREY)]
    losses.append(Curve("blend", line.blend, colour=BLACK))
    plain = np.fmax(line.blend, line.uniform)
    top = 1.1 * FAR * float(np.nanmax(np.append(plain, 0.0)))
    cut = bool(0.0 < top < np.nanmax(np.append(line.losses, 0.0)))
    weights = [Curve(name, line.weights[:, k]) for k, name in enumerate(names)]
    others = line.others + np.nansum(line.weights[:, MOST_EXPERTS:], axis=1)
    if len(blend.mixture.names) > MOST_EXPERTS:
        weights.append(Curve("all others", others, colour=GREY))
    loss = blend.mixture.settings.loss.brief
    mean = f"means over {round(line.window):,} rounds" if line.window > 1 else "each round"
    return [
        *([] if first is None else [first]),
        PlotPanel(
            f"{loss} loss, {mean}{', cut above' * cut}", places, losses, top if cut else None
        ),
        PlotPanel(f"weights, {mean}", places, weights),
    ]


def _last_rows(blend: Plotted) -> PlotPanel | None:
    """Return the panel of the last outcomes of the largest series; None if they are no numbers."""
    rounds, items = blend.rounds, blend.mixture.items
    new = np.flatnonzero(rounds.row_of >= 0)
    if not len(new):
        return None
    item = int(np.bincount(rounds.items[new]).argmax())
    own = new[rounds.items[new] == item][-MOST_ROWS:]
    width = rounds.forecasts.shape[1]
    curves = forecast_curves(
        blend.mixture.settings.loss, rounds.values[own, :width], rounds.outcomes[own]
    )
    if not curves:
        return None
    name = f" of {items[item]}" if len(items) > 1 and items[item] else ""
    title = f"{blend.columns.target}{name}: outcomes and blend, the last {counted(len(own), 'row')}"
    return PlotPanel(title, _times(blend, rounds.row_of[own]), curves)


def _times(blend: Plotted, rows: np.ndarray) -> np.ndarray:
    """Return the dates or numbers of rows; their count where the result has neither."""
    table, time = to_arrow(blend.frame)[0], blend.columns.time
    if time is None or time not in table.column_names or rows.max() >= table.num_rows:
        return np.arange(len(rows))
    column = table[time]
    dates = as_dates(column, time)
    times = column.to_numpy() if dates is None else dates
    chosen: np.ndarray = times[rows]
    return chosen if chosen.dtype.kind in "iufM" else np.arange(len(rows))
