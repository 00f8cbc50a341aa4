"""Coins that know nothing of one another."""

import numpy as np
import pytest

from normalhedge.research.games import IndependentCoins
from tests.research.games.natures.examples import drawn


def test_independent_coins() -> None:
    gains = drawn(IndependentCoins(40, 0.3, 0.25), 20_000)
    assert gains[:, :10].mean() == pytest.approx(0.3, abs=0.01)
    assert gains[:, 10:].mean() == pytest.approx(0.0, abs=0.01)
    assert abs(np.corrcoef(gains[:, :10].T) - np.eye(10)).max() < 0.05
