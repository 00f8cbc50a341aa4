"""From the rows of a ledger to weights, and to scores: their logarithms of base 2.

Scores are up to a number common to all, and `NOTHING` for no weight.
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import exp2, larger, log
from normalhedge.potentials import LOG2_E, TINY, added, leading, shares

NOTHING = -1e99
"""The score of an expert without weight."""

STEEP = 1e30
"""The slope of the scores that follow the leader: a learning rate as good as infinite."""


@kernel(VECTOR, inline=False)
def normalise(weights: Floats) -> None:
    """Make weights that are not negative sum to one; uniform ones where nobody has any.

    A division that is alone outside a loop, ``scale = 1 / total``, is moved into it by the
    compiler, and costs four times what a product does; as one of two cases it stays.
    """
    scale, uniform = shares(added(weights), weights.size)
    for i in range(weights.size):
        weights[i] = weights[i] * scale + uniform


@kernel(VECTOR, inline=False)
def raise_scores(weights: Floats) -> None:
    """Replace scores by the weights that belong to them; uniform ones where nobody has any."""
    top = leading(weights)
    if top <= 0.5 * NOTHING:
        weights[:] = 1.0 / weights.size
        return
    for i in range(weights.size):
        weights[i] = exp2(weights[i] - top)
    normalise(weights)


@kernel(VECTOR, inline=False)
def spread_positive(values: Floats, weights: Floats) -> None:
    """Give each expert its value for a weight, none where it is not positive."""
    total = 0.0
    for i in range(values.size):
        total += larger(values[i], 0.0)
    scale, uniform = shares(total, values.size)
    for i in range(values.size):
        weights[i] = larger(values[i], 0.0) * scale + uniform


@kernel(VECTOR, inline=False)
def score_positive(values: Floats, scores: Floats) -> None:
    """Write the scores of `spread_positive`."""
    for i in range(values.size):
        s = log(larger(values[i], TINY)) * LOG2_E
        scores[i] = s if values[i] > TINY else NOTHING


@kernel(VECTOR, inline=False)
def score_exponential(regrets: Floats, rate: float, scores: Floats) -> None:
    """Give each expert the weight ``exp(rate * R)``."""
    lead = leading(regrets)
    slope = rate * LOG2_E
    for i in range(regrets.size):
        scores[i] = slope * (regrets[i] - lead)


@kernel(VECTOR)
def leaders_from(regrets: Floats) -> float:
    """Return the regret from which on an expert leads: those that differ by rounding are tied."""
    lead = -np.inf
    widest = 0.0
    for i in range(regrets.size):
        lead = larger(lead, regrets[i])
        widest = larger(widest, abs(regrets[i]))
    return lead - (1e-12 * widest + 1e-15)


@kernel(VECTOR, inline=False)
def spread_leaders(regrets: Floats, weights: Floats) -> None:
    """Give the leaders all the weight."""
    least = leaders_from(regrets)
    for i in range(regrets.size):
        weights[i] = 1.0 if regrets[i] >= least else 0.0
    normalise(weights)


@kernel(VECTOR, inline=False)
def score_leaders(regrets: Floats, scores: Floats) -> None:
    """Write scores of `spread_leaders` by which those behind lead when the others sleep."""
    least = leaders_from(regrets)
    for i in range(regrets.size):
        scores[i] = -STEEP * larger(least - regrets[i], 0.0)


@kernel(VECTOR)
def log_experts(n: int) -> float:
    """Return ln N; one expert has nothing to tune by, and any rate serves it: that of two."""
    return math.log(max(n, 2))
