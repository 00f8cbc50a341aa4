"""The best experts, sequences and convex combinations of a table, chosen in hindsight."""

from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.games import best_expert, best_quantile, best_sequence
from normalhedge.mixtures.best_convex import best_convex
from normalhedge.tables.blending import Blend

MOST = 1 << 30
"""How many bytes the search for the best sequence may take."""


class Hindsight(NamedTuple):
    """Mean losses of what could have been, chosen in hindsight for each series by itself.

    An expert that sleeps is replaced by even weights over those awake.

    Attributes
    ----------
    expert
        The best expert.
    quantile
        What a share of the experts reaches.
    convex
        The best fixed convex combination, as `best_convex` finds it; NaN where the loss has none.
    sequence
        The best sequence of experts with so many switches; NaN where the search would be too large.
    """

    expert: float
    quantile: float
    convex: float
    sequence: float


def hindsight(blend: Blend, quantile: float = 0.1, switches: int = 5) -> Hindsight:
    """Return what could have been in the rows of a blend; all NaN for a loss of your own."""
    recipe, levels, rounds = blend.mixture.recipe, blend.mixture.levels, blend.rounds
    kind = recipe.loss.kind
    total = np.zeros(4)
    settled = 0
    if kind is None:
        return Hindsight(*(total * np.nan))
    for first, stop in zip(rounds.first, rounds.stop, strict=True):
        edges = rounds.edges[first : stop + 1]
        rows = slice(edges[0], edges[-1])
        data = rounds.forecasts[rows], rounds.outcomes[rows], rounds.items[rows], levels, kind
        losses = np.empty((len(data[1]), rounds.forecasts.shape[2]))
        known = _core.write_loss_table(*data, recipe.combine, losses)
        if not known:
            continue
        settled += known
        gains = -np.add.reduceat(losses, edges[:-1] - edges[0])
        convex = np.nan if kind == "zero-one" else best_convex(*data, recipe.combine).loss * known
        total -= [
            best_expert(gains).gain,
            best_quantile(gains, quantile),
            -convex,
            best_sequence(gains, switches).gain if gains.size * (switches + 1) <= MOST else np.nan,
        ]
    return Hindsight(*(total / settled if settled else total * np.nan).tolist())
