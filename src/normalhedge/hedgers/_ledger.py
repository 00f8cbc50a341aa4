"""One round of the game on a ledger, compiled: what all hedgers of the family share.

A ledger has a column for each expert and a row for each thing that is remembered of it. The first
is in every ledger:

    REGRET   R_i <- (1 - alpha) R_i + r_i       the (discounted) regret, in gains

An algorithm keeps its own rows after it, turns them into weights, and that is all it is. With
confidences k in [0, 1] (all ones when not given) a round is

    q_i = w_i k_i / sum_j w_j k_j,   g_A = sum_i q_i g_i,   r_i = k_i (g_i - g_A)

which is the game without confidences in which expert i gains ``k_i g_i + (1 - k_i) g_A``: those
gains lie in [-1, 1], and w earns g_A on them. So every bound that holds for an algorithm without
confidences bounds ``sum_t k_i (g_i - g_A)`` with them. Where no expert awake has any weight,
q ∝ k, and the same is true. Where nobody is awake, all gains count as equal and r = 0.

With confidences q is made of scores, log2 of the weights up to a number common to all: so those
awake are weighed rightly among themselves although a sleeper's weight is e^1000 times theirs.

Kernels are handed r as ``told - level``: without confidences that is the gains and g_A, and no
array of differences is written.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, fill, kernel
from normalhedge._vector import exp2, larger, log
from normalhedge.hedgers._round import ABSTAINED, BAD_INPUT
from normalhedge.hedgers._scores import NOTHING, normalise, raise_scores
from normalhedge.potentials import LOG2_E, TINY, leading

REGRET, OWN = 0, 1
"""The row of every ledger, and where an algorithm's own begin."""

KEEP, OWN_SETTING = 0, 1
"""The settings of every algorithm, and where its own begin; KEEP is 1 - alpha."""


@kernel(VECTOR, inline=False)
def earn(weights: Floats, gains: Floats) -> float:
    """Return what the distribution earns; `BAD_INPUT` where a gain is out of range.

    Gains are averaged as differences from the first: ties then give exactly their common gain.
    """
    origin = gains[0]
    above = 0.0
    bad = 0
    for i in range(gains.size):
        bad += not (abs(gains[i]) <= 1.0)
        above += weights[i] * (gains[i] - origin)
    return BAD_INPUT if bad > 0 else min(max(origin + above, -1.0), 1.0)


@kernel(VECTOR, inline=False)
def faults(gains: Floats, confidence: Floats) -> tuple[float, int]:
    """Return the gain of the first expert awake (NaN: nobody is), and how many entries are bad.

    The gain of an expert that sleeps is not looked at: it may be anything.
    """
    bad = 0
    for i in range(gains.size):
        k = confidence[i]
        bad += not ((k >= 0.0) & (k <= 1.0) & ((k == 0.0) | (abs(gains[i]) <= 1.0)))
    for i in range(gains.size):
        if confidence[i] > 0.0:
            return gains[i], bad
    return ABSTAINED, bad


@kernel(VECTOR)
def spread_scores(scores: Floats, weights: Floats) -> None:
    """Write the weights that belong to the scores."""
    for i in range(weights.size):
        weights[i] = scores[i]
    raise_scores(weights)


@kernel(VECTOR, inline=False)
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
    normalise(played)


@kernel(VECTOR, inline=False)
def earn_awake(
    played: Floats, gains: Floats, confidence: Floats, origin: float, rises: Floats
) -> float:
    """Write ``k (g - g_A)``, and return g_A, what the distribution earns."""
    if np.isnan(origin):
        rises[:] = 0.0
        return ABSTAINED
    above = 0.0
    for i in range(gains.size):
        above += played[i] * ((gains[i] if played[i] > 0.0 else origin) - origin)
    gain = min(max(origin + above, -1.0), 1.0)
    for i in range(gains.size):
        rises[i] = confidence[i] * (gains[i] - gain) if confidence[i] > 0.0 else 0.0
    return gain


@kernel(VECTOR, inline=False)
def enter(regrets: Floats, keep: float, told: Floats, level: float) -> float:
    """Write the regrets after a round; return the largest."""
    lead = -np.inf
    for i in range(regrets.size):
        r = keep * regrets[i] + (told[i] - level)
        regrets[i] = r
        lead = larger(lead, r)
    return lead


@kernel(VECTOR)
def learn_nothing(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    told: Floats,
    level: float,
    gain: float,
) -> None:
    """Keep regrets, and nothing else."""


@kernel(VECTOR, inline=False)
def learn_squares(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    told: Floats,
    level: float,
    gain: float,
) -> None:
    """Keep ``sum rho^2``, rho = r / 2, in the first row of one's own."""
    keep, squares = settings[KEEP], ledger[OWN]
    for i in range(squares.size):
        rho = 0.5 * (told[i] - level)
        squares[i] = keep * squares[i] + rho * rho


class Kernels(NamedTuple):
    """The compiled parts of an algorithm; all work in place.

    Attributes
    ----------
    score
        ``(weights, ledger, totals, settings, scores)``: write the scores. Totals that are solved
        for may come closer to the solution.
    rounds
        ``(weights, ledger, totals, settings, gains, confidence, records, played)``: see `_rounds`.
    round
        ``(weights, ledger, totals, settings, gains)``: see `_round`.
    """

    score: Callable[..., None]
    rounds: Callable[..., int]
    round: Callable[..., tuple[float, float]]


def kernels_of(
    score: Callable[..., None],
    learn: Callable[..., None] = learn_nothing,
    weigh: Callable[..., None] | None = None,
) -> Kernels:
    """Return the kernels of an algorithm, made of what is its own.

    Parameters
    ----------
    score
        Writes the scores, given weights, ledger, totals and settings.
    learn
        Updates its own rows and totals, or the weights where these are what it remembers, before
        the regrets change; given the same, r as ``told`` and ``level``, and the hedger's gain.
    weigh
        Writes the weights, given the others; by the scores where it is None.
    """
    if weigh is None:
        weigh = fill(_weigh, score, _score=score)
    one = fill(_round, score, _learn=learn, _weigh=weigh)
    many = fill(_rounds, score, _score=score, _learn=learn, _weigh=weigh, _round=one)
    return Kernels(score, many, one)


# The names that are open in the templates below, which are never called as they stand.
_score: Callable[..., None] = learn_nothing
_learn: Callable[..., None] = learn_nothing


def _weigh(weights: Floats, ledger: Floats, totals: Floats, settings: Floats) -> None:
    _score(weights, ledger, totals, settings, weights)
    raise_scores(weights)


def _round(
    weights: Floats, ledger: Floats, totals: Floats, settings: Floats, gains: Floats
) -> tuple[float, float]:
    """Play a round in which all are awake; return the hedger's gain and the largest regret.

    The gain is `BAD_INPUT` where one of the experts' is out of range, and nothing is written then.
    """
    gain = earn(weights, gains)
    if gain == BAD_INPUT:
        return gain, 0.0
    _learn(weights, ledger, totals, settings, gains, gain, gain)
    lead = enter(ledger[REGRET], settings[KEEP], gains, gain)
    _weigh(weights, ledger, totals, settings)
    return gain, lead


def _rounds(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    gains: Floats,
    confidence: Floats,
    records: Floats,
    played: Floats,
) -> int:
    """Play rounds in place; return how many, fewer than were given where one had bad input.

    ``records`` get the gain and the largest regret of each round in their first columns, the gain
    `ABSTAINED` where nobody was awake, and ``played`` what was played; ``confidence`` and
    ``played`` have no rows where they are not wanted.
    """
    if len(confidence) == 0:
        for t in range(len(gains)):
            if len(played) > 0:
                for i in range(weights.size):  # assigning a row is slow to compile
                    played[t, i] = weights[i]
            gain, lead = _round(weights, ledger, totals, settings, gains[t])
            if gain == BAD_INPUT:
                return t
            records[t, 0], records[t, 1] = gain, lead
        return len(gains)
    heard, rises = np.empty_like(weights), np.empty_like(weights)
    for t in range(len(gains)):
        origin, bad = faults(gains[t], confidence[t])
        if bad > 0:
            return t
        scores = rises  # free until the rises are written
        _score(weights, ledger, totals, settings, scores)
        share(scores, confidence[t], heard)
        if len(played) > 0:
            for i in range(weights.size):
                played[t, i] = heard[i]
        gain = earn_awake(heard, gains[t], confidence[t], origin, rises)
        _learn(weights, ledger, totals, settings, rises, 0.0, gain)
        lead = enter(ledger[REGRET], settings[KEEP], rises, 0.0)
        _weigh(weights, ledger, totals, settings)
        records[t, 0], records[t, 1] = gain, lead
    return len(gains)
