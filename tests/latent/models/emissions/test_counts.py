"""Emissions of counts."""

import numpy as np

from normalhedge.latent.models.emissions import (
    NegativeBinomial,
    Poisson,
)
from tests.latent.models.examples import scipy_logs


def test_large_counts_have_densities() -> None:
    seen = np.array([0.0, 511.0, 512.0, 1e6])
    for name, emission in (
        ("poisson", Poisson(np.array([0.3, 500.0]))),
        ("negative_binomial", NegativeBinomial(np.array([0.3, 500.0]), np.array([0.01, 300.0]))),
    ):
        wanted = scipy_logs(name, emission, seen)
        np.testing.assert_allclose(emission.log_density(seen), wanted, rtol=1e-9)
