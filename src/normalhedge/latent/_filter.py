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
def advance(
    filtered: Floats, inverse: Floats, transition: Floats, first: int, beliefs: Floats
) -> None:
    """Write the beliefs of the next round for a block of candidates.

    ``filtered`` is z f, k x block, ``inverse`` 1/z, ``transition`` k x k x N (from, to). Four
    states are taken at a time: what costs is reading and writing, not arithmetic.
    """
    k, width = len(filtered), inverse.size
    for s in range(k):  # now, and not after the next product: that might be too small for a float
        source = filtered[s]
        for i in range(width):
            source[i] *= inverse[i]
    last = first + width
    for s in range(k):
        own = beliefs[s, first:last]
        for i in range(width):
            own[i] = 0.0
        for r in range(k % 4):
            f0, m0 = filtered[r], transition[r, s, first:last]
            for i in range(width):
                own[i] += f0[i] * m0[i]
        for r in range(k % 4, k, 4):
            f0, f1, f2, f3 = filtered[r], filtered[r + 1], filtered[r + 2], filtered[r + 3]
            m0, m1 = transition[r, s, first:last], transition[r + 1, s, first:last]
            m2, m3 = transition[r + 2, s, first:last], transition[r + 3, s, first:last]
            for i in range(width):
                own[i] += (f0[i] * m0[i] + f1[i] * m1[i]) + (f2[i] * m2[i] + f3[i] * m3[i])


@kernel(VECTOR, inline=False)
def pass_over(
    beliefs: Floats, first: int, filtered: Floats, likelihood: Floats, inverse: Floats
) -> int:
    """Leave the beliefs of those who found the observation impossible; return how many they are."""
    impossible = 0
    for i in range(likelihood.size):
        if not likelihood[i] > LEAST:
            impossible += 1
            total = 0.0
            for s in range(len(filtered)):
                filtered[s, i] = beliefs[s, first + i]
                total += filtered[s, i]
            inverse[i] = 1.0 / total
    return impossible


@kernel(VECTOR, inline=False)
def condition(
    beliefs: Floats,
    scores: Floats | None,
    first: int,
    filtered: Floats,
    likelihood: Floats,
    inverse: Floats,
) -> int:
    """Write z f, z and 1/z of a block; return how many found the observation impossible.

    z is the actual sum in every round, so rounding errors do not add up. Where the observation is
    missing, or impossible, z f is p: time passes, and nothing is learned.
    """
    k, width = len(filtered), likelihood.size
    for i in range(width):
        likelihood[i] = 0.0
    for s in range(k):
        own, old = filtered[s], beliefs[s, first : first + width]
        if scores is None:
            for i in range(width):
                own[i] = old[i]
                likelihood[i] += own[i]
        else:
            score = scores[s, first : first + width]
            for i in range(width):
                own[i] = old[i] * score[i]
                likelihood[i] += own[i]
    for i in range(width):
        inverse[i] = 1.0 / larger(likelihood[i], LEAST)
    most = 0.0
    for i in range(width):
        most = larger(most, inverse[i])
    return 0 if most < 1.0 / LEAST else pass_over(beliefs, first, filtered, likelihood, inverse)


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

    ``next_logs`` becomes ``keep * logs + ln z``, with 1e-280 for a z that is impossible, and stays
    ``logs`` where the observation is missing.
    """
    k, n = beliefs.shape
    filtered = np.empty((k, BLOCK))
    likelihood, inverse = np.empty(BLOCK), np.empty(BLOCK)
    impossible = 0
    for first in range(0, n, BLOCK):
        width = min(BLOCK, n - first)
        z, over_z = likelihood[:width], inverse[:width]
        refused = condition(beliefs, scores, first, filtered, z, over_z)
        new, old = next_logs[first : first + width], logs[first : first + width]
        if scores is None:
            for i in range(width):
                new[i] = old[i]
        else:
            impossible += refused
            for i in range(width):
                new[i] = keep * old[i] + log(larger(z[i], LEAST))
        advance(filtered, over_z, transition, first, next_beliefs)
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
                logs[t + 1, i] = logs[t, i]
    return impossible
