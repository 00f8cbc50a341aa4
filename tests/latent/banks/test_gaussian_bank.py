"""Banks of models of real numbers: the filter against hmmlearn."""

import numpy as np
import pytest

from normalhedge.latent import bank_from_hmmlearn
from tests.latent.banks.examples import models, scored_as_by_hmmlearn


def test_gaussian_filtering_is_hmmlearn() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(4)
    made = []
    for start, moves, _ in zip(*models(5, 2, 2, seed=5), strict=True):
        model = hmm.GaussianHMM(n_components=2, covariance_type="diag")
        model.startprob_, model.transmat_ = start, moves
        model.means_, model.covars_ = rng.normal(size=(2, 1)), rng.uniform(0.5, 2.0, size=(2, 1))
        model.n_features = 1
        made.append(model)
    scored_as_by_hmmlearn(bank_from_hmmlearn(made), made, rng.normal(size=300))
