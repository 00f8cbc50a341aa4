"""Simulated series whose hidden states are known."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._matching import Labels

ROUNDS, JUDGED = 4000, 1000

CALM_WILD = np.array([[0.99, 0.01], [0.04, 0.96]])
THREE = np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.02, 0.02, 0.96]])
WITHOUT_THIRD = np.array([[0.99, 0.01, 0.0], [0.04, 0.96, 0.0], [0.0, 0.0, 1.0]])
RESTLESS = np.array([[0.85, 0.15], [0.3, 0.7]])


class Case(NamedTuple):
    """A simulated series, and all that is true of it.

    Attributes
    ----------
    truth, observations
        Hidden states, and what was seen.
    emission, states
        What a rival is told: the family, and how many states there are in all.
    logs
        The true log density of each observation in each state, T x k.
    moves
        The true transitions into each round, T x k x k.
    """

    truth: Labels
    observations: Floats
    emission: str
    states: int
    logs: Floats
    moves: Floats


def volatility(rng: np.random.Generator) -> Case:
    """Return two deviations, 0.7 and 2.2, with the same mean."""
    return _normal(_constant(CALM_WILD), np.zeros(2), np.array([0.7, 2.2]), rng)


def means(rng: np.random.Generator) -> Case:
    """Return two means, 0 and 3."""
    return _normal(_constant(CALM_WILD), np.array([0.0, 3.0]), np.ones(2), rng)


def both(rng: np.random.Generator) -> Case:
    """Return two means with deviations of their own."""
    return _normal(_constant(CALM_WILD), np.array([0.5, -1.0]), np.array([0.7, 2.0]), rng)


def three_states(rng: np.random.Generator) -> Case:
    """Return three states."""
    return _normal(_constant(THREE), np.array([0.0, 2.0, -1.0]), np.array([0.6, 1.2, 2.5]), rng)


def counts(rng: np.random.Generator) -> Case:
    """Return counts with two rates."""
    moves, rates = _constant(CALM_WILD), np.array([2.0, 6.0])
    truth = _path(moves, rng)
    seen = rng.poisson(rates[truth]).astype(np.float64)
    factorials = np.array([math.lgamma(y + 1.0) for y in seen])
    logs = seen[:, np.newaxis] * np.log(rates) - rates - factorials[:, np.newaxis]
    return Case(truth, seen, "poisson", 2, logs, moves)


def two_columns(rng: np.random.Generator) -> Case:
    """Return two columns that are correlated in one state."""
    moves = _constant(CALM_WILD)
    truth = _path(moves, rng)
    centres = np.array([[0.3, 0.3], [-0.8, -0.5]])
    covariances = np.array([[[0.49, 0.1], [0.1, 0.49]], [[3.2, 2.6], [2.6, 3.2]]])
    noise = rng.normal(size=(ROUNDS, 2))
    roots = np.linalg.cholesky(covariances)
    seen = centres[truth] + np.einsum("tij,tj->ti", roots[truth], noise)
    away = seen[:, np.newaxis] - centres
    far = np.einsum("tki,kij,tkj->tk", away, np.linalg.inv(covariances), away)
    logs = -0.5 * (far + np.log(np.linalg.det(covariances))) - math.log(2.0 * math.pi)
    return Case(truth, seen, "full", 2, logs, moves)


def drift(rng: np.random.Generator) -> Case:
    """Let both deviations drift between half and twice what they were, once."""
    factor = 2.0 ** np.sin(2.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    deviations = factor[:, np.newaxis] * np.array([0.7, 2.2])
    return _normal(_constant(CALM_WILD), np.zeros(2), deviations, rng)


def drifting_means(rng: np.random.Generator) -> Case:
    """Let both means drift up and down by twice the distance between them."""
    level = 6.0 * np.sin(3.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    centres = level[:, np.newaxis] + np.array([0.0, 3.0])
    return _normal(_constant(CALM_WILD), centres, np.ones(2), rng)


def fast_drift(rng: np.random.Generator) -> Case:
    """Let both deviations drift between a quarter and four times what they were.

    Within some 400 rounds they change more than from one state to the other.
    """
    factor = 4.0 ** np.sin(3.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    deviations = factor[:, np.newaxis] * np.array([0.7, 2.2])
    return _normal(_constant(CALM_WILD), np.zeros(2), deviations, rng)


def student(rng: np.random.Generator) -> Case:
    """Draw from Student's t with 3 degrees of freedom."""
    moves, scales = _constant(CALM_WILD), np.array([0.5, 1.6])
    truth = _path(moves, rng)
    seen = rng.standard_t(3, ROUNDS) * scales[truth]
    constant = math.lgamma(2.0) - math.lgamma(1.5) - 0.5 * math.log(3.0 * math.pi)
    logs = constant - np.log(scales) - 2.0 * np.log1p((seen[:, np.newaxis] / scales) ** 2 / 3.0)
    return Case(truth, seen, "gaussian", 2, logs, moves)


def outliers(rng: np.random.Generator) -> Case:
    """Give one observation in a hundred the deviation 15, whatever the state."""
    case = volatility(rng)
    wrong = rng.random(ROUNDS) < 0.01
    seen = np.where(wrong, rng.normal(0.0, 15.0, ROUNDS), case.observations)
    parts = [_logs(seen, np.zeros(2), np.array([0.7, 2.2])), _logs(seen, np.zeros(2), 15.0)]
    logs = np.logaddexp(math.log(0.99) + parts[0], math.log(0.01) + parts[1])
    return case._replace(observations=seen, logs=logs)


def late_state(rng: np.random.Generator) -> Case:
    """Let a third state appear in the middle."""
    moves = _constant(WITHOUT_THIRD)
    moves[ROUNDS // 2 :] = [[0.98, 0.01, 0.01], [0.03, 0.96, 0.01], [0.02, 0.02, 0.96]]
    return _normal(moves, np.array([0.0, 0.0, -4.0]), np.array([0.7, 2.2, 1.0]), rng)


def changing_stays(rng: np.random.Generator) -> Case:
    """Let the states become restless and calm down, every 1,000 rounds."""
    moves = _constant(CALM_WILD)
    moves[(np.arange(ROUNDS) // 1000) % 2 == 1] = RESTLESS
    return _normal(moves, np.array([0.0, 2.5]), np.array([0.7, 1.2]), rng)


Drawn = Callable[[np.random.Generator], Case]

STATIONARY: tuple[Drawn, ...] = (volatility, means, both, three_states, counts, two_columns)
HARDER: tuple[Drawn, ...] = (drift, student, outliers, late_state, changing_stays)
EXTREME: tuple[Drawn, ...] = (drifting_means, fast_drift)


def _constant(transition: Floats) -> Floats:
    return np.repeat(transition[np.newaxis], ROUNDS, axis=0)


def _path(moves: Floats, rng: np.random.Generator) -> Labels:
    """Draw hidden states that start in the first."""
    path = np.zeros(ROUNDS, dtype=np.intp)
    steps, draws = np.cumsum(moves, axis=2), rng.random(ROUNDS)
    for t in range(1, ROUNDS):
        path[t] = int((draws[t] >= steps[t, path[t - 1], :-1]).sum())
    return path


def _logs(seen: Floats, centres: Floats, deviations: Floats | float) -> Floats:
    z = (seen[:, np.newaxis] - centres) / deviations
    return np.asarray(-0.5 * z**2 - np.log(deviations) - 0.5 * math.log(2.0 * math.pi))


def _normal(moves: Floats, centres: Floats, deviations: Floats, rng: np.random.Generator) -> Case:
    """Return normal observations; means and deviations are k, or T x k."""
    truth, rounds, k = _path(moves, rng), np.arange(ROUNDS), moves.shape[1]
    middle, width = (np.broadcast_to(part, (ROUNDS, k)) for part in (centres, deviations))
    seen = middle[rounds, truth] + width[rounds, truth] * rng.normal(size=ROUNDS)
    return Case(truth, seen, "gaussian", k, _logs(seen, middle, width), moves)
