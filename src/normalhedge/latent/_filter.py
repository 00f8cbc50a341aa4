"""Many hidden Markov models, filtered at once, one observation at a time; compiled.

For a candidate with transition A and beliefs p over its k states, before an observation that its
states score with b:

    likelihood    z = sum_s b_s p_s
    condition     f_s = b_s p_s / z
    predict       p_s <- sum_r f_r A_rs

Arrays end with the candidates, k x N, so that the inner loops run over them in vector registers.
"""

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import larger, log

LEAST = 1e-280
"""A likelihood below this is impossible: the observation counts as missing for that candidate."""


BLOCK = 128
"""How many candidates are taken at a time: what belongs to them stays in the nearest cache."""


@kernel(VECTOR, inline=False)
def advance(filtered: Floats, transition: Floats, first: int, beliefs: Floats) -> None:
    """Write the beliefs of the next round for a block of candidates, normalised by their sum.

    ``filtered`` is k x block, ``transition`` k x k x N (from, to). Without normalising, rounding
    errors would add up for ever.
    """
    k, width = filtered.shape
    width = min(width, beliefs.shape[1] - first)
    total = np.zeros(width)
    for s in range(k):
        own = beliefs[s, first : first + width]
        moves = transition[0, s, first : first + width]
        for i in range(width):
            own[i] = filtered[0, i] * moves[i]
        for r in range(1, k):
            source, moves = filtered[r], transition[r, s, first : first + width]
            for i in range(width):
                own[i] += source[i] * moves[i]
        for i in range(width):
            total[i] += own[i]
    for i in range(width):
        total[i] = 1.0 / total[i]
    for s in range(k):
        own = beliefs[s, first : first + width]
        for i in range(width):
            own[i] *= total[i]


@kernel(VECTOR, inline=False)
def condition(
    beliefs: Floats, scores: Floats, first: int, filtered: Floats, likelihood: Floats
) -> int:
    """Write z f and z of a block of candidates; return how many found the observation impossible.

    The next beliefs are normalised anyway, so f need not be. For those that found it impossible the
    beliefs stay as they are: time passes, and nothing is learned.
    """
    k = len(filtered)
    width = likelihood.size
    for i in range(width):
        likelihood[i] = 0.0
    for s in range(k):
        own, old = filtered[s], beliefs[s, first : first + width]
        score = scores[s, first : first + width]
        for i in range(width):
            own[i] = old[i] * score[i]
            likelihood[i] += own[i]
    impossible = 0
    for i in range(width):
        impossible += 0 if likelihood[i] > LEAST else 1
    if impossible > 0:
        for s in range(k):
            own, old = filtered[s], beliefs[s, first : first + width]
            for i in range(width):
                own[i] = own[i] if likelihood[i] > LEAST else old[i]
    return impossible


@kernel(VECTOR, inline=False)
def observe(
    beliefs: Floats,
    scores: Floats | None,
    transition: Floats,
    keep: float,
    logs: Floats,
    next_beliefs: Floats,
    next_logs: Floats,
) -> int:
    """Condition and predict; return how many candidates found the observation impossible.

    ``next_logs`` becomes ``keep * logs + ln z``, with 1e-280 for a z that is impossible.
    """
    k, n = beliefs.shape
    filtered = np.empty((k, BLOCK))
    likelihood = np.empty(BLOCK)
    impossible = 0
    for first in range(0, n, BLOCK):
        width = min(BLOCK, n - first)
        if scores is None:
            for s in range(k):
                for i in range(width):
                    filtered[s, i] = beliefs[s, first + i]
            for i in range(width):
                next_logs[first + i] = keep * logs[first + i]
        else:
            z = likelihood[:width]
            impossible += condition(beliefs, scores, first, filtered, z)
            new, old = next_logs[first : first + width], logs[first : first + width]
            for i in range(width):
                new[i] = keep * old[i] + log(larger(z[i], LEAST))
        advance(filtered, transition, first, next_beliefs)
    return impossible


@kernel(VECTOR, inline=False)
def run(
    beliefs: Floats,
    scores: Floats,
    absent: np.ndarray,
    transition: Floats,
    keep: float,
    logs: Floats,
) -> int:
    """Filter a sequence; return how many observations all candidates found impossible.

    ``beliefs`` is (T + 1) x k x N and ``logs`` (T + 1) x N, of which the first row is given;
    ``scores`` is T x k x N.
    """
    n = logs.shape[1]
    impossible = 0
    for t in range(len(scores)):
        if absent[t]:
            observe(beliefs[t], None, transition, keep, logs[t], beliefs[t + 1], logs[t + 1])
            continue
        refused = observe(
            beliefs[t], scores[t], transition, keep, logs[t], beliefs[t + 1], logs[t + 1]
        )
        if refused == n:  # no reason to prefer one of them
            impossible += 1
            for i in range(n):
                logs[t + 1, i] = keep * logs[t, i]
    return impossible
