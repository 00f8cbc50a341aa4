"""Emissions of all families: densities, moments, order and bad parameters."""

from typing import Any

import numpy as np
import pytest

from normalhedge.latent.models._online_em import OnlineEM
from normalhedge.latent.models.emissions import (
    FAMILIES,
    Autoregressive,
    Categorical,
    FullGaussian,
    Gaussian,
    StudentT,
)
from tests.latent.models.examples import EXAMPLES, model, rng, scipy_logs, series


def test_there_is_an_example_of_each_family() -> None:
    assert list(EXAMPLES) == list(FAMILIES)
    assert all(type(EXAMPLES[name]) is family for name, family in FAMILIES.items())


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "autoregressive"])
def test_densities_are_those_of_scipy(name: str) -> None:
    seen, emission = series(name, 60), EXAMPLES[name]
    wanted = scipy_logs(name, emission, seen)
    np.testing.assert_allclose(emission.log_density(seen), wanted, rtol=1e-11, atol=1e-12)
    seen[5] = np.nan
    np.testing.assert_array_equal(emission.log_density(seen)[5], 0.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_moments_are_those_of_samples(name: str) -> None:
    emission = EXAMPLES[name]
    for s, (mean, variance) in enumerate(zip(*emission.moments(), strict=True)):
        drawn = emission.sample(np.full(20_000, s), rng(s))
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.15)
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.15)


@pytest.mark.parametrize("name", FAMILIES)
def test_states_can_be_put_in_order(name: str) -> None:
    emission, seen = EXAMPLES[name], series(name, 30)
    turned = emission.permuted([1, 0])
    np.testing.assert_allclose(
        turned.log_density(seen), emission.log_density(seen)[:, ::-1], rtol=1e-13
    )
    np.testing.assert_array_equal(turned.order(), emission.order()[::-1])
    again = type(emission).from_parameters(emission.parameters())
    np.testing.assert_allclose(again.log_density(seen), emission.log_density(seen), rtol=1e-12)


def test_equal_means_are_ordered_by_deviation() -> None:
    emission = Gaussian(np.array([1.0, 1.0, 0.0]), np.array([2.0, 1.0, 5.0]))
    assert emission.order().tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(np.zeros(2), np.zeros(2)), "deviations must be larger"),
        (lambda: Gaussian(np.zeros(2), np.ones(3)), "the same number of states"),
        (lambda: Gaussian(np.array([np.nan]), np.ones(1)), "finite"),
        (lambda: StudentT(np.zeros(1), np.ones(1), np.ones(1)), "degrees must be larger than 2"),
        (lambda: Autoregressive(np.zeros(1), np.ones(1), np.ones(1)), "slopes"),
        (lambda: Categorical(np.array([[0.5, 0.6]])), "summing to one"),
        (lambda: FullGaussian(np.zeros((1, 2)), np.ones((1, 2, 2)) * 2.0 - 3.0), "eigenvalues"),
        (lambda: FullGaussian(np.zeros((1, 2)), np.array([[[1, 0], [0.5, 1]]])), "symmetric"),
        (lambda: EXAMPLES["gaussian"].permuted([0, 0]), "each of the 2 states"),
        (lambda: EXAMPLES["categorical"].log_density([3.0]), "below 3"),
        (lambda: EXAMPLES["gaussian"].sample([2], rng()), "below 2"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 1.0), "forgetting"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 0.9, beliefs=[1.0]), "beliefs"),
        (lambda: OnlineEM(model(EXAMPLES["poisson"]), 0.9).observe(-1.0), "counts"),
        (lambda: OnlineEM(model(EXAMPLES["gaussian"]), 0.9).observe(np.inf), "finite"),
    ],
)
def test_bad_emissions_get_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()
