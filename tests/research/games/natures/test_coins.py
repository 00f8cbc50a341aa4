"""Natures of good experts among fair coins."""

import math

import numpy as np
import pytest

from normalhedge.research.games import GoodAndBad, IndependentCoins
from tests.research.games.natures.examples import drawn


def test_good_and_bad_is_section_4_2_1() -> None:
    n, gamma, f, alpha = 50, 0.6, 0.1, 0.001
    nature = GoodAndBad(n, gamma, f, alpha)
    rounds = 12_000
    gains = drawn(nature, rounds).reshape(12, 1000, n)
    for shift, part in enumerate(gains):
        good = (np.arange(5) + 5 * shift) % n
        np.testing.assert_array_equal(nature.good_set(1000 * shift), good)
        assert (part[:, good] == part[:, good[:1]]).all()  # one coin for all of them
        bad = np.delete(part, good, axis=1)
        assert not (bad == bad[:, :1]).all(axis=1).any()
        assert abs(bad.mean()) < 5 / math.sqrt(bad.size)
    coins = np.array([part[:, 5 * shift % n] for shift, part in enumerate(gains)])
    assert coins.mean() == pytest.approx(gamma, abs=4 * math.sqrt((1 - gamma**2) / rounds))
    assert set(np.unique(gains)) == {-1, 1}


def test_the_good_set_wraps_around() -> None:
    nature = GoodAndBad(10, 1.0, 0.4, 0.5)
    assert nature.good_set(4).tolist() == [8, 9, 0, 1]
    assert nature.good_set(5).tolist() == [8, 9, 0, 1]
    assert nature.good_set(6).tolist() == [2, 3, 4, 5]


def test_independent_coins() -> None:
    gains = drawn(IndependentCoins(40, 0.3, 0.25), 20_000)
    assert gains[:, :10].mean() == pytest.approx(0.3, abs=0.01)
    assert gains[:, 10:].mean() == pytest.approx(0.0, abs=0.01)
    assert abs(np.corrcoef(gains[:, :10].T) - np.eye(10)).max() < 0.05
