"""One round of the game on a ledger, compiled: what all hedgers of the family share.

A ledger has a column for each expert and a row for each thing that is known of it. Three rows are
in every ledger:

    REGRET   R_i <- (1 - alpha) R_i + r_i       the (discounted) regret, in gains
    RISE     r_i / 2                            what the last round added, in losses (1 - g) / 2
    SCORE    log2 of the weight, up to a number common to all; `NOTHING` for no weight

An algorithm keeps its own rows after these, turns them into scores, and that is all it is. With
confidences k in [0, 1] (all ones when not given) a round is

    q_i = w_i k_i / sum_j w_j k_j,   g_A = sum_i q_i g_i,   r_i = k_i (g_i - g_A)

which is the game without confidences in which expert i gains ``k_i g_i + (1 - k_i) g_A``: those
gains lie in [-1, 1], and w earns g_A on them. So every bound that holds for an algorithm without
confidences bounds ``sum_t k_i (g_i - g_A)`` with them. Where no expert awake has any weight,
q ∝ k, and the same is true. Where nobody is awake, all gains count as equal and r = 0.

Scores are logarithms, so those awake are weighed rightly among themselves although a sleeper's
weight is e^1000 times theirs.
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import exp2, larger, log
from normalhedge.hedgers._round import ABSTAINED, BAD_INPUT
from normalhedge.potentials import LOG2_E, TINY, added, leading

REGRET, RISE, SCORE, OWN = 0, 1, 2, 3
"""The rows of every ledger, and where an algorithm's own begin."""

KEEP, OWN_SETTING = 0, 1
"""The settings of every algorithm, and where its own begin; KEEP is 1 - alpha."""

NOTHING = -1e99
"""The score of an expert without weight."""

STEEP = 1e30
"""The slope of the scores that follow the leader: a learning rate as good as infinite."""


@kernel(VECTOR)
def faults(gains: Floats, confidence: Floats | None) -> tuple[float, int]:
    """Return the gain of the first expert awake (NaN: nobody is), and how many entries are bad.

    Gains are averaged as differences from that gain: ties then give exactly their common gain.
    The gain of an expert that sleeps is not looked at: it may be anything.
    """
    bad = 0
    if confidence is None:
        for i in range(gains.size):
            bad += not (abs(gains[i]) <= 1.0)
        return gains[0], bad
    origin = ABSTAINED
    for i in range(gains.size):
        k = confidence[i]
        bad += not (k >= 0.0 and k <= 1.0 and (k == 0.0 or abs(gains[i]) <= 1.0))
        if k > 0.0 and np.isnan(origin):
            origin = gains[i]
    return origin, bad


@kernel(VECTOR, inline=False)
def spread_scores(scores: Floats, weights: Floats) -> None:
    """Write the weights that belong to the scores; uniform ones where nobody has any."""
    top = leading(scores)
    if top <= 0.5 * NOTHING:
        weights[:] = 1.0 / weights.size
        return
    for i in range(scores.size):
        weights[i] = exp2(scores[i] - top)
    scale = 1.0 / added(weights)
    for i in range(scores.size):
        weights[i] *= scale


@kernel(VECTOR)
def share(scores: Floats, confidence: Floats, played: Floats) -> None:
    """Write what is played, ∝ weight times confidence; all zeros when nobody is awake.

    In logarithms throughout, so that neither tiny weights nor tiny confidences lose their digits.
    """
    ahead = -np.inf
    for i in range(scores.size):
        ahead = larger(ahead, scores[i] if confidence[i] > 0.0 else NOTHING)
    some = ahead > 0.5 * NOTHING
    for i in range(scores.size):
        k = confidence[i]
        heard = log(larger(k, TINY)) * LOG2_E + (scores[i] if some else 0.0)
        played[i] = heard if k > 0.0 else NOTHING
    top = leading(played)
    if top <= 0.5 * NOTHING:
        played[:] = 0.0
        return
    for i in range(scores.size):
        played[i] = exp2(played[i] - top) if confidence[i] > 0.0 else 0.0
    scale = 1.0 / added(played)
    for i in range(scores.size):
        played[i] *= scale


@kernel(VECTOR)
def average(played: Floats, gains: Floats, origin: float) -> float:
    """Return what the distribution earns."""
    above = 0.0
    for i in range(gains.size):
        above += played[i] * ((gains[i] if played[i] > 0.0 else origin) - origin)
    return min(max(origin + above, -1.0), 1.0)


@kernel(VECTOR)
def enter(
    ledger: Floats, keep: float, gains: Floats, confidence: Floats | None, gain: float
) -> float:
    """Write the rises and the regrets of a round; return the largest regret."""
    regrets, rises = ledger[REGRET], ledger[RISE]
    lead = -np.inf
    silent = np.isnan(gain)
    for i in range(regrets.size):
        if confidence is None:
            r = gains[i] - gain
        else:
            awake = confidence[i] > 0.0 and not silent
            r = confidence[i] * (gains[i] - gain) if awake else 0.0
        rises[i] = 0.5 * r
        r += keep * regrets[i]
        regrets[i] = r
        lead = larger(lead, r)
    return lead


@kernel(VECTOR, inline=False)
def meet(
    weights: Floats,
    ledger: Floats,
    keep: float,
    gains: Floats,
    confidence: Floats,
    t: int,
    records: Floats,
    played: Floats,
) -> float:
    """Play round t and enter it in the ledger, but for the scores; return the hedger's gain.

    ``records`` get the gain and the largest regret of the round, ``played`` what was played;
    ``confidence`` and ``played`` have no rows where they are not wanted. The gain is `BAD_INPUT`
    where a gain or a confidence is out of range, and nothing is written then; it is `ABSTAINED`
    where nobody was awake.
    """
    rated = len(confidence) > 0
    row = gains[t]
    origin, bad = faults(row, confidence[t]) if rated else faults(row, None)
    if bad > 0:
        return BAD_INPUT
    if rated:
        heard = ledger[RISE]  # free until the rises are written
        share(ledger[SCORE], confidence[t], heard)
        if len(played) > 0:
            played[t] = heard
        gain = ABSTAINED if np.isnan(origin) else average(heard, row, origin)
        records[t, 1] = enter(ledger, keep, row, confidence[t], gain)
    else:
        if len(played) > 0:
            played[t] = weights
        gain = average(weights, row, origin)
        records[t, 1] = enter(ledger, keep, row, None, gain)
    records[t, 0] = gain
    return gain


@kernel(VECTOR, inline=False)
def score_positive(values: Floats, scores: Floats) -> None:
    """Give each expert its value for a weight, none where it is not positive."""
    for i in range(values.size):
        s = log(larger(values[i], TINY)) * LOG2_E
        scores[i] = s if values[i] > TINY else NOTHING


@kernel(VECTOR, inline=False)
def score_exponential(ledger: Floats, rate: float) -> None:
    """Give each expert the weight ``exp(rate * R)``."""
    regrets, scores = ledger[REGRET], ledger[SCORE]
    lead = leading(regrets)
    slope = rate * LOG2_E
    for i in range(regrets.size):
        scores[i] = slope * (regrets[i] - lead)


@kernel(VECTOR, inline=False)
def score_leaders(ledger: Floats) -> None:
    """Give the leaders all the weight, and those behind so little that they lead when others sleep.

    Regrets that differ by rounding are tied.
    """
    regrets, scores = ledger[REGRET], ledger[SCORE]
    lead = leading(regrets)
    widest = 0.0
    for i in range(regrets.size):
        widest = larger(widest, abs(regrets[i]))
    tied = 1e-12 * widest + 1e-15
    for i in range(regrets.size):
        scores[i] = -STEEP * larger(lead - regrets[i] - tied, 0.0)


@kernel(VECTOR)
def log_experts(n: int) -> float:
    """Return ln N; one expert has nothing to tune by, and any rate serves it: that of two."""
    return math.log(max(n, 2))
