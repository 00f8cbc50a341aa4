"""Simple baselines for regimes: causal models, scored by the log density."""

import math

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fitted, fit_series
from normalhedge.latent.regimes._sequence import Sequence

START = 50  # the number of observations before the comparison starts
# the number of rounds between fits: fewer at the beginning, and later 1/20 of all rounds
EVERY = 250
LONGEST = 20_000  # the largest number of observations in a fit
BURN_IN = 500  # the number of rounds that are filtered again when the parameters have changed
RECENT = 100  # the number of last rounds from which the second baseline learns


def baselines(sequence: Sequence) -> dict[str, Floats]:
    """Return ln p(y_t | y_1..y_{t-1}) of each baseline, T; NaN where it makes no prediction.

    The baselines are one state, learned from all rounds or from the last 100; hidden Markov models
    with 2 and 3 states, fitted again by EM whenever the rounds have doubled, then every 250 rounds
    or more; and a random walk with normal errors, or for symbols a Markov chain.
    """
    seen = sequence.table.copy()
    seen[~sequence.known] = np.nan
    known = sequence.known
    if int(known.sum()) <= START:
        return {}
    begin = int(np.flatnonzero(known)[START - 1]) + 1
    result = {
        "one state, all rounds": _refitted(sequence, seen, 1, begin),
        f"one state, the last {RECENT} rounds": _recent(sequence, seen, begin),
        "EM, 2 states, refitted": _refitted(sequence, seen, 2, begin),
        "EM, 3 states, refitted": _refitted(sequence, seen, 3, begin),
    }
    if sequence.labels:
        result["Markov chain"] = _chain(seen[:, 0], len(sequence.labels), begin)
    elif sequence.encoding.kind != "counts":
        columns = max(len(sequence.encoding.columns), 1)
        result["the last value again"] = _walk(seen[:, :columns], begin)
    for scores in result.values():
        scores[~known] = np.nan
    return result


def _fit(sequence: Sequence, seen: Floats, states: int, warm: Fitted | None) -> Fitted:
    return fit_series(
        seen[-LONGEST:],
        states,
        sequence.encoding.emission,
        rng=np.random.default_rng(0),
        starts=3 if warm is None else 1,
        iterations=50,
        tolerance=1e-3,
        warm=warm,
        symbols=len(sequence.labels) or None,
    )


def _refitted(sequence: Sequence, seen: Floats, states: int, begin: int) -> Floats:
    scores, fitted = np.full(len(seen), np.nan), None
    while begin < len(seen):
        stop = begin + max(min(begin, EVERY), begin // 20)
        fitted = _fit(sequence, seen[:begin], states, fitted)
        first = max(begin - BURN_IN, 0)
        part = seen[first:stop]
        y, x = np.split(part, [fitted.emission.predicted], axis=1)
        logs = fitted.filtered(y, given=x if x.size else None)[1]
        scores[begin:stop] = logs[begin - first :]
        begin = stop
    return scores


def _recent(sequence: Sequence, seen: Floats, begin: int) -> Floats:
    scores, step = np.full(len(seen), np.nan), max(10, len(seen) // 1000)
    for start in range(begin, len(seen), step):
        part = seen[max(start - RECENT, 0) : start]
        if np.isnan(part[:, 0]).all():
            continue
        fitted = _fit(sequence, part, 1, None)
        rows = seen[start - 1 : start + step]
        scores[start : start + step] = fitted.emission.log_density(rows)[1:, 0]
    return scores


def _walk(seen: Floats, begin: int) -> Floats:
    """Return the scores of a normal distribution around the last value, column by column."""
    scores, rounds = np.full(len(seen), np.nan), np.flatnonzero(~np.isnan(seen[:, 0]))
    rows = seen[rounds]
    away = np.square(np.diff(rows, axis=0))
    counts = np.arange(1.0, len(away))[:, np.newaxis]
    variance = np.cumsum(away[:-1], axis=0) / counts  # of the steps before each one
    variance = np.maximum(variance, 1e-12 * (1.0 + np.square(rows[1:-1])))
    logs = -0.5 * (np.log(2.0 * math.pi * variance) + away[1:] / variance)
    scores[rounds[2:]] = logs.sum(axis=1)
    scores[:begin] = np.nan
    return scores


def _chain(seen: Floats, symbols: int, begin: int) -> Floats:
    """Return the scores of a Markov chain, with half a count added to each transition."""
    scores, last, counts = np.full(len(seen), np.nan), None, np.full((symbols, symbols), 0.5)
    for t, value in enumerate(seen.tolist()):
        if math.isnan(value):
            last = None
            continue
        if last is not None:
            if t >= begin:
                scores[t] = math.log(counts[last, int(value)] / counts[last].sum())
            counts[last, int(value)] += 1.0
        last = int(value)
    return scores
