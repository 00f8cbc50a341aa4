"""What could have been: the best convex combination of the experts, in hindsight."""

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, kernel
from normalhedge.mixtures._play import rate_experts
from normalhedge.mixtures.losses import loss_of, slope_at

ITERATIONS = 300
SAMPLE = 1 << 20
"""How many forecasts the weights are fitted to; more are sampled evenly."""


@kernel(STRICT, inline=False)
def mean_loss(  # noqa: C901 -- a row in one pass
    weights: Floats,
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    code: int,
    gradient: Floats,
) -> float:
    """Return the mean loss of fixed weights, shared among those awake; write its gradient."""
    _, classes, n = forecasts.shape
    rated, value = np.empty(n), np.empty(classes)
    nothing = np.empty(0)
    gradient[:] = 0.0
    total = 0.0
    count = 0
    for j in range(len(outcomes)):
        if outcomes[j] != outcomes[j]:
            continue
        awake, _ = rate_experts(forecasts[j], nothing, rated)
        mass = 0.0
        for i in range(n):
            mass += weights[i] * rated[i]
        if awake == 0 or mass <= 0.0:
            continue
        for c in range(classes):
            value[c] = 0.0
            for i in range(n):
                if rated[i] > 0.0:
                    value[c] += weights[i] / mass * forecasts[j, c, i]
        level = levels[items[j] % levels.size]
        total += loss_of(value, outcomes[j], code, level)
        count += 1
        c = int(outcomes[j]) if classes > 1 else 0
        slope = slope_at(value[c], outcomes[j], code, level)
        for i in range(n):
            if rated[i] > 0.0:
                gradient[i] += slope * (forecasts[j, c, i] - value[c]) / mass
    for i in range(n):
        gradient[i] /= max(count, 1)
    return total / max(count, 1)


def best_convex(
    forecasts: Floats, outcomes: Floats, items: np.ndarray, levels: Floats, code: int
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
    items, levels, code
        The item of each row, the levels of the pinball loss, and the loss.
    """
    n = forecasts.shape[2]
    every = max(len(outcomes) * n // SAMPLE, 1)
    few = [np.ascontiguousarray(array[::every]) for array in (forecasts, outcomes, items)]
    part = few[0], few[1], few[2]
    weights, gradient, trial = np.full(n, 1.0 / n), np.empty(n), np.empty(n)
    loss = mean_loss(weights, *part, levels, code, gradient)
    rate = 1.0 / max(float(np.abs(gradient).max()), 1e-300)
    for _ in range(ITERATIONS):
        moved = weights * np.exp(-rate * (gradient - gradient.min()))
        moved /= moved.sum()
        new = mean_loss(moved, *part, levels, code, trial)
        if new < loss:
            weights, loss, rate = moved, new, rate * 1.5
            gradient, trial = trial, gradient
        else:
            rate *= 0.5
            if rate * float(np.abs(gradient).max()) < 1e-7:
                break
    return weights, mean_loss(weights, forecasts, outcomes, items, levels, code, gradient)
