"""The distributions of observations in the states of a hidden Markov model."""

from normalhedge.latent.models.emissions._counts import (
    LARGEST_TABLE as LARGEST_TABLE,
    Categorical,
    NegativeBinomial,
    Poisson,
    Stepwise as Stepwise,
)
from normalhedge.latent.models.emissions._emission import (
    Emission,
    RealEmission,
    check_observations as check_observations,
)
from normalhedge.latent.models.emissions._normal import (
    Autoregressive,
    DiagonalGaussian,
    FullGaussian,
    Gaussian,
    StudentT,
    normal_cdf as normal_cdf,
)

FAMILIES: dict[str, type[Emission]] = {
    "gaussian": Gaussian,
    "student": StudentT,
    "autoregressive": Autoregressive,
    "poisson": Poisson,
    "negative_binomial": NegativeBinomial,
    "categorical": Categorical,
    "diagonal": DiagonalGaussian,
    "full": FullGaussian,
}
"""The families, by the name that `fit` takes."""

__all__ = [
    "FAMILIES",
    "Autoregressive",
    "Categorical",
    "DiagonalGaussian",
    "Emission",
    "FullGaussian",
    "Gaussian",
    "NegativeBinomial",
    "Poisson",
    "RealEmission",
    "StudentT",
]
