"""Fits by EM: monotone, right, as good as the fits of other libraries."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._fitting import fit
from normalhedge.latent.models.emissions import (
    FAMILIES,
    Gaussian,
    StudentT,
)
from tests.latent.models.examples import EXAMPLES, model, rng, series


@pytest.mark.parametrize("pseudo_count", [0.0, 0.1])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_maximised_never_decreases(
    name: str, k: int, gaps: bool, pseudo_count: float
) -> None:
    seen = series(name, 150, seed=k)
    if gaps:
        seen[rng(1).random(len(seen)) < 0.2] = np.nan
    for seed in range(3):
        settings: dict[str, Any] = {"iterations": 40, "tolerance": 0.0, "starts": seed + 1}
        found = fit(seen, k, name, rng=rng(seed), pseudo_count=pseudo_count, **settings)
        assert np.diff(found.trace).min(initial=0.0) > -1e-7
        assert found.log_likelihood == pytest.approx(found.smoothed(seen)[2], abs=1e-6)
        assert len(found.trace) == found.iterations + 1
        assert found.emission.order().tolist() == list(range(k))


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_are_found(name: str) -> None:
    truth = EXAMPLES[name].permuted(EXAMPLES[name].order())
    seen = series(name, 6_000, seed=3)
    found = fit(seen, 2, name, rng=rng(), iterations=200)
    assert found.log_likelihood > model(EXAMPLES[name]).smoothed(seen)[2]
    for mine, other in zip(found.emission.moments(), truth.moments(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.25, atol=0.1)
    stays = np.sort(np.diagonal(found.transition))
    np.testing.assert_allclose(stays, [0.9, 0.95], atol=0.02)


def test_degrees_of_freedom_are_found() -> None:
    seen = series("student", 8_000, seed=5)
    found = fit(seen, 2, "student", rng=rng(), iterations=300).emission
    assert isinstance(found, StudentT)
    assert 3.0 < found.degrees[0] < 5.0
    assert 6.0 < found.degrees[1] < 14.0
    fixed = fit(seen, 2, "student", rng=rng(), degrees=4.0).emission
    assert isinstance(fixed, StudentT)
    np.testing.assert_array_equal(fixed.degrees, 4.0)


def test_normal_numbers_have_many_degrees_of_freedom() -> None:
    found = fit(rng().normal(size=2_000), 1, "student", rng=rng(), iterations=300).emission
    assert isinstance(found, StudentT)
    assert found.degrees[0] > 25.0


def hmmlearn_fit(name: str, start: Fitted, seen: np.ndarray, iterations: int) -> float:
    """Return the log likelihood that hmmlearn arrives at from the same start."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    common: dict[str, Any] = {
        "n_components": start.states,
        "init_params": "",
        "n_iter": iterations,
        "tol": -math.inf,
    }
    emission: Any = start.emission
    if name in {"gaussian", "diagonal", "full"}:
        kind = "full" if name == "full" else "diag"
        theirs = hmm.GaussianHMM(covariance_type=kind, covars_prior=0.0, **common)
        theirs.means_ = emission.means.reshape(start.states, -1)
        theirs.covars_ = (
            emission.covariances
            if name == "full"
            else emission.deviations.reshape(start.states, -1) ** 2
        )
    elif name == "poisson":
        theirs = hmm.PoissonHMM(**common)
        theirs.lambdas_ = emission.rates[:, np.newaxis]
    else:
        theirs = hmm.CategoricalHMM(n_features=emission.symbols, **common)
        theirs.emissionprob_ = emission.probabilities
    theirs.startprob_, theirs.transmat_ = start.initial, start.transition
    table = seen.reshape(len(seen), -1)
    table = table if name in {"gaussian", "diagonal", "full"} else table.astype(int)
    theirs.fit(table)
    return float(theirs.score(table))


@pytest.mark.parametrize("iterations", [1, 400])
@pytest.mark.parametrize("name", ["gaussian", "diagonal", "full", "poisson", "categorical"])
def test_the_optimum_is_that_of_hmmlearn(name: str, iterations: int) -> None:
    seen = series(name, 500, seed=7)
    start = model(EXAMPLES[name], np.array([[0.6, 0.4], [0.4, 0.6]]))
    ours = fit(
        seen,
        2,
        name,
        rng=rng(),
        starts=0,
        warm=start,
        iterations=iterations,
        tolerance=0.0 if iterations == 1 else 1e-12,
        pseudo_count=0.0,
        floor=1e-12,
    )
    theirs = hmmlearn_fit(name, start, seen, iterations)
    assert ours.log_likelihood == pytest.approx(theirs, abs=1e-6)


def test_an_autoregression_is_that_of_statsmodels() -> None:
    switching = pytest.importorskip("statsmodels.tsa.regime_switching.markov_regression")
    seen = series("autoregressive", 600, seed=2)
    found = fit(
        seen, 2, "autoregressive", rng=rng(), pseudo_count=0.0, iterations=2_000, tolerance=1e-10
    )
    emission: Any = found.emission
    theirs = switching.MarkovRegression(
        seen[1:], 2, exog=seen[:-1], switching_variance=True, switching_exog=True
    )
    # They let time pass twice before their first observation, which is our second.
    known = np.array([0.3, 0.7])
    theirs.initialize_known(known)
    ours = replace(found, initial=known @ found.transition)
    rows = [emission.intercepts, emission.slopes, emission.deviations**2]
    given = np.concatenate([found.transition[:, 0], *rows])
    assert theirs.loglike(given) == pytest.approx(ours.smoothed(seen)[2], abs=1e-8)


@pytest.mark.parametrize("name", [name for name, kind in FAMILIES.items() if kind.scaled])
def test_units_do_not_matter(name: str) -> None:
    seen = series(name, 300)
    plain = fit(seen, 2, name, rng=rng())
    for centre, width in ((1e6, 1.0), (0.0, 1e-60), (-3e90, 1e85)):
        there = fit(centre + width * seen, 2, name, rng=rng())
        means, variances = plain.emission.moments()
        np.testing.assert_allclose(there.emission.moments()[0], centre + width * means, rtol=1e-4)
        np.testing.assert_allclose(there.emission.moments()[1], width**2 * variances, rtol=1e-3)


def test_a_warm_start_is_taken() -> None:
    seen = series("gaussian", 500)
    found = fit(seen, 2, rng=rng(), tolerance=1e-8, iterations=500)
    again = fit(seen, 2, rng=rng(), starts=0, warm=found)
    assert again.iterations <= 2
    assert again.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-4)


def test_missing_values_teach_nothing() -> None:
    seen = series("gaussian", 300)
    gapped = np.insert(seen, [50, 50, 200], np.nan)
    around = np.concatenate([[np.nan] * 3, seen, [np.nan] * 5])
    plain = fit(seen, 1, rng=rng())
    for other in (gapped, around):
        found = fit(other, 1, rng=rng())
        assert found.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-9)
    table = series("full", 100)
    table[3, 0] = np.nan
    assert (EXAMPLES["full"].log_density(table)[3] == 0.0).all()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(
    "seen",
    [[1.0], [0.0], [3.0] * 50, [0.0] * 40, [1.0, 2.0], [0.0, 1.0] * 20, [np.nan, 1.0, np.nan]],
    ids=str,
)
def test_small_and_dull_series_give_a_model(name: str, k: int, seen: list[float]) -> None:
    values = np.array(seen)
    if name in {"diagonal", "full"}:
        values = np.column_stack([values, values])
    found = fit(values, k, name, rng=rng(), starts=6, iterations=20)
    for part in (found.initial, found.transition, *found.emission.moments()):
        assert np.isfinite(part).all()
    assert np.isfinite(found.log_likelihood)
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0)


def test_no_state_collapses_on_one_observation() -> None:
    seen = np.append(rng().normal(size=100), 50.0)
    found = fit(seen, 3, rng=rng(), starts=10).emission
    assert isinstance(found, Gaussian)
    assert found.deviations.min() >= 0.999e-2 * seen.std()


@pytest.mark.parametrize(
    ("values", "settings", "words"),
    [
        ([1.0, np.inf], {}, "finite numbers"),
        ([1e200], {}, "within"),
        ([np.nan, np.nan], {}, "not missing"),
        ([], {}, "not missing"),
        ([[1.0, 2.0]], {}, "shape T"),
        (["a"], {}, "real numbers"),
        ([1.0], {"states": 0}, "states must be at least 1"),
        ([1.0], {"starts": 0}, "starts must be at least 1"),
        ([1.0], {"iterations": 0}, "iterations must be at least 1"),
        ([1.0], {"tolerance": -1.0}, "tolerance must be"),
        ([1.0], {"emission": "cauchy"}, "emission must be one of"),
        ([1.0], {"degrees": 3.0}, "degrees are for"),
        ([1.0], {"emission": "student", "degrees": 2.0}, "degrees must be"),
        ([1.0], {"pseudo_count": -1.0}, "pseudo_count must be"),
        ([1.0], {"floor": 0.0}, "floor must be"),
        ([1.0], {"symbols": 3}, "symbols are for"),
        ([-1.0], {"emission": "poisson"}, "counts"),
        ([0.5], {"emission": "negative_binomial"}, "counts"),
        ([0.5], {"emission": "categorical"}, "symbols"),
        ([3.0], {"emission": "categorical", "symbols": 3}, "symbols below 3"),
        ([1.0], {"warm": model(EXAMPLES["poisson"])}, "warm must be a Gaussian model"),
    ],
)
def test_bad_input_gets_a_sentence(values: Any, settings: dict[str, Any], words: str) -> None:
    given = {"states": 2, **settings}
    with pytest.raises((ValueError, TypeError), match=words):
        fit(values, rng=rng(), **given)
