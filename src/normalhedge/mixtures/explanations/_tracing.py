"""Who gained weight, in which rounds, and what each expert is worth: of weights and losses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.explanations._explanation import Absence, Move, WeightChange
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state import combine

NOTABLE = 0.01
"""Smaller changes of a weight are not told."""

MOVES = 8
"""The number of moves that are told."""


def trace_changes(
    names: Sequence[str], weights: Floats, labels: Sequence[Any]
) -> tuple[WeightChange, ...]:
    """Return the experts whose weights changed; ``weights`` are moments x experts.

    ``labels`` name the rounds between two moments. The change is dated by the last moment at which
    the weight passed the middle between its beginning and its end.
    """
    changes = []
    for k, name in enumerate(names):
        before, after = float(weights[0, k]), float(weights[-1, k])
        if abs(after - before) < NOTABLE:
            continue
        middle = 0.5 * (before + after)
        nearer = (weights[:, k] > middle) == (after > middle)
        place = int(np.flatnonzero(~nearer)[-1])
        changes.append(WeightChange(name, before, after, labels[place]))
    return tuple(sorted(changes, key=lambda row: -abs(row.after - row.before)))


def trace_moves(
    names: Sequence[str], weights: Floats, losses: Floats, labels: Sequence[Any]
) -> tuple[Move, ...]:
    """Return the rounds that moved the weights most; ``losses`` are rounds x experts.

    The weight that changed hands is half of the sum of all changes.
    """
    steps = np.diff(weights, axis=0)
    moved = 0.5 * np.abs(steps).sum(axis=1)
    moves = []
    for t in np.argsort(-moved, kind="stable")[:MOVES]:
        if moved[t] < 1e-6:
            break
        gained, lost = int(steps[t].argmax()), int(steps[t].argmin())
        moves.append(
            Move(
                labels[t], float(moved[t]), names[gained], names[lost],
                float(losses[t, gained]), float(losses[t, lost]),
            )
        )  # fmt: skip
    return tuple(moves)


def estimate_absences(
    names: Sequence[str],
    loss: Loss,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    weights: Floats,
) -> tuple[Absence, ...]:
    r"""Return the cost of leaving each expert out, to first order.

    With the weights q of a row and its forecasts x, the blend is taken as the mean of the
    forecasts, and without expert i as the mean of the others:

    .. math:: \bar x = \sum_j q_j x_j, \qquad
              \bar x_{-i} = \frac{\bar x - q_i x_i}{1 - q_i}

    The cost is the mean of :math:`\ell(\bar x_{-i}) - \ell(\bar x)`. Labels are combined by their
    votes. How the weights of the others would have moved without the expert is left out.
    """
    usable = np.all(np.abs(forecasts) < LARGEST, axis=1)
    shares = np.where(usable, weights, 0.0)
    total = shares.sum(axis=1, keepdims=True)
    known = ~np.isnan(outcomes) & (total[:, 0] > 0.0)
    if not known.any() or len(names) < 2:
        return ()
    shares = shares[known] / total[known]
    table = np.where(usable[:, np.newaxis], forecasts, 0.0)[known]
    means = _means(loss, table, shares)
    losses = loss.table(means, outcomes[known], items[known])
    costs = np.where(np.isfinite(losses), losses - losses[:, -1:], 0.0).mean(axis=0)
    whole = float(losses[:, -1].mean())
    rows = [
        Absence(name, float(costs[k]), float(costs[k]) / abs(whole) if whole else 0.0)
        for k, name in enumerate(names)
        if shares[:, k].max() > 0.0
    ]
    return tuple(sorted(rows, key=lambda row: -row.cost))


def _means(loss: Loss, table: Floats, shares: Floats) -> Floats:
    """Return the mean of each row without each expert, and with all; rows x classes x (n + 1)."""
    n = table.shape[2]
    if loss.of_labels:
        votes = np.zeros((len(table), 1, n + 1))
        for row, (labels, weights) in enumerate(zip(table[:, 0], shares, strict=True)):
            for k in range(n + 1):
                used = np.where(np.arange(n) == k, 0.0, weights)
                used = used if used.any() else weights
                votes[row, 0, k] = combine(labels, used / used.sum(), "vote")
        return votes
    mean = np.einsum("rcn,rn->rc", table, shares)[:, :, np.newaxis]
    rest = np.maximum(1.0 - shares, 0.0)[:, np.newaxis]
    parts = mean - shares[:, np.newaxis] * table
    alone = rest < 1e-9  # nobody else has any weight: the mean of the others, or of all
    others = np.where(alone, mean, parts / np.where(alone, 1.0, rest))
    return np.ascontiguousarray(np.concatenate([others, mean], axis=2))
