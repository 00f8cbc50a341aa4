"""Matching the states of models."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from normalhedge.latent.models.emissions import Gaussian
from normalhedge.latent.regimes._matching import Identity, assignment, likeness, overlap


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
    identity = Identity.init(4)
    two = Gaussian(np.array([0.0, 5.0]), np.ones(2))
    three = Gaussian(np.array([-9.0, 0.0, 5.0]), np.ones(3))

    def shared(new: Gaussian, old: Gaussian) -> np.ndarray:
        return overlap(np.zeros((1, new.states)), np.zeros((1, old.states)), likeness(new, old))

    for new, old, numbers in (
        (two, None, [0, 1]),
        (three, two, [2, 0, 1]),
        (two, three, [0, 1]),
        (three, two, [2, 0, 1]),
    ):
        identity = identity.follow(new, None if old is None else shared(new, old))
        np.testing.assert_array_equal(identity.numbers, numbers)
