r"""Tell when a model gets worse beside its own past and beside the others, at a stated rate.

A score compares the loss of a model with the middle loss of the others in the same round, whatever
their scale, so that a hard time for all is no alarm:

.. math:: r_t = \frac{\ell_t - m_t}{|\ell_t| + |m_t|} \in [-1, 1]

Its rank among the scores of more than ``DELAY`` rounds ago, before which a change is not yet in
them, is made normal: :math:`z_t = \Phi^{-1}(u_t)`. If the model is as it was, z has the mean 0, and
neighbours have a correlation :math:`\phi`. The new part of z, in units of its own spread and less a
margin, is

.. math:: i_t = \frac{z_t - \phi z_{t-1}}{\sigma \sqrt{\kappa}}
          - \frac{1}{\sqrt m}\Big(\tfrac12 + \frac{1 + \phi}{1 - \phi} - 1\Big),

where m scores are known, and :math:`\kappa` is the variance of the mean of ``BATCH`` such parts,
beside independent ones: the long-run variance. A bet multiplies its stake by
:math:`e_t = \exp(\lambda i_t - \lambda^2 / 2)`, and a new bet with the stake 1 begins in each
round: the value of all bets is :math:`M_t = (M_{t-1} + 1)\,e_t`. As long as no e is more than 1 in
the mean, :math:`M_t - t` is a supermartingale, and by Doob's inequality

.. math:: P(\max_{t \le T} M_t \ge T / \delta) \le \delta.

An alarm is a value of ``ROUNDS * models / RATE``. M is the mean over the sizes :math:`\lambda`.

This is the Shiryaev-Roberts form of an e-detector (Shin, Ramdas and Rinaldo, 2024), with ranks in
place of a known distribution. Correlation and long-run variance are estimates. So :math:`\phi` is
taken ``ERRORS`` standard errors larger than it looks, and no smaller than the mean of all models;
and nothing is bet before the past tells as much as ``ENOUGH`` independent scores. A test measures
the rate, up to an autocorrelation of 0.9.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

ROUNDS, RATE = 1000, 0.01
"""The probability of a false alarm for any of the models is at most this rate in so many rounds."""

FIRST, BEGIN = 10, 50
"""The number of scores from which on ranks are taken, and from which on bets are made."""

DELAY, KEPT = 60, 400
"""A score counts as past after DELAY further scores of the same model, and until KEPT."""

BATCH = 8
"""The number of scores whose mean tells of the long-run variance."""

ERRORS = 2.0
"""The margin of the correlation, in standard errors."""

ENOUGH = 25.0
"""The least number of independent scores that tell as much as the past."""

LARGEST = 0.97
"""The largest correlation of neighbouring scores."""

SIZES = np.array([0.5, 1.0, 2.0])[:, np.newaxis]
"""The sizes of bets, for small and for large changes."""

STEPS = 4000
PROBITS = np.array([NormalDist().inv_cdf((k + 0.5) / STEPS) for k in range(STEPS)])
"""The inverse of the normal distribution, on a grid."""


def scores_of(losses: Floats) -> Floats:
    """Return the scores of losses; both are rounds x models, NaN where a model sleeps."""
    count = (~np.isnan(losses)).sum(axis=1)
    ordered = np.sort(losses, axis=1)
    ranks = np.argsort(np.argsort(losses, axis=1), axis=1)
    # The middle of the others: the place of the middle moves by one where the own loss is before.
    left = np.maximum(count - 1, 0)[:, np.newaxis]
    middles = []
    for place in (np.maximum(left - 1, 0) // 2, left // 2):
        shifted = np.minimum(place + (ranks <= place), losses.shape[1] - 1)
        middles.append(np.take_along_axis(ordered, shifted, axis=1))
    middle = 0.5 * (middles[0] + middles[1])
    sizes = np.abs(losses) + np.abs(middle)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(sizes > 0.0, (losses - middle) / sizes, losses * 0.0)
    return np.where(left > 0, scores, np.nan)


def first_alarms(scores: Floats) -> list[tuple[int, int] | None]:
    """Return for each model the round in which it got worse and the round of the alarm, if any.

    ``scores`` are rounds x models; where a model sleeps they are NaN, and nothing is bet.
    """
    n = scores.shape[1]
    threshold = ROUNDS * n / RATE
    gains = innovations(scores)
    value, best = np.zeros((2, len(SIZES), n))
    began = np.zeros((len(SIZES), n), dtype=np.int64)
    alarms: list[tuple[int, int] | None] = [None] * n
    silent = np.ones(n, dtype=bool)
    for t in np.flatnonzero(~np.isnan(gains).all(axis=1)).tolist():
        bets = ~np.isnan(gains[t]) & silent
        factor = np.exp(SIZES * np.where(bets, gains[t], 0.0) - 0.5 * SIZES**2)
        value = np.where(bets, (value + 1.0) * factor, value)
        began = np.where(bets & (best < 1.0), t, began)  # the beginning of the largest bet
        best = np.where(bets, np.maximum(best, 1.0) * factor, best)
        for k in np.flatnonzero(bets & (value.mean(axis=0) >= threshold)):
            alarms[k], silent[k] = (int(began[best[:, k].argmax(), k]), t), False
    return alarms


def innovations(scores: Floats) -> Floats:
    """Return the new part of each score, with its margin; NaN where nothing is bet."""
    known = ~np.isnan(scores)
    watched = np.flatnonzero(known.sum(axis=0) > DELAY + BEGIN)
    if not len(watched):
        return np.full(scores.shape, np.nan)
    moments = np.full((len(_Moments._fields), *scores.shape), np.nan)
    for k in watched:
        awake = np.flatnonzero(known[:, k])
        moments[:, awake[DELAY + BEGIN :], k] = _moments(scores[awake, k])
    past = _Moments(*moments)
    with np.errstate(invalid="ignore", divide="ignore"):
        same = past.product / past.square
        same = same + (1.0 + 3.0 * same) / past.known  # small samples hide some
        there = ~np.isnan(same)
        models = np.maximum(there.sum(axis=1, keepdims=True), 1)
        common = np.where(there, same, 0.0).sum(axis=1, keepdims=True) / models
        same = same + ERRORS * _error(same, past.known)
        same = np.maximum(same, common + _error(common, past.known * models))
        same = np.clip(same, 0.0, LARGEST)
        spread = past.square - 2.0 * same * past.product + same**2 * past.lagged
        batches = past.batch - 2.0 * same * past.both + same**2 * past.before
        # Few batches hide some of a long-run variance, too.
        long = batches / (BATCH * spread)
        long = np.maximum(1.0, long * (1.0 + 3.0 * same * np.sqrt(2.0 * BATCH / past.known)))
        longer = (1.0 + same) / (1.0 - same)
        size = np.sqrt(np.maximum(1.0 - same**2, spread) * long)
        margin = (0.5 + (longer - 1.0)) / np.sqrt(past.known)
        result: Floats = (past.score - same * past.last) / size - margin
        return np.where(past.known >= ENOUGH * longer * long, result, np.nan)


def _error(same: Floats, count: Floats) -> Floats:
    """Return the standard error of a correlation."""
    return np.asarray(np.sqrt(np.maximum(1.0 - same**2, 0.05) / count))


class _Moments(NamedTuple):
    """What is known of a model before a score: of normal scores, less their mean."""

    # score, last: the normal score, and the one before
    score: Floats
    last: Floats
    known: Floats  # the number of past scores
    # square, product, lagged: the means of z_s^2, z_s z_(s-1) and z_(s-1)^2
    square: Floats
    product: Floats
    lagged: Floats
    # batch, both, before: the same, for sums of ``BATCH`` neighbours
    batch: Floats
    both: Floats
    before: Floats


def _moments(scores: Floats) -> Floats:
    """Return the moments of a model for each of its scores that are bet on."""
    z = _normal_scores(scores)
    times = np.arange(DELAY + BEGIN, len(scores))
    stop, start = times - DELAY, np.maximum(times - KEPT, FIRST)
    sums = np.convolve(z[FIRST:], np.ones(BATCH))[: len(z) - FIRST]  # of the last BATCH
    sums = np.concatenate([np.zeros(FIRST), sums])
    mean = _means(z, start, stop)
    rows = [z[times], z[times - 1], stop - start]
    for series, factor, skip in ((z, 1.0, 0), (sums, float(BATCH), BATCH)):
        middle, first = factor * mean, start + skip
        before = np.concatenate([[0.0], series[:-1]])
        means = _means(series, first, stop), _means(before, first, stop)
        pairs = ((series, series, 0, 0), (series, before, 0, 1), (before, before, 1, 1))
        for one, two, i, j in pairs:
            products = _means(one * two, first, stop)
            rows.append(products - middle * (means[i] + means[j]) + middle**2)
    return np.array(rows)


def _means(values: Floats, start: np.ndarray, stop: np.ndarray) -> Floats:
    """Return the means of stretches."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray((sums[stop] - sums[start]) / np.maximum(stop - start, 1))


def _normal_scores(scores: Floats) -> Floats:
    """Return the normal scores of the ranks among past scores; 0 for the first ones."""
    result, padded = np.zeros(len(scores)), np.concatenate([np.full(KEPT, np.nan), scores])
    width = KEPT - DELAY
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    for a in range(FIRST, len(scores), 1024):
        times = np.arange(a, min(a + 1024, len(scores)))
        past, now = windows[times].copy(), scores[times, np.newaxis]
        early = times < DELAY + FIRST  # the first scores stand for a past
        past[early] = np.nan
        past[early, :FIRST] = scores[:FIRST]
        below = (past < now).sum(axis=1) + 0.5 * (past == now).sum(axis=1)
        shares = (below + 0.5) / ((~np.isnan(past)).sum(axis=1) + 1.0)
        result[times] = PROBITS[np.minimum((shares * STEPS).astype(int), STEPS - 1)]
    return result
