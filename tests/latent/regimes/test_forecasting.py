"""Forecasts of several rounds."""

from typing import Any

import numpy as np
import pytest

from normalhedge.latent import Regimes
from tests.latent.regimes.examples import series


def test_forecasts_go_to_the_long_run() -> None:
    regimes = Regimes("gaussian", (2,))
    regimes.run(series("gaussian", 410))
    ahead = regimes.forecast(600)
    assert len(ahead) == 600
    np.testing.assert_allclose(ahead.probabilities.sum(axis=1), 1.0)
    assert ahead.means[0] == pytest.approx(regimes.predict().mean)
    assert ahead.switching[0] == pytest.approx(regimes.switching)
    assert ahead.means[599] == pytest.approx(ahead.means[598], abs=1e-6)
    low, high = ahead.interval(0.8)[0]
    assert ahead[0].cdf(high) - ahead[0].cdf(low) == pytest.approx(0.8, abs=1e-6)
    assert "600 rounds" in repr(ahead)
    for wrong in (0, -1, 1.5, 10**6):
        with pytest.raises((ValueError, TypeError), match="rounds must be"):
            regimes.forecast(wrong)  # type: ignore[arg-type]


def test_forecasts_before_anything_is_known() -> None:
    ahead = Regimes().forecast(2)
    assert np.isnan(ahead.means).all()
    assert (ahead.states == -1).all()


def test_autoregressive_forecasts_agree_with_draws() -> None:
    regimes = Regimes("autoregressive", (2,))
    regimes.run(series("autoregressive", 200))
    state = regimes._state
    assert state.bank is not None
    candidates = state.bank.candidates(state.filters)
    ahead = regimes.forecast(4)
    rng, rounds = np.random.default_rng(0), 20_000
    drawn = np.zeros((4, rounds))
    beliefs = state.bank.predicted(state.filters)
    place = rng.choice(len(regimes.weights), rounds, p=regimes.weights)
    for n in np.unique(place):
        candidate, mine = candidates[n], np.flatnonzero(place == n)
        k = candidate.recipe.states
        chances = np.repeat(beliefs[n, None, :k], len(mine), axis=0)
        last = np.full(len(mine), regimes._state.previous[0])
        for step in range(4):
            steps = np.cumsum(chances, axis=1)
            state = np.minimum((rng.random((len(mine), 1)) >= steps).sum(axis=1), k - 1)
            emission: Any = candidate.now().emission
            noise = np.sqrt(emission.variances_after(last)[np.arange(len(mine)), state])
            last = emission.means_after(last)[np.arange(len(mine)), state] + noise * rng.normal(
                size=len(mine)
            )
            drawn[step, mine] = last
            chances = candidate.now().transition[state]
    deviations = np.sqrt([said.variance for said in ahead])
    np.testing.assert_allclose(ahead.means, drawn.mean(axis=1), atol=5 * deviations.max() / 141)
    np.testing.assert_allclose(deviations, drawn.std(axis=1), rtol=0.03)
