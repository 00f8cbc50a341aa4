"""What could have been: the best experts, sequences and convex combinations, in hindsight."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge._inputs import Floats
from normalhedge.games import best_expert, best_quantile, best_sequence

if TYPE_CHECKING:
    from normalhedge.mixtures.blending import Blend

ITERATIONS = 300
SAMPLE = 1 << 20
"""How many forecasts the weights are fitted to; more are sampled evenly."""

MOST = 1 << 30
"""How many bytes the search for the best sequence may take."""


def mean_loss(
    weights: Floats,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    kind: str,
    gradient: Floats,
) -> float:
    """Return the mean loss of fixed weights, shared among those awake; write its gradient.

    Parameters
    ----------
    weights, gradient
        A number for each expert.
    forecasts, outcomes, items, levels, kind
        As for `best_convex`.
    """
    return _core.mean_loss(weights, forecasts, outcomes, items, levels, kind, gradient)


def best_convex(
    forecasts: Floats, outcomes: Floats, items: np.ndarray, levels: Floats, kind: str
) -> tuple[Floats, float]:
    """Return fixed weights of small mean loss, and that loss.

    Exponentiated gradient descent: ``w <- w exp(-eta grad) / Z``, with steps that grow while they
    help and shrink when they do not. Where all experts are always awake and the loss is convex it
    approaches the best convex combination; with sleepers the weights are shared among those awake,
    which is no convex problem any more, and a good local one is found. The loss is that of the
    weights returned, on all rows: what they reach, and so never better than the best.

    Parameters
    ----------
    forecasts, outcomes
        Rows x classes x experts, and of each row; NaN where missing.
    items, levels, kind
        The item of each row, the levels of the pinball loss, and what the core calls the loss.
    """
    n = forecasts.shape[2]
    every = max(len(outcomes) * n // SAMPLE, 1)
    few = [np.ascontiguousarray(array[::every]) for array in (forecasts, outcomes, items)]
    part = few[0], few[1], few[2]
    weights, gradient, trial = np.full(n, 1.0 / n), np.empty(n), np.empty(n)
    loss = mean_loss(weights, *part, levels, kind, gradient)
    rate = 1.0 / max(float(np.abs(gradient).max()), 1e-300)
    for _ in range(ITERATIONS):
        moved = weights * np.exp(-rate * (gradient - gradient.min()))
        moved /= moved.sum()
        new = mean_loss(moved, *part, levels, kind, trial)
        if new < loss:
            weights, loss, rate = moved, new, rate * 1.5
            gradient, trial = trial, gradient
        else:
            rate *= 0.5
            if rate * float(np.abs(gradient).max()) < 1e-7:
                break
    return weights, mean_loss(weights, forecasts, outcomes, items, levels, kind, gradient)


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
        The best fixed convex combination, as far as `best_convex` finds it; NaN where the loss has
        none.
    sequence
        The best sequence of experts with so many switches; NaN where the search would be too large.
    """

    expert: float
    quantile: float
    convex: float
    sequence: float


def hindsight(blend: "Blend", quantile: float = 0.1, switches: int = 5) -> Hindsight:
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
        convex = np.nan if kind == "zero-one" else best_convex(*data)[1] * known
        total -= [
            best_expert(gains).gain,
            best_quantile(gains, quantile),
            -convex,
            best_sequence(gains, switches).gain if gains.size * (switches + 1) <= MOST else np.nan,
        ]
    return Hindsight(*(total / settled if settled else total * np.nan).tolist())
