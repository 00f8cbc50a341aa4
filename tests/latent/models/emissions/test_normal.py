"""Normal, Student and autoregressive emissions."""

from typing import Any

import numpy as np
import pytest

from normalhedge.latent.models.emissions import (
    Autoregressive,
    Gaussian,
    StudentT,
)
from tests.latent.models.examples import EXAMPLES


def test_an_autoregression_is_normal_around_the_last() -> None:
    emission = EXAMPLES["autoregressive"]
    assert isinstance(emission, Autoregressive)
    seen = np.array([1.0, 2.0, np.nan, 0.5, -1.0])
    logs = emission.log_density(seen)
    np.testing.assert_array_equal(logs[[0, 2, 3]], 0.0)  # nothing is known before them
    for t in (1, 4):
        around = Gaussian(emission.means_after(seen[t - 1]), emission.deviations)
        np.testing.assert_allclose(logs[t], around.log_density(seen[t : t + 1])[0], rtol=1e-12)


def test_distribution_functions_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = np.concatenate([np.linspace(-9.0, 9.0, 41), [-1e3, 1e3, -1e-9, 40.0]])
    column = x[:, np.newaxis]
    normal: Any = EXAMPLES["gaussian"]
    wanted = stats.norm.cdf(column, normal.means, normal.deviations)
    np.testing.assert_allclose(normal.cdf(x), wanted, rtol=1e-12)
    degrees = np.array([2.05, 3.0, 8.0, 30.0, 200.0])
    student = StudentT(np.linspace(-1.0, 1.0, 5), np.linspace(0.1, 2.0, 5), degrees)
    wanted = stats.t.cdf(column, degrees, student.locations, student.scales)
    np.testing.assert_allclose(student.cdf(x), wanted, rtol=1e-9, atol=1e-300)
    counts: Any = EXAMPLES["poisson"]
    np.testing.assert_allclose(counts.cdf(x), stats.poisson.cdf(column, counts.rates), atol=1e-13)
    more: Any = EXAMPLES["negative_binomial"]
    wanted = stats.nbinom.cdf(column, more.sizes, more.sizes / (more.sizes + more.means))
    np.testing.assert_allclose(more.cdf(x), wanted, atol=1e-12)
    symbols: Any = EXAMPLES["categorical"]
    np.testing.assert_allclose(symbols.cdf([-1, 0, 1.5, 7]).T[0], [0.0, 0.7, 0.9, 1.0])
    follower: Any = EXAMPLES["autoregressive"]
    around = Gaussian(follower.means_after(0.7), follower.deviations)
    np.testing.assert_allclose(follower.cdf(x, 0.7), around.cdf(x), rtol=1e-12)
