"""NormalHedge on groups of experts that always share their gains, compiled.

Experts with the same gains keep the same regret, so a million of them in three groups are three
numbers. With ``n_k`` experts in group k, ``N = sum_k n_k`` and ``x_k = sqrt(alpha) R_k``:

    p_k ∝ n_k Phi'(x_k)                           the weight of a group; ∝ n_k when nobody is ahead
    m   = sum_k p_k g_k                           the hedger's gain
    x_k <- (1 - alpha) x_k + sqrt(alpha) (g_k - m)
    Psi = sum_k (n_k / N) Phi(x_k),   Phi(x) = exp([x]+^2 / 2c)
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, kernel
from normalhedge.potentials import TINY


@kernel(STRICT, inline=False)
def weigh_groups(x: Floats, sizes: Floats, c: float, weights: Floats) -> float:
    """Write the weights of the groups; return ln Psi."""
    top = 0.0
    for k in range(x.size):
        top = max(top, x[k])
    total, mass, n = 0.0, 0.0, 0.0
    for k in range(x.size):
        ahead = max(x[k], 0.0)
        phi = sizes[k] * math.exp((ahead - top) * (ahead + top) / (2.0 * c))
        weights[k] = ahead * phi
        total += ahead * phi
        mass += phi
        n += sizes[k]
    for k in range(x.size):
        weights[k] = weights[k] / total if total > TINY else sizes[k] / n
    return math.log(mass / n) + top * top / (2.0 * c)


@kernel(STRICT, inline=False)
def step_groups(
    x: Floats, weights: Floats, gains: np.ndarray, alpha: float, root: float, after: Floats
) -> float:
    """Write the next scaled regrets; return the largest. ``root`` is sqrt(alpha)."""
    # Differences from one of the gains: where all are equal, every regret stays exactly as it is.
    first = np.float64(gains[0])
    mean = 0.0
    for k in range(x.size):
        mean += weights[k] * (gains[k] - first)
    lead = -math.inf
    for k in range(x.size):
        after[k] = (1.0 - alpha) * x[k] + root * ((gains[k] - first) - mean)
        lead = max(lead, after[k])
    return lead


@kernel(STRICT)
def follow(
    sizes: Floats, gains: np.ndarray, alpha: float, c: float, leads: Floats, logs: Floats
) -> None:
    """Play the rows of ``gains`` from the beginning; write the largest x and ln Psi after each."""
    x, weights = np.zeros(sizes.size), np.zeros(sizes.size)
    root = math.sqrt(alpha)
    weigh_groups(x, sizes, c, weights)
    for t in range(len(gains)):
        leads[t] = step_groups(x, weights, gains[t], alpha, root, x)
        logs[t] = weigh_groups(x, sizes, c, weights)
