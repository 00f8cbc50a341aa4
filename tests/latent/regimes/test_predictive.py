"""Quantiles of mixtures: the solver of the core beside a plain search."""

import numpy as np
import pytest

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import (
    Autoregressive,
    Emission,
    FullGaussian,
    Gaussian,
    NegativeBinomial,
    Poisson,
    StudentT,
)
from normalhedge.latent.regimes._predictive import Predictive

LEVELS = (1e-6, 0.001, 0.05, 0.3, 0.5, 0.9, 0.999, 1.0 - 1e-6)


def bisected(predictive: Predictive, level: float) -> float:
    """The quantile by halving an interval."""
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = 0.5 * (low + high)
        if float(predictive.share_below(np.array(middle))) < level:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def drawn(seed: int) -> Predictive:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(14, 0.3))
    normals = Gaussian(rng.normal(0.0, 5.0, 6), 10.0 ** rng.uniform(-2.0, 1.5, 6))
    students = StudentT(
        rng.normal(0.0, 5.0, 8), 10.0 ** rng.uniform(-2.0, 1.5, 8), rng.uniform(2.05, 200.0, 8)
    )
    return Predictive([(shares[:6], normals), (shares[6:], students)], np.zeros(1))


@pytest.mark.parametrize("seed", range(12))
def test_quantiles_of_mixtures_are_found(seed: int) -> None:
    predictive = drawn(seed)
    width = float(np.sqrt(predictive.variance))
    for level in LEVELS:
        assert predictive.quantile(level) == pytest.approx(
            bisected(predictive, level), abs=1e-6 * width
        )


@pytest.mark.parametrize("previous", [0.7, np.nan])
def test_quantiles_of_autoregressive_states(previous: float) -> None:
    states = Autoregressive(np.array([0.1, 2.0]), np.array([0.9, -0.5]), np.array([0.5, 2.0]))
    predictive = Predictive([(np.array([0.4, 0.6]), states)], np.array([previous]))
    for level in LEVELS:
        assert predictive.quantile(level) == pytest.approx(bisected(predictive, level), abs=1e-6)


def test_each_column_has_its_interval() -> None:
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 2, 2))
    states = FullGaussian(rng.normal(size=(3, 2)), roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(2))
    predictive = Predictive([(np.array([0.2, 0.5, 0.3]), states)], np.zeros(2))
    intervals = predictive.interval(0.8)
    assert intervals.shape == (2, 2)
    for column, (low, high) in zip(predictive.columns(), intervals, strict=True):
        assert low == pytest.approx(bisected(column, 0.1), abs=1e-6)
        assert high == pytest.approx(bisected(column, 0.9), abs=1e-6)


@pytest.mark.parametrize("scale", [1.0, 50.0, 3000.0])
def test_quantiles_of_counts_are_the_first_that_suffice(scale: float) -> None:
    parts: list[tuple[Floats, Emission]] = [
        (np.array([0.3, 0.3]), Poisson(scale * np.array([0.4, 6.0]))),
        (np.array([0.4]), NegativeBinomial(scale * np.array([2.0]), np.array([1.5]))),
    ]
    predictive = Predictive(parts, np.zeros(1))
    for level in (0.001, 0.05, 0.5, 0.95, 0.999):
        quantile = predictive.quantile(level)
        assert float(predictive.share_below(np.array(quantile))) >= level
        assert float(predictive.share_below(np.array(quantile - 1.0))) < level
