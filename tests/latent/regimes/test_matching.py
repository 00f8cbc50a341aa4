"""Matching the states of models."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from normalhedge.latent.models.emissions import Gaussian
from normalhedge.latent.regimes.matching import Identity, assignment, likeness, overlap


def test_assignment_is_the_best_of_all() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        worth = rng.random(rng.integers(1, 6, size=2))
        places, chosen = linear_sum_assignment(worth, maximize=True)
        found = assignment(worth)
        kept = found >= 0
        assert kept.sum() == min(worth.shape)
        assert worth[np.flatnonzero(kept), found[kept]].sum() == pytest.approx(
            worth[places, chosen].sum()
        )


def test_a_state_that_comes_back_gets_its_number_again() -> None:
    identity = Identity(4)
    two = Gaussian(np.array([0.0, 5.0]), np.ones(2))
    three = Gaussian(np.array([-9.0, 0.0, 5.0]), np.ones(3))

    def shared(new: Gaussian, old: Gaussian) -> np.ndarray:
        return overlap(np.zeros((1, new.states)), np.zeros((1, old.states)), likeness(new, old))

    np.testing.assert_array_equal(identity.follow(two, None), [0, 1])
    np.testing.assert_array_equal(identity.follow(three, shared(three, two)), [2, 0, 1])
    np.testing.assert_array_equal(identity.follow(two, shared(two, three)), [0, 1])
    np.testing.assert_array_equal(identity.follow(three, shared(three, two)), [2, 0, 1])
