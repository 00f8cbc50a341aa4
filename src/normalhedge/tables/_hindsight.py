"""The best experts, sequences and convex combinations of a table, chosen in hindsight."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST
from normalhedge.hedgers.hindsight import best_expert, best_quantile, best_sequence
from normalhedge.mixtures.summaries import best_convex
from normalhedge.tables._result import Blend

MOST = 1 << 30
"""The largest number of cells of the search for the best sequence."""


class Hindsight(NamedTuple):
    """Mean losses of the best choices in hindsight, for each series by itself.

    Uniform weights over the experts awake make the forecast of a sleeping expert.

    Attributes
    ----------
    expert
        The loss of the best expert.
    quantile
        The largest loss among the given share of best experts.
    convex
        The loss of the best fixed convex combination, see `best_convex`; NaN for a loss without a
        search for it.
    sequence
        The loss of the best sequence of experts with the given number of switches; NaN if the
        search would be too large.
    """

    expert: float
    quantile: float
    convex: float
    sequence: float


def hindsight(blend: Blend, quantile: float = 0.1, switches: int = 5) -> Hindsight:
    """Return the losses of the best choices in hindsight; all NaN for a loss of your own.

    Parameters
    ----------
    blend
        The blend whose rows to use.
    quantile
        The share of best experts.
    switches
        The number of switches of the best sequence.
    """
    settings, rounds = blend.mixture.settings, blend.rounds
    loss = settings.loss
    total = np.zeros(4)
    settled = 0
    if loss.own:
        return Hindsight(*(total * np.nan))
    for first, stop in zip(rounds.first, rounds.stop, strict=True):
        edges = rounds.edges[first : stop + 1]
        rows = slice(edges[0], edges[-1])
        data = rounds.forecasts[rows], rounds.outcomes[rows], rounds.items[rows]
        losses = loss.table(*data, settings.combine)
        awake = np.any(np.all(np.abs(data[0]) < LARGEST, axis=1), axis=1)
        known = int(np.sum(awake & ~np.isnan(data[1])))
        if not known:
            continue
        settled += known
        gains = -np.add.reduceat(losses, edges[:-1] - edges[0])
        convex = np.nan
        if loss.has_best_convex:
            convex = best_convex(loss, *data, settings.combine).loss * known
        total -= [
            best_expert(gains).gain,
            best_quantile(gains, quantile),
            -convex,
            best_sequence(gains, switches).gain if gains.size * (switches + 1) <= MOST else np.nan,
        ]
    return Hindsight(*(total / settled if settled else total * np.nan).tolist())
