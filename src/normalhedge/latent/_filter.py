"""Many hidden Markov models, filtered at once, one observation at a time; compiled.

For a candidate with transition A and beliefs p over its k states, before an observation that its
states score with b:

    likelihood    z = sum_s b_s p_s
    condition     f_s = b_s p_s / z
    predict       p_s <- sum_r f_r A_rs

Arrays end with the candidates, k x N, so that the inner loops run over them in vector registers.
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel

LEAST = 1e-280
"""A likelihood below this is impossible: the observation counts as missing for that candidate."""


@kernel(VECTOR, inline=False)
def condition(beliefs: Floats, scores: Floats, filtered: Floats, likelihood: Floats) -> int:
    """Write f and z; return how many candidates found the observation impossible.

    For those the beliefs stay as they are: time passes, and nothing is learned.
    """
    k, n = beliefs.shape
    for i in range(n):
        likelihood[i] = 0.0
    for s in range(k):
        for i in range(n):
            filtered[s, i] = beliefs[s, i] * scores[s, i]
            likelihood[i] += filtered[s, i]
    impossible = 0
    for i in range(n):
        possible = likelihood[i] > LEAST
        impossible += 0 if possible else 1
        likelihood[i] = likelihood[i] if possible else 0.0
    for s in range(k):
        for i in range(n):
            possible = likelihood[i] > 0.0
            filtered[s, i] = filtered[s, i] / likelihood[i] if possible else beliefs[s, i]
    return impossible


@kernel(VECTOR, inline=False)
def advance(filtered: Floats, transition: Floats, total: Floats, beliefs: Floats) -> None:
    """Write the beliefs of the next round, normalised by their actual sum.

    ``transition`` is k x k x N, from and to. Rounding errors would add up for ever otherwise.
    """
    k, n = filtered.shape
    for i in range(n):
        total[i] = 0.0
    for s in range(k):
        for i in range(n):
            beliefs[s, i] = filtered[0, i] * transition[0, s, i]
        for r in range(1, k):
            for i in range(n):
                beliefs[s, i] += filtered[r, i] * transition[r, s, i]
        for i in range(n):
            total[i] += beliefs[s, i]
    for s in range(k):
        for i in range(n):
            beliefs[s, i] /= total[i]


@kernel(VECTOR, inline=False)
def add_logs(likelihood: Floats, keep: float, logs: Floats) -> None:
    """Replace the log-likelihoods by ``keep * logs + ln z``; what is impossible has z = 1e-280."""
    for i in range(logs.size):
        logs[i] = keep * logs[i] + math.log(max(likelihood[i], LEAST))


@kernel(VECTOR, inline=False)
def step(
    beliefs: Floats,
    scores: Floats,
    transition: Floats,
    filtered: Floats,
    likelihood: Floats,
    next_beliefs: Floats,
) -> int:
    """Condition and predict; return how many candidates found the observation impossible."""
    impossible = condition(beliefs, scores, filtered, likelihood)
    scratch = np.empty_like(likelihood)
    advance(filtered, transition, scratch, next_beliefs)
    return impossible
