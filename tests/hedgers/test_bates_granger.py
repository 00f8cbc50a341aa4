"""Weights of Bates and Granger."""

import numpy as np
import pytest

from normalhedge import hedgers
from tests import family_oracles as oracles
from tests.hedgers.examples import drawn_games


@pytest.mark.parametrize("power", [0.5, 2.0, 7.0])
def test_powers_of_bates_and_granger(power: float) -> None:
    for gains, confidence in drawn_games():
        for rated in (None, confidence):
            oracle = oracles.BatesGranger(gains.shape[1], power)
            played, last = oracles.fold(oracle, gains, rated)
            run = hedgers.BatesGranger(power=power).run(gains, rated, keep_weights=True)
            assert run.weights is not None
            np.testing.assert_allclose(run.weights, played, atol=1e-10)
            np.testing.assert_allclose(run.state.weights, last, atol=1e-10)


def test_bates_and_granger_where_nothing_is_lost() -> None:
    hedger, gains = hedgers.BatesGranger(), np.ones((5, 3))
    np.testing.assert_allclose(hedger.run(gains).state.weights, 1 / 3)
    gains[:, 2] = -1.0
    assert hedger.run(gains).state.weights[2] < 0.15
    asleep = hedger.run(gains, np.zeros((5, 3))).state
    np.testing.assert_allclose(asleep.weights, 1 / 3)
    assert asleep.totals.tolist() == [0.0, 0.0]
