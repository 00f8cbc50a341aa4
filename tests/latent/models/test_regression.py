"""Regressions within the states, given covariates."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge.latent.models import Fitted, fit, fit_moving
from normalhedge.latent.models.emissions import Regression, check_observations, join_given

TRUTH = Regression(np.array([1.0, -2.0]), np.array([[2.0, 0.0], [-1.0, 0.5]]), np.array([0.5, 1.0]))


def drawn(rounds: int = 800, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return states, covariates of very different sizes, and observations."""
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rounds) < 0.02) % 2
    x = rng.normal(size=(rounds, 2))
    noise = TRUTH.deviations[state] * rng.normal(size=rounds)
    return state, x, TRUTH.means_given(x)[np.arange(rounds), state] + noise


def test_density_is_the_formula() -> None:
    _, x, y = drawn(30)
    table = join_given(y, x)
    away = y[:, np.newaxis] - (TRUTH.intercepts + x @ TRUTH.slopes.T)
    expected = -0.5 * (away / TRUTH.deviations) ** 2 - np.log(TRUTH.deviations)
    expected -= 0.5 * math.log(2.0 * math.pi)
    np.testing.assert_allclose(TRUTH.log_density(table), expected, rtol=1e-12)
    table[4, 2] = np.nan
    np.testing.assert_array_equal(TRUTH.log_density(table)[4], 0.0)
    again = Regression.from_parameters(TRUTH.parameters())
    np.testing.assert_array_equal(again.slopes, TRUTH.slopes)


def test_other_units_are_the_same_model() -> None:
    _, x, y = drawn(20)
    centre, width = np.array([3.0, -1.0, 50.0]), np.array([2.0, 0.1, 9.0])
    table = join_given(y, x)
    moved = TRUTH.rescaled(centre, width)
    np.testing.assert_allclose(
        moved.log_density(centre + width * table), TRUTH.log_density(table) - math.log(2.0)
    )


@pytest.mark.parametrize("gaps", [False, True])
def test_one_state_is_least_squares(gaps: bool) -> None:
    _, x, y = drawn(200)
    if gaps:
        y[::7], x[3::11, 1] = np.nan, np.nan
    found = fit(y, 1, rng=np.random.default_rng(0), given=1e3 * x + 1e6)
    known = ~np.isnan(join_given(y, x)).any(axis=1)
    design = np.column_stack([np.ones(known.sum()), 1e3 * x[known] + 1e6])
    wanted, rest = np.linalg.lstsq(design, y[known])[:2]
    assert isinstance(found.emission, Regression)
    np.testing.assert_allclose(found.emission.slopes[0], wanted[1:], rtol=1e-6)
    np.testing.assert_allclose(found.emission.deviations[0] ** 2, rest[0] / known.sum(), rtol=1e-6)


def test_each_state_is_weighted_least_squares_where_em_ends() -> None:
    _, x, y = drawn()
    found = fit(y, 2, rng=np.random.default_rng(0), given=x, iterations=500, tolerance=1e-12,
                pseudo_count=0.0)  # fmt: skip
    assert np.diff(found.trace).min() > -1e-9
    shares = found.smoothed(y, given=x)[0]
    design = np.column_stack([np.ones(len(y)), x])
    assert isinstance(found.emission, Regression)
    for s in range(2):
        weights = shares[:, s]
        wanted = np.linalg.solve((design.T * weights) @ design, (design.T * weights) @ y)
        mine = np.r_[found.emission.intercepts[s], found.emission.slopes[s]]
        np.testing.assert_allclose(mine, wanted, atol=1e-4)
        away = weights @ np.square(y - design @ wanted) / weights.sum()
        assert found.emission.deviations[s] ** 2 == pytest.approx(away, rel=1e-4)
    assert found.log_likelihood == pytest.approx(found.filtered(y, given=x)[1].sum())


def test_regimes_of_slopes_are_found() -> None:
    state, x, y = drawn()
    found = fit(y, 2, rng=np.random.default_rng(0), given=x)
    assert isinstance(found.emission, Regression)
    order = np.argsort(-found.emission.intercepts)
    np.testing.assert_allclose(found.emission.slopes[order], TRUTH.slopes, atol=0.15)
    states = np.argsort(order)[found.smoothed(y, given=x)[0].argmax(axis=1)]
    assert (states == state).mean() > 0.97
    without = fit(y, 2, rng=np.random.default_rng(0))
    assert found.log_likelihood > without.log_likelihood + 200.0
    table = check_observations(Regression, join_given(y, x), None)
    moving = fit_moving(table, found, memory=100)
    assert (np.argsort(order)[moving.path()] == state).mean() > 0.97


def test_a_covariate_that_does_not_vary_has_no_slope() -> None:
    _, x, y = drawn(300)
    x[:, 1] = 4.0
    twice = np.column_stack([x, x[:, 0]])
    found = fit(y, 2, rng=np.random.default_rng(0), given=twice)
    assert isinstance(found.emission, Regression)
    assert np.isfinite(found.emission.slopes).all()
    np.testing.assert_array_equal(found.emission.slopes[:, 1:], 0.0)


def test_bad_covariates_get_a_sentence() -> None:
    _, x, y = drawn(60)
    rng: Any = np.random.default_rng(0)
    found = fit(y, 1, rng=rng, given=x)
    plain = fit(y, 1, rng=rng)
    for act, error, words in (
        (lambda: fit(y, 2, rng=rng, given=x[:-1]), ValueError,
         r"given must have a row of covariates for each of 60 rounds, got shape \(59, 2\)"),
        (lambda: fit(y, 2, rng=rng, given=np.empty((60, 0))), ValueError, "given must have a row"),
        (lambda: fit(y, 2, rng=rng, given=x[..., None]), ValueError, "given must have a row"),
        (lambda: fit(y, 2, rng=rng, given=["a"] * 60), TypeError, "given must be real numbers"),
        (lambda: fit(y, 2, rng=rng, given=np.inf * x), ValueError, "given must be finite"),
        (lambda: fit(y, 2, rng=rng, given=np.nan * x), ValueError, "with all its covariates"),
        (lambda: fit(y, 2, "student", rng=rng, given=x), ValueError, "given is for emission='gau"),
        (lambda: fit(x, 2, rng=rng, given=x), ValueError, "observations must have shape T"),
        (lambda: found.smoothed(y), ValueError, "needs given, the covariates"),
        (lambda: plain.filtered(y, given=x), ValueError, "has no place for given"),
        (lambda: found.smoothed(y, given=x[:, :1]), ValueError, "observations must have shape"),
        (lambda: found.sample(3, rng), ValueError, "cannot be sampled without covariates"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            act()
    assert isinstance(found, Fitted)
