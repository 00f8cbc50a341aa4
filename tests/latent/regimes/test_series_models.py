"""Models without hidden states among the candidates."""

import math
from pathlib import Path

import numpy as np
import pytest

from normalhedge.boundary.inputs import Floats
from normalhedge.latent import Regimes
from normalhedge.latent.models.emissions import Gaussian
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._recipes import LearningRecipe, SeriesCandidate
from normalhedge.latent.regimes._series_models import SeriesRounds
from tests.latent.regimes.examples import bits

STEP, SPREAD = 0.3, 1.0


class Walk:
    """A random walk seen with noise: the Kalman filter of one number, with known variances."""

    kind, family = "wandering", "gaussian"

    def learn(self, seen: Floats, symbols: int | None) -> Floats:  # noqa: ARG002
        return self.run(np.array([seen[~np.isnan(seen[:, 0])][0, 0], 1.0]), seen)[0]

    def run(self, numbers: Floats, seen: Floats) -> tuple[Floats, SeriesRounds]:
        level, variance = numbers.tolist()
        rounds = []
        for y in seen[:, 0].tolist():
            ahead = variance + SPREAD
            log = 0.0
            mean = level
            if not math.isnan(y):
                log = -0.5 * ((y - level) ** 2 / ahead + math.log(2.0 * math.pi * ahead))
                gain = variance / ahead
                level, variance = level + gain * (y - level), (1.0 - gain) * variance
            variance += STEP
            rounds.append((log, mean, ahead))
        logs, means, variances = np.array(rounds).T
        after = np.array([level, variance])
        return after, SeriesRounds(logs, means[:, np.newaxis], variances[:, np.newaxis])

    def components(self, numbers: Floats, rounds: int = 1) -> tuple[Floats, Floats]:
        level, variance = numbers.tolist()
        return np.ones(1), np.array([[level], [variance + SPREAD + STEP * (rounds - 1)]])


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_series_models.MODELS, "walk", Walk())
    monkeypatch.setattr(_series_models, "TRIED", {"gaussian": ("walk",)})


def wander(rounds: int = 400) -> Floats:
    rng = np.random.default_rng(3)
    seen = np.cumsum(rng.normal(0.0, math.sqrt(STEP), rounds)) + rng.normal(size=rounds)
    seen[rng.random(rounds) < 0.05] = np.nan
    return seen


def test_the_mixture_learns_what_predicts_a_random_walk() -> None:
    regimes = Regimes()
    path = regimes.run(wander())
    assert regimes.candidates()[LearningRecipe("walk", 0)] > 0.9
    filtered = Walk().run(np.array([0.0, 1.0]), wander()[:, np.newaxis])[1].logs
    assert np.nansum(path.log_scores[100:]) > filtered[100:].sum() - 12.0
    assert str(LearningRecipe("walk", 0)) == "walk"
    assert sum(regimes.support().values()) < 0.1  # hidden Markov models only
    np.testing.assert_allclose(path.probabilities[8:].sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(regimes.forecast(3).probabilities.sum(axis=1), 1.0, rtol=1e-9)


def test_rounds_one_by_one_are_the_same_rounds() -> None:
    seen = wander(150)
    one, other = Regimes(), Regimes()
    one.run(seen)
    for y in seen:
        other.observe(y)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)
    np.testing.assert_allclose(one.predict().mean, other.predict().mean, rtol=1e-9)


def test_the_prediction_is_the_mixture_of_all_models() -> None:
    regimes = Regimes(states=1)
    regimes.run(wander(60))
    state = regimes._state
    assert state.bank is not None
    total = 0.0
    for weight, candidate in zip(state.weights, state.bank.candidates(state.filters), strict=True):
        if isinstance(candidate, SeriesCandidate):
            _, rows = Walk().components(candidate.numbers)
            total += weight * math.exp(Gaussian.from_core(rows).log_density([1.5])[0, 0])
        else:
            total += weight * math.exp(candidate.now().emission.log_density([1.5])[0, 0])
    assert regimes.predict().log_density(1.5) == pytest.approx(math.log(total), rel=1e-9)


def test_files_hold_the_numbers_of_models(tmp_path: Path) -> None:
    seen = wander(130)
    one = Regimes()
    one.run(seen[:117])
    one.save(tmp_path / "s.json")
    other = Regimes.load(tmp_path / "s.json")
    assert bits(one) == bits(other)
    for y in seen[117:]:
        one.observe(y)
        other.observe(y)
    assert bits(one) == bits(other)


def test_a_file_with_an_unknown_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Regimes()
    one.run(wander(60))
    one.save(tmp_path / "s.json")
    monkeypatch.delitem(_series_models.MODELS, "walk")
    with pytest.raises(ValueError, match="'walk' is missing"):
        Regimes.load(tmp_path / "s.json")


def test_variances_of_forecasts_grow_with_the_walk() -> None:
    regimes = Regimes()
    regimes.run(wander())
    ahead = regimes.forecast(10)
    assert ahead[9].variance - ahead[0].variance == pytest.approx(9 * STEP, rel=0.25)
