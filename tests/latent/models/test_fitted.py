"""Fitted models: expectation, filtering and likelihood."""

import itertools
import math

import numpy as np
import pytest

from normalhedge import _core
from tests.latent.models.examples import EXAMPLES, STICKY, model, rng, series


def enumerated(
    logs: np.ndarray, initial: np.ndarray, transition: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return smoothed states, expected transitions and ln P(y), by adding up all paths."""
    rounds, k = logs.shape
    smoothed, moves, total = np.zeros((rounds, k)), np.zeros((k, k)), 0.0
    for path in itertools.product(range(k), repeat=rounds):
        p = initial[path[0]] * math.exp(sum(logs[t, s] for t, s in enumerate(path)))
        for r, s in itertools.pairwise(path):
            p *= transition[r, s]
        total += p
        for t, s in enumerate(path):
            smoothed[t, s] += p
        for r, s in itertools.pairwise(path):
            moves[r, s] += p
    return smoothed / total, moves / total, math.log(total)


@pytest.mark.parametrize(("rounds", "k"), [(1, 1), (1, 3), (5, 1), (6, 2), (5, 3), (4, 4), (3, 6)])
def test_expectation_is_adding_up_paths(rounds: int, k: int) -> None:
    draw = rng(rounds * k)
    logs = draw.normal(0.0, 3.0, size=(rounds, k))
    initial, transition = draw.dirichlet(np.ones(k)), draw.dirichlet(np.ones(k), size=k)
    smoothed, moves = np.empty((rounds, k)), np.empty((k, k))
    total = _core.em_expect(logs, initial, transition, smoothed, moves)
    wanted = enumerated(logs, initial, transition)
    np.testing.assert_allclose(smoothed, wanted[0], rtol=1e-11)
    np.testing.assert_allclose(moves, wanted[1], rtol=1e-11)
    assert total == pytest.approx(wanted[2], abs=1e-11)


def test_expectation_survives_what_is_impossible_and_far_away() -> None:
    transition = np.array([[1.0, 0.0], [0.0, 1.0]])
    logs = np.array([[0.0, -1e5], [-1e5, 0.0], [-np.inf, -np.inf], [-1e300, 3e4]])
    smoothed, moves = np.empty((4, 2)), np.empty((2, 2))
    total = _core.em_expect(logs, np.array([0.5, 0.5]), transition, smoothed, moves)
    assert math.isfinite(total)
    np.testing.assert_allclose(smoothed.sum(axis=1), 1.0)
    assert moves.sum() == pytest.approx(3.0)


def test_filtering_multiplies_to_the_likelihood() -> None:
    seen = series("gaussian", 50)
    seen[[3, 4, 20]] = np.nan
    truth = model(EXAMPLES["gaussian"])
    beliefs, logs = truth.filtered(seen)
    states, _, total = truth.smoothed(seen)
    assert logs.sum() == pytest.approx(total, abs=1e-10)
    np.testing.assert_array_equal(logs[[3, 4, 20]].round(12), 0.0)
    np.testing.assert_allclose(beliefs[-1], states[-1] @ STICKY, rtol=1e-10)
