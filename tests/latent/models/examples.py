"""Models and series that several tests share."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models.emissions import (
    Autoregressive,
    Categorical,
    DiagonalGaussian,
    Emission,
    FullGaussian,
    Gaussian,
    NegativeBinomial,
    Poisson,
    StudentT,
)

STICKY = np.array([[0.95, 0.05], [0.1, 0.9]])


EXAMPLES: dict[str, Emission] = {
    "gaussian": Gaussian(np.array([-1.0, 2.0]), np.array([1.0, 0.5])),
    "student": StudentT(np.array([-1.0, 3.0]), np.array([1.0, 0.5]), np.array([4.0, 9.0])),
    "autoregressive": Autoregressive(
        np.array([0.0, 1.0]), np.array([0.8, -0.3]), np.array([0.5, 1.0])
    ),
    "poisson": Poisson(np.array([2.0, 9.0])),
    "negative_binomial": NegativeBinomial(np.array([2.0, 12.0]), np.array([3.0, 6.0])),
    "categorical": Categorical(np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])),
    "diagonal": DiagonalGaussian(
        np.array([[-1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.5], [0.5, 2.0]])
    ),
    "full": FullGaussian(
        np.array([[-1.0, 0.0], [1.0, 2.0]]),
        np.array([[[1.0, 0.5], [0.5, 2.0]], [[0.5, -0.3], [-0.3, 1.0]]]),
    ),
}


def model(emission: Emission, transition: np.ndarray = STICKY) -> Fitted:
    k = emission.states
    return Fitted(np.full(k, 1.0 / k), transition, emission, math.nan, 0, np.empty(0))


def series(name: str, rounds: int = 400, seed: int = 0) -> np.ndarray:
    return model(EXAMPLES[name]).sample(rounds, np.random.default_rng(seed))[1]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scipy_logs(name: str, emission: Any, y: np.ndarray) -> np.ndarray:
    stats = pytest.importorskip("scipy.stats")
    y = y[:, np.newaxis]
    found: dict[str, Callable[[Any], Any]] = {
        "gaussian": lambda e: stats.norm.logpdf(y, e.means, e.deviations),
        "student": lambda e: stats.t.logpdf(y, e.degrees, e.locations, e.scales),
        "poisson": lambda e: stats.poisson.logpmf(y, e.rates),
        "negative_binomial": lambda e: stats.nbinom.logpmf(
            y, e.sizes, e.sizes / (e.sizes + e.means)
        ),
        "categorical": lambda e: np.log(e.probabilities.T[y[:, 0].astype(int)]),
        "diagonal": lambda e: stats.norm.logpdf(y, e.means, e.deviations).sum(axis=2),
        "full": lambda e: np.column_stack(
            [
                stats.multivariate_normal.logpdf(y[:, 0], *both)
                for both in zip(e.means, e.covariances, strict=True)
            ]
        ),
    }
    return np.asarray(found[name](emission))
