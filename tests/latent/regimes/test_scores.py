"""Scores of probabilistic forecasts."""

import numpy as np
import pytest

from benchmarks.latent.scores import brier, l1, log_score
from normalhedge.latent.models.emissions import Gaussian
from normalhedge.latent.regimes._predictive import Predictive, mixed_normals_crps


def test_scores() -> None:
    rng = np.random.default_rng(0)
    shares, means, widths = np.array([[0.3, 0.7], [-1.0, 2.0], [0.5, 1.5]])
    mixture = Predictive([(shares, Gaussian(means, widths))], np.array([np.nan]))
    x = np.linspace(-30.0, 30.0, 200_001)
    for y in (-2.0, 0.4, 7.0):
        slow = np.trapezoid(np.square(mixture.cdf(x) - (x >= y)), x)
        assert mixed_normals_crps(shares, means, widths**2, y) == pytest.approx(slow, abs=1e-4)
        assert mixture.crps(y) == pytest.approx(slow, abs=1e-4)
    low, high = mixture.interval(0.8)
    np.testing.assert_allclose(mixture.cdf([low, high]), [0.1, 0.9], atol=1e-9)
    came = rng.random(20_000) < 0.7
    honest, bold = np.tile([0.3, 0.7], (20_000, 1)), np.tile([0.1, 0.9], (20_000, 1))
    outcomes = came.astype(int)
    assert brier(honest, outcomes).mean() < brier(bold, outcomes).mean()
    assert l1(honest, outcomes).mean() > l1(bold, outcomes).mean()  # it is not proper
    assert log_score(honest[np.arange(20_000), outcomes]).mean() == pytest.approx(-0.61, abs=0.02)
    with pytest.raises(ValueError, match="outcomes must be whole numbers"):
        brier([[0.5, 0.5]], [2])
