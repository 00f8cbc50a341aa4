"""Bayesian online changepoint detection, after Adams and MacKay (2007).

The run length r_t is the number of rounds since the last change. With the hazard h and the
predictive probability p_r(y) of a model that saw the last r observations only,

    P(r_{t+1} = r + 1, y_1..y_{t+1}) = P(r_t = r, y_1..y_t) p_r(y_{t+1}) (1 - h)
    P(r_{t+1} = 0,     y_1..y_{t+1}) = sum_r P(r_t = r, y_1..y_t) p_r(y_{t+1}) h

Of real numbers p_r is Student's t, from a normal inverse gamma prior; of counts it is negative
binomial, from a gamma prior. Priors are those of the first observations.
"""

import math

import numpy as np
from scipy.special import gammaln

from normalhedge.boundary.inputs import Floats

LONGEST = 600
"""Longer runs are forgotten: the oldest gives its share to the one before."""

FIRST = 50
"""Observations that the prior is taken from."""


def log_scores(observations: Floats, hazard: float, *, counts: bool = False) -> Floats:
    """Return ln p(y_t | y_1..y_{t-1}), T; columns count as independent within a run."""
    table = observations.reshape(len(observations), -1)
    prior = _of_counts(table[:FIRST]) if counts else _of_numbers(table[:FIRST])
    predictive, updated = (_poisson, _with_counts) if counts else (_student, _with_numbers)
    known = prior[..., np.newaxis]
    chances, result = np.zeros(1), np.empty(len(table))
    for t, y in enumerate(table):
        joint = chances + predictive(known, y)
        result[t] = total = np.logaddexp.reduce(joint)
        joint -= total
        chances = np.concatenate([[math.log(hazard)], joint + math.log1p(-hazard)])
        known = np.concatenate([prior[..., np.newaxis], updated(known, y)], axis=-1)
        if len(chances) > LONGEST:
            chances[-2] = np.logaddexp(chances[-2], chances[-1])
            chances, known = chances[:-1], known[..., :-1]
    return result


def _of_numbers(first: Floats) -> Floats:
    """Return mean, rounds, shape and rate of the prior, 4 x d; the mean is known for one round."""
    ones = np.ones(first.shape[1])
    return np.array([first.mean(axis=0), ones, ones, first.var(axis=0)])


def _student(known: Floats, y: Floats) -> Floats:
    mean, rounds, shape, rate = known
    degrees = 2.0 * shape
    width = rate * (rounds + 1.0) / (shape * rounds)
    z = (y[:, np.newaxis] - mean) ** 2 / width
    logs = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(np.pi * degrees * width)
    return np.asarray((logs - (shape + 0.5) * np.log1p(z / degrees)).sum(axis=0))


def _with_numbers(known: Floats, y: Floats) -> Floats:
    mean, rounds, shape, rate = known
    away = y[:, np.newaxis] - mean
    return np.array(
        [
            mean + away / (rounds + 1.0),
            rounds + 1.0,
            shape + 0.5,
            rate + 0.5 * rounds * away**2 / (rounds + 1.0),
        ]
    )


def _of_counts(first: Floats) -> Floats:
    """Return shape and rate of the prior, 2 x d: one round's worth."""
    return np.array([np.maximum(first.mean(axis=0), 0.1), np.ones(first.shape[1])])


def _poisson(known: Floats, y: Floats) -> Floats:
    shape, rate = known
    logs = gammaln(shape + y[:, np.newaxis]) - gammaln(shape) - gammaln(y + 1.0)[:, np.newaxis]
    logs -= shape * np.log1p(1.0 / rate) + y[:, np.newaxis] * np.log1p(rate)
    return np.asarray(logs.sum(axis=0))


def _with_counts(known: Floats, y: Floats) -> Floats:
    shape, rate = known
    return np.array([shape + y[:, np.newaxis], rate + 1.0])
