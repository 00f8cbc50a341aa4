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
from normalhedge.latent.models.emissions._regression import (
    Regression,
    check_given as check_given,
    join_given as join_given,
    residuals as residuals,
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
"""The families without covariates, by the name that `fit` takes."""

ALL: dict[str, type[Emission]] = {**FAMILIES, Regression.family: Regression}
"""All families, by their names in the core."""

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
    "Regression",
    "StudentT",
]
