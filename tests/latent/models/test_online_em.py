"""Online EM: the same in one call and round by round, and it follows drift."""

import numpy as np
import pytest

from normalhedge import _core
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._fitting import fit
from normalhedge.latent.models._online_em import OnlineEM
from normalhedge.latent.models.emissions import FAMILIES, Gaussian
from tests.latent.models.examples import EXAMPLES, STICKY, model, rng, series


@pytest.mark.parametrize("name", FAMILIES)
def test_online_is_the_same_at_once_and_one_by_one(name: str) -> None:
    seen = series(name, 60)
    seen[[7, 8]] = np.nan
    start = model(EXAMPLES[name])
    at_once, one_by_one = OnlineEM(start, 0.95), OnlineEM(start, 0.95)
    went = at_once.run(seen)
    for t, y in enumerate(seen):
        np.testing.assert_allclose(one_by_one.beliefs, went.beliefs[t], rtol=1e-12)
        means = went.emissions.moments()[0].reshape(len(seen), 2, -1)[t]
        np.testing.assert_allclose(
            one_by_one.emission.moments()[0].reshape(2, -1), means, rtol=1e-9
        )
        given = y if y.ndim else float(y)
        assert one_by_one.observe(given) == pytest.approx(went.log_densities[t], abs=1e-9)
    assert went.log_densities[7] == 0.0


@pytest.mark.parametrize("name", FAMILIES)
def test_online_stays_where_the_truth_is(name: str) -> None:
    online = OnlineEM(model(EXAMPLES[name]), 0.999)
    seen = series(name, 8_000, seed=4)
    went = online.run(seen)
    truth = EXAMPLES[name].moments()
    for mine, other in zip(online.emission.moments(), truth, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.4, atol=0.25)
    best = model(EXAMPLES[name]).filtered(seen)[1].mean()
    assert went.log_densities.mean() > best - 0.02


def test_the_first_step_online_is_the_expectation_step() -> None:
    """With statistics of no weight before, S is what forward and backward over T rounds say."""
    truth = model(EXAMPLES["gaussian"])
    seen, rate = series("gaussian", 8), 1e-7
    online = OnlineEM(truth, 1.0 - rate, pseudo_count=0.0, beliefs=[0.5, 0.5])
    before = online.transition
    online.run(seen)
    change = (online.transition - before) / rate  # of A = S_ij / S_i, to first order in the rate
    logs = np.vstack([np.zeros(2), truth.emission.log_density(seen)])
    smoothed, moves = np.empty((9, 2)), np.empty((2, 2))
    _core.em_expect(logs, np.array([0.5, 0.5]), STICKY.copy(), smoothed, moves)
    shares = truth.stationary()
    wanted = (moves - moves.sum(axis=1, keepdims=True) * STICKY) / shares[:, np.newaxis]
    np.testing.assert_allclose(change, wanted, rtol=1e-4, atol=1e-4)


def test_online_follows_a_mean_that_drifts() -> None:
    draw = rng(8)
    path, _ = model(EXAMPLES["gaussian"]).sample(6_000, draw)
    drift = np.linspace(0.0, 12.0, len(path))
    seen = EXAMPLES["gaussian"].sample(path, draw) + drift
    start = fit(seen[:300], 2, rng=rng())
    online = OnlineEM(start, 0.99)
    went = online.run(seen[300:])
    means = online.emission.moments()[0]
    np.testing.assert_allclose(means, [11.0, 14.0], atol=0.6)
    fixed = start.filtered(seen[300:])[1]
    assert went.log_densities.mean() > fixed.mean() + 1.0


def test_online_survives_a_jump_a_gap_and_a_constant() -> None:
    online = OnlineEM(model(EXAMPLES["gaussian"]), 0.9)
    seen = np.concatenate([np.full(50, np.nan), np.full(300, 1e9), np.full(50, -5.0)])
    went = online.run(seen)
    assert np.isfinite(went.log_densities).all()
    assert np.isfinite(online.emission.moments()).all()
    np.testing.assert_allclose(online.transition.sum(axis=1), 1.0)


def test_states_drift_together() -> None:
    rate, drift, y = 0.01, 0.1, 1.5
    start = Fitted(
        np.full(2, 0.5),
        np.full((2, 2), 0.5),
        Gaussian(np.array([0.0, 100.0]), np.array([1.0, 2.0])),
    )
    online = OnlineEM(start, 1.0 - rate, drift=drift, floor=1e-9)
    online.observe(y)
    learned, variances = online.emission.moments()
    factor = np.exp(drift * 0.5 * (y**2 - 1.0))
    means = factor * np.array([0.0, 100.0]) + drift * y  # the first state is certain
    assert learned[1] == pytest.approx(means[1])
    deviations = factor * np.array([1.0, 2.0])
    assert np.sqrt(variances[1]) == pytest.approx(deviations[1])
    # the state that is visited learns the observation, too, with its new share of the rounds
    share = rate / ((1.0 - rate) * 0.5 + rate)
    assert learned[0] == pytest.approx(means[0] + share * (y - means[0]))
    still = OnlineEM(start, 1.0 - rate, floor=1e-9)
    still.observe(y)
    assert still.emission.moments()[0][1] == pytest.approx(100.0)


def test_counts_do_not_drift() -> None:
    with pytest.raises(ValueError, match="drift is for gaussian emissions, got poisson"):
        OnlineEM(model(EXAMPLES["poisson"]), 0.9, drift=0.1)
