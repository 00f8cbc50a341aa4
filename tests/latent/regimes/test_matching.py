"""Matching the states of models."""

from collections.abc import Sequence
from itertools import combinations, permutations

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


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_assignment_of_pairs_is_the_best_of_all(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    worth, pairs = rng.random(shape), rng.random((shape[0], shape[0], shape[1], shape[1]))
    pairs += pairs.transpose(1, 0, 3, 2)  # a pair is worth the same in either order

    def total(rows: Sequence[int], columns: Sequence[int]) -> float:
        places = list(zip(rows, columns, strict=True))
        both = sum(pairs[r, s, u, v] for (r, u), (s, v) in combinations(places, 2))
        return float(sum(worth[place] for place in places) + both)

    best = max(
        total(rows, columns)
        for rows in permutations(range(shape[0]), min(shape))
        for columns in permutations(range(shape[1]), min(shape))
    )
    found = assignment(worth, pairs)
    kept = np.flatnonzero(found >= 0).tolist()
    assert total(kept, found[kept].tolist()) == pytest.approx(best)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Gaussian(np.zeros(2), np.array([0.8, 3.6])), Gaussian(np.zeros(2), np.array([0.2, 0.6]))),
        (Gaussian(np.array([0.0, 3.0]), np.ones(2)), Gaussian(np.array([-7.0, -4.0]), np.ones(2))),
    ],
    ids=["deviations", "means"],
)
def test_numbers_outlast_a_drift_of_all_states(old: Gaussian, new: Gaussian) -> None:
    identity = Identity.init(2).follow(old, None)
    # the old model sees its first state only, the new one its second state in most rounds
    shared = overlap(
        np.array([[1.0, 0.0]] * 40 + [[0.0, 1.0]] * 60), np.eye(2)[[0] * 100], np.zeros((2, 2))
    )
    np.testing.assert_array_equal(assignment(shared), [1, 0])
    np.testing.assert_array_equal(identity.follow(new, shared).numbers, [0, 1])


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
