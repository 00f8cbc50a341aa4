"""The distributions of observations in the states of a hidden Markov model."""

from normalhedge.latent.models.emissions.counts import Categorical, NegativeBinomial, Poisson
from normalhedge.latent.models.emissions.normal import Autoregressive, Gaussian, StudentT
from normalhedge.latent.models.emissions.protocol import Emission, RealEmission
from normalhedge.latent.models.emissions.several import DiagonalGaussian, FullGaussian

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
