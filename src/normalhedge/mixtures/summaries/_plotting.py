"""Plots of a mixture: outcomes beside the blend, and the weights of the experts."""

import numpy as np

from normalhedge.boundary.charts import BLACK, BLUE, GREY, Curve, PlotPanel
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures.losses import NUMBERS, QUANTILES, Loss
from normalhedge.mixtures.state import MixtureState
from normalhedge.mixtures.summaries._summarising import expert_weights, last_rounds

MOST_ROWS = 300
"""The largest number of outcomes of a plot."""

MOST_EXPERTS = 15
"""The largest number of experts of a plot."""


def mixture_panels(state: MixtureState) -> list[PlotPanel]:
    """Return the panels of a mixture: its last rounds, and its weights now."""
    if not state.names or not len(state.weights):
        raise ValueError("there is nothing to plot yet: predict a first round")
    weights = expert_weights(state)
    order = np.argsort(-weights, kind="stable")[:MOST_EXPERTS]
    names = [state.names[k] for k in order]
    few = f", the first {len(names)} of {counted(len(weights), 'expert')}" * (
        len(names) < len(weights)
    )
    now = PlotPanel(f"weights now{few}", names, [Curve("", weights[order], "bars", BLUE)])
    rows = last_rounds(state)
    if rows is None:
        return [now]
    item = int(np.bincount(rows.items).argmax())
    own = np.flatnonzero(rows.items == item)[-MOST_ROWS:]
    where = f" of {state.items[item]}" if len(state.items) > 1 else ""
    curves = forecast_curves(state.settings.loss, rows.blend[own], rows.outcomes[own])
    if not curves:
        return [now]
    title = f"outcomes{where} and blend, the last {counted(len(own), 'round')} with an outcome"
    return [PlotPanel(title, np.arange(-len(own), 0), curves), now]


def forecast_curves(loss: Loss, blend: Floats, outcomes: Floats) -> list[Curve]:
    """Return the curves of outcomes and blends, rows x classes; none for classes and wealth."""
    if loss.of_labels or loss.forecasts not in (NUMBERS, QUANTILES):
        return []
    blend = np.where(np.abs(blend) < LARGEST, blend, np.nan)
    curves = []
    if blend.shape[1] > 1:
        low, high = min(loss.levels), max(loss.levels)
        name = f"blend, {low:g} to {high:g}"
        curves.append(Curve(name, blend[:, 0], "band", BLUE, upper=blend[:, -1]))
    curves.append(Curve("blend", blend[:, blend.shape[1] // 2], colour=BLACK))
    return [*curves, Curve("outcome", outcomes, "points", GREY)]
