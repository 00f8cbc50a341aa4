"""Hidden Markov models back to hmmlearn: the way that `bank_from_hmmlearn` comes, in reverse."""

from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM, GaussianHMM

from normalhedge.boundary.inputs import Floats
from normalhedge.latent import CategoricalBank, GaussianBank, HMMBank
from normalhedge.latent.models import Fitted
from normalhedge.latent.models.emissions import (
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    Gaussian,
)


def to_hmmlearn(models: HMMBank | Fitted) -> Any:
    """Return models as fitted ``GaussianHMM`` or ``CategoricalHMM`` objects of hmmlearn.

    `normalhedge.latent.bank_from_hmmlearn` restores the same arrays, to the bit. The
    width of a `GaussianBank` does not belong to its models, and is lost.

    Parameters
    ----------
    models
        A `CategoricalBank` or `GaussianBank`, for a list of models; or a model that was fitted to
        symbols or to normal numbers, in one column or several, for a single one.

    Examples
    --------
    >>> from normalhedge.latent import bank_from_hmmlearn, categorical_bank
    >>> moves, symbols = [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]
    >>> bank = categorical_bank([[0.5, 0.5]], [moves], [symbols])
    >>> (model,) = to_hmmlearn(bank)
    >>> model.emissionprob_
    array([[0.7, 0.3],
           [0.1, 0.9]])
    >>> bool((bank_from_hmmlearn([model]).emission == bank.emission).all())
    True
    """
    if isinstance(models, Fitted):
        return _convert_fitted(models)
    if isinstance(models, CategoricalBank):
        return [
            _categorical(*_chain(models, n), models.emission[..., n].T)
            for n in range(models.candidates)
        ]
    if isinstance(models, GaussianBank):
        return [
            _gaussian(
                *_chain(models, n), models.means[:, [n]], models.deviations[:, [n]] ** 2, "diag"
            )
            for n in range(models.candidates)
        ]
    raise TypeError(
        "models must be a CategoricalBank, a GaussianBank or a fitted model, got "
        f"{type(models).__name__}"
    )


def _convert_fitted(model: Fitted) -> Any:
    """Return a fitted model as one of hmmlearn."""
    chain, emission = (model.initial, model.transition), model.emission
    if isinstance(emission, Categorical):
        return _categorical(*chain, emission.probabilities)
    if isinstance(emission, Gaussian):
        means, variances = (moment[:, np.newaxis] for moment in emission.moments())
        return _gaussian(*chain, means, variances, "diag")
    if isinstance(emission, DiagonalGaussian):
        return _gaussian(*chain, *emission.moments(), "diag")
    if isinstance(emission, FullGaussian):
        return _gaussian(*chain, emission.means, emission.covariances, "full")
    raise ValueError(
        f"hmmlearn has no {emission.family} observations: normal and categorical models go back"
    )


def _chain(bank: HMMBank, n: int) -> tuple[Floats, Floats]:
    """Return the probabilities of the states of a candidate."""
    return bank.initial[:, n], bank.transition[..., n]


def _categorical(initial: Floats, transition: Floats, emission: Floats) -> Any:
    model = CategoricalHMM(n_components=len(initial), n_features=emission.shape[1])
    model.startprob_, model.transmat_ = initial.copy(), transition.copy()
    model.emissionprob_ = np.ascontiguousarray(emission)
    return model


def _gaussian(
    initial: Floats, transition: Floats, means: Floats, covariances: Floats, kind: str
) -> Any:
    model = GaussianHMM(n_components=len(initial), covariance_type=kind)
    model.startprob_, model.transmat_ = initial.copy(), transition.copy()
    model.n_features = means.shape[1]
    model.means_, model.covars_ = means.copy(), covariances.copy()
    return model
