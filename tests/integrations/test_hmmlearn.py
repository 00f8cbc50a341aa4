"""Models back to hmmlearn: the round trip, and the same likelihoods."""

import numpy as np
import pytest

from normalhedge.integrations import to_hmmlearn
from normalhedge.latent import (
    bank_from_hmmlearn,
    random_categorical_bank,
    random_gaussian_bank,
)
from normalhedge.latent.models._fitting import fit


def test_categorical_banks_come_back_to_the_bit() -> None:
    bank = random_categorical_bank(40, 3, 5, np.random.default_rng(0))
    models = to_hmmlearn(bank)
    back = bank_from_hmmlearn(models)
    assert type(back) is type(bank)
    for name in ("initial", "transition", "emission"):
        np.testing.assert_array_equal(getattr(back, name), getattr(bank, name))
    symbols = np.random.default_rng(1).integers(0, 5, 60)
    found = bank.run(symbols).state.log_likelihood
    theirs = [model.score(symbols.reshape(-1, 1)) for model in models]
    np.testing.assert_allclose(found, theirs)


def test_gaussian_banks_come_back_to_the_bit() -> None:
    bank = random_gaussian_bank(40, 3, 1.0, 2.0, np.random.default_rng(0))
    models = to_hmmlearn(bank)
    back = bank_from_hmmlearn(models)
    for name in ("initial", "transition", "means", "deviations"):
        np.testing.assert_array_equal(getattr(back, name), getattr(bank, name))
    numbers = np.random.default_rng(1).normal(1.0, 2.0, 60)
    found = bank.run(numbers).state.log_likelihood
    theirs = [model.score(numbers.reshape(-1, 1)) for model in models]
    np.testing.assert_allclose(found, theirs)


def test_changing_a_model_leaves_the_bank_alone() -> None:
    bank = random_gaussian_bank(1, 2, 0.0, 1.0, np.random.default_rng(0))
    before = bank.means.copy()
    (model,) = to_hmmlearn(bank)
    model.means_[:] = 7.0
    np.testing.assert_array_equal(bank.means, before)


def test_a_fitted_hmmlearn_model_survives() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(2)
    numbers = np.concatenate([rng.normal(0, 1, 100), rng.normal(5, 2, 100)]).reshape(-1, 1)
    model = hmm.GaussianHMM(n_components=2, random_state=0).fit(numbers)
    (back,) = to_hmmlearn(bank_from_hmmlearn([model]))
    assert back.score(numbers) == pytest.approx(model.score(numbers), rel=1e-12)
    np.testing.assert_array_equal(back.predict(numbers), model.predict(numbers))
    np.testing.assert_allclose(back.covars_, model.covars_, rtol=1e-15)  # a root, and its square
    np.testing.assert_array_equal(back.means_, model.means_)
    labels = (numbers > 2.5).astype(int)
    words = hmm.CategoricalHMM(n_components=2, random_state=0).fit(labels)
    (again,) = to_hmmlearn(bank_from_hmmlearn([words]))
    np.testing.assert_allclose(again.emissionprob_, words.emissionprob_, rtol=1e-15)
    assert again.score(labels) == pytest.approx(words.score(labels), rel=1e-12)


@pytest.mark.parametrize("family", ["gaussian", "categorical", "diagonal", "full"])
def test_fitted_models_have_the_same_likelihood(family: str) -> None:
    rng = np.random.default_rng(3)
    calm = np.repeat([0, 1, 0], 60)[:, np.newaxis]
    series = rng.normal(3.0 * calm, 1.0, (180, 2))
    if family == "gaussian":
        series = series[:, 0]
    elif family == "categorical":
        series = (series[:, 0] > 1.5).astype(float)
    model = fit(series, 2, family, rng=rng, starts=1)
    back = to_hmmlearn(model)
    rows = series.reshape(180, -1).astype(int if family == "categorical" else float)
    assert back.score(rows) == pytest.approx(float(model.smoothed(series)[2]), rel=1e-9)
    np.testing.assert_allclose(back.predict_proba(rows), model.smoothed(series)[0], atol=1e-8)


def test_what_hmmlearn_does_not_have() -> None:
    rng = np.random.default_rng(4)
    with pytest.raises(ValueError, match="hmmlearn has no student observations"):
        to_hmmlearn(fit(rng.normal(size=50), 2, "student", rng=rng, starts=1))
    with pytest.raises(TypeError, match="models must be a CategoricalBank, a GaussianBank or"):
        to_hmmlearn([1, 2])  # type: ignore[arg-type]
