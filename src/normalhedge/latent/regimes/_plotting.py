"""The plot of the regimes of a series: observations by regime, and probabilities."""

from datetime import date
from typing import Any

import numpy as np

from normalhedge.boundary.charts import COLOURS, GREY, Curve, PlotPanel
from normalhedge.boundary.inputs import Floats

MOST_COLUMNS = 4
"""The largest number of columns of observations with panels of their own."""


def regime_panels(
    numbers: Floats,
    names: list[str],
    labels: tuple[str, ...],
    states: np.ndarray,
    probabilities: Floats,
    time: tuple[Any, ...] | None,
    *,
    known: str = "the observations so far",
) -> list[PlotPanel]:
    """Return a panel for each column of observations, and one of the probabilities of regimes.

    ``states`` has the most probable regime of each round, -1 before the first fit; ``known`` says
    what the probabilities are given.
    """
    places = _places(time, len(states))
    table = numbers.reshape(len(states), -1)
    shown = sorted(set(states.tolist()))
    panels = []
    for name, values in zip(names[:MOST_COLUMNS], table.T, strict=False):
        curves = [
            Curve(
                f"regime {state}" if state >= 0 else "before the first fit",
                np.where(states == state, values, np.nan),
                "points",
                COLOURS[state % len(COLOURS)] if state >= 0 else GREY,
            )
            for state in shown
        ]
        symbols = ", ".join(f"{k}: {label}" for k, label in enumerate(labels))
        title = f"observations {name}".strip() + (f" ({symbols})" if symbols else "")
        panels.append(PlotPanel(f"{title}, by the most probable regime", places, curves))
    fitted = np.where(states[:, np.newaxis] >= 0, probabilities, np.nan)
    curves = [
        Curve(f"regime {k}", column, colour=COLOURS[k % len(COLOURS)])
        for k, column in enumerate(fitted.T)
    ]
    title = f"probability of each regime, given {known}"
    return [*panels, PlotPanel(title, places, curves)]


def _places(time: tuple[Any, ...] | None, rounds: int) -> np.ndarray:
    """Return the times of the rounds if they are dates or numbers; else the rounds."""
    if time is None or any(moment is None for moment in time):
        return np.arange(rounds)
    if isinstance(time[0], date):
        return np.array(time, dtype="datetime64[us]")
    try:
        if isinstance(time[0], str):
            return np.array(time, dtype="datetime64[us]")
    except ValueError:
        return np.arange(rounds)
    places = np.array(time)
    return places if places.dtype.kind in "iufM" else np.arange(rounds)
