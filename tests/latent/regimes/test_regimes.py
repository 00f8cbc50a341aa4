"""Regimes: causal, the same live as in one call, and right where the truth is known."""

import pickle
from typing import Any

import numpy as np
import pytest

from benchmarks.latent.scores import agreement
from normalhedge import NormalHedge
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._regimes import Regimes
from tests.latent.regimes.examples import textbook


def gappy(rounds: int, seed: int = 3) -> np.ndarray:
    seen = textbook(rounds, seed)[1]
    seen[np.random.default_rng(seed).random(rounds) < 0.1] = np.nan
    return seen


def columns(course: RegimePath) -> list[np.ndarray]:
    return [
        course.means,
        course.variances,
        course.log_scores,
        course.probabilities,
        course.switching,
    ]


@pytest.fixture(scope="module")
def followed() -> tuple[np.ndarray, Regimes, RegimePath]:
    truth, seen = textbook()
    regimes = Regimes()
    return truth, regimes, regimes.run(seen)


def test_the_textbook_case(followed: tuple[np.ndarray, Regimes, RegimePath]) -> None:
    truth, regimes, course = followed
    assert agreement(course.states[500:], truth[500:]) >= 0.93
    assert len(regimes.parameters()) == 2
    assert "2 regimes" in repr(regimes)
    assert "4,000 rounds" in repr(course)
    assert 0.9 < np.mean(course.certainty[500:]) <= 1.0


def test_regimes_keep_their_numbers(followed: tuple[np.ndarray, Regimes, RegimePath]) -> None:
    _, regimes, _ = followed
    later = [found for at, found in regimes.history if at >= 1000]
    assert len(later) > 40
    assert all(found[0].deviation < found[1].deviation for found in later)
    assert all(0.9 < found[0].stay < 1.0 for found in later)
    assert sum(regime.share for regime in later[-1].values()) == pytest.approx(1.0)


def test_nothing_depends_on_the_future() -> None:
    seen = gappy(700)
    other = seen.copy()
    other[430:] = 5.0 + 3.0 * other[430:]
    whole, changed = Regimes("gaussian").run(seen), Regimes("gaussian").run(other)
    for one, two in zip(columns(whole), columns(changed), strict=True):
        np.testing.assert_array_equal(one[:430], two[:430])
    assert not np.allclose(whole.means[450:], changed.means[450:])


@pytest.mark.parametrize(
    "emission", ["gaussian", "poisson", "autoregressive", "full", "categorical"]
)
def test_live_is_what_it_is_at_once(emission: str) -> None:
    seen = gappy(330)
    if emission == "poisson":
        seen = np.floor(np.abs(2.0 * seen))
    if emission == "full":
        seen = np.column_stack([seen, seen[::-1]])
    symbols = 3 if emission == "categorical" else None
    if symbols:
        seen = np.minimum(np.floor(np.abs(seen)), 2.0)
    course = Regimes(emission, symbols=symbols).run(seen)
    live = Regimes(emission, symbols=symbols)
    for t, y in enumerate(seen):
        before = live.predict()
        np.testing.assert_allclose(before.mean, course.means[t], rtol=1e-8)
        if np.isfinite(course.log_scores[t]):
            density = before.log_density(y)
            np.testing.assert_allclose(density, course.log_scores[t], rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(before.variance, course.variances[t], rtol=1e-7)
        live.observe(y)
        np.testing.assert_allclose(live.probabilities, course.probabilities[t], atol=1e-8)
        np.testing.assert_allclose(live.switching, course.switching[t], atol=1e-8)


def test_a_run_may_be_interrupted_and_pickled() -> None:
    seen = gappy(620)
    whole = Regimes().run(seen)
    regimes = Regimes()
    first = regimes.run(seen[:333])
    again = pickle.loads(pickle.dumps(regimes))
    for part, one in zip(columns(RegimePath.join([first, again.run(seen[333:])])), columns(whole),
                         strict=True):  # fmt: skip
        np.testing.assert_allclose(part, one, rtol=1e-8, atol=1e-10)


def test_missing_observations_leave_no_score_and_let_time_pass() -> None:
    regimes = Regimes()
    regimes.run(textbook(400)[1])
    weights = regimes.weights.copy()
    course = regimes.run(np.full(30, np.nan))
    assert np.isnan(course.log_scores).all()
    assert np.isfinite(course.means).all()
    np.testing.assert_array_equal(regimes.weights, weights)
    sure = course.certainty
    assert sure[-1] <= sure[0] + 1e-9


def test_the_budget_is_kept() -> None:
    regimes = Regimes(budget=7)
    regimes.run(textbook(1500)[1])
    weights = regimes.candidates()
    hidden = [weight for recipe, weight in weights.items() if recipe.states]
    assert 2 <= len(hidden) <= 7
    assert sum(weights.values()) == pytest.approx(1.0)
    assert sum(regimes.support().values()) == pytest.approx(sum(hidden))


def test_other_hedgers_weigh_too() -> None:
    truth, seen = textbook(1500)
    course = Regimes(hedger=NormalHedge(memory=100)).run(seen)
    assert agreement(course.states[600:], truth[600:]) > 0.9


def test_categories() -> None:
    rng = np.random.default_rng(0)
    truth = (np.arange(1200) // 100) % 2
    seen = (rng.random(1200) < np.where(truth, 0.95, 0.1)).astype(int)
    course = Regimes("categorical", symbols=2).run(seen)
    assert agreement(course.states[600:], truth[600:]) > 0.9
    with pytest.raises(ValueError, match="symbols below 2"):
        Regimes("categorical", symbols=2).run([0, 1, 2])


def test_a_calm_spell_does_not_make_the_wild_regime_forgotten() -> None:
    rng = np.random.default_rng(5)
    truth = np.concatenate([(np.arange(1000) // 50) % 2, np.zeros(400), (np.arange(200) // 50) % 2])
    seen = rng.normal(0.0, np.where(truth > 0, 2.5, 0.7))
    regimes = Regimes(states=(1, 2, 3))
    course = regimes.run(seen)
    calm, wild = (np.bincount(course.states[500:1000][truth[500:1000] == k]) for k in (0, 1))
    np.testing.assert_array_equal(course.states[1100:1400], calm.argmax())
    assert agreement(course.states[1400:], truth[1400:]) > 0.9
    assert calm.argmax() != wild.argmax()
    assert np.mean(course.states[1450:1500] == wild.argmax()) > 0.8  # by its old number


def test_a_scale_that_wanders_by_a_million_is_followed() -> None:
    rng = np.random.default_rng(0)
    scale = 10.0 ** np.linspace(0.0, 6.0, 3000)
    deviations = scale * np.where((np.arange(3000) // 75) % 2, 3.0, 1.0)
    seen = rng.normal(0.0, deviations)
    course = Regimes(states=(1, 2, 3), budget=15).run(seen)
    truth = -0.5 * (seen / deviations) ** 2 - np.log(deviations) - 0.5 * np.log(2.0 * np.pi)
    assert np.mean(truth[500:] - course.log_scores[500:]) < 0.5
    far = np.abs(seen - course.means) > 6.0 * np.sqrt(course.variances)  # its deviation lags
    assert far[500:].mean() < 0.01


def test_units_change_nothing() -> None:
    seen = textbook(500)[1]
    one, other = Regimes().run(seen), Regimes().run(1e6 * seen + 3e6)
    np.testing.assert_allclose(other.probabilities, one.probabilities, atol=1e-4)
    np.testing.assert_allclose(other.log_scores[4:] + np.log(1e6), one.log_scores[4:], atol=1e-3)


def test_counts_and_columns_find_their_regimes() -> None:
    rng = np.random.default_rng(2)
    truth = (np.arange(1200) // 80) % 2
    counts = rng.poisson(np.where(truth, 9.0, 2.0))
    pairs = rng.normal(size=(1200, 2)) * np.where(truth, 2.5, 0.7)[:, np.newaxis]
    for seen in (counts, pairs):
        regimes = Regimes(states=(1, 2, 3))
        course = regimes.run(seen)
        assert agreement(course.states[500:], truth[500:]) > 0.93
        assert len(regimes.parameters()) == 2


def test_the_kind_is_seen_from_the_first_observation() -> None:
    for first, kind in ((3, "poisson"), (3.0, "gaussian"), (-3, "gaussian"), ([1.0, 2], "full")):
        regimes = Regimes()
        regimes.observe(first)
        assert regimes.emission == kind


def test_a_constant_series_is_predicted() -> None:
    regimes = Regimes()
    course = regimes.run(np.full(300, 7.0))
    assert regimes.predict().mean == pytest.approx(7.0)
    assert len(regimes.parameters()) == 1
    assert np.isfinite(course.log_scores[4:]).all()


def test_five_values_and_none() -> None:
    regimes = Regimes()
    assert np.isnan(regimes.predict().mean)
    assert regimes.state == -1
    assert "no fit yet" in repr(regimes)
    course = regimes.run([1.0, 2.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(course.states, [-1, -1, -1, -1, 0])
    assert 1.0 < regimes.predict().mean < 3.0
    nothing = Regimes().run(np.full(200, np.nan))
    assert np.isnan(nothing.means).all()
    assert (nothing.states == -1).all()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (["a", "b"], TypeError, "real numbers"),
        ([1.0, np.inf], ValueError, "finite numbers"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), TypeError, "real numbers"),
        ([1.0, "x"], TypeError, "real numbers"),
        ([], ValueError, "T or T x d"),
        ([[[1.0]]], ValueError, "T or T x d"),
    ],
)
def test_bad_series_are_refused(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Regimes().run(given)


def test_bad_rounds_leave_everything_as_it_was() -> None:
    regimes = Regimes("poisson")
    regimes.run(np.arange(40) % 5)
    before = regimes.predict().mean
    for wrong in (-1.0, 0.5, np.inf):
        with pytest.raises(ValueError, match="counts"):
            regimes.observe(wrong)
    with pytest.raises(ValueError, match="shape"):
        regimes.observe([1, 2])
    assert regimes.predict().mean == before
    assert regimes.rounds == 40


def test_bad_settings_are_refused() -> None:
    for given, words in (
        ({"emission": "gamma"}, "emission must be one of"),
        ({"states": ()}, "at least one number"),
        ({"states": (0,)}, "at least 1"),
        ({"budget": 0}, "budget"),
        ({"worth": -1.0}, "worth"),
        ({"emission": "categorical", "symbols": 10**6}, "at most 1,000 symbols, got 1,000,000"),
    ):
        with pytest.raises(ValueError, match=words):
            Regimes(**given)
    with pytest.raises(TypeError, match="symbols"):
        Regimes("categorical")
    with pytest.raises(TypeError, match="join and leave"):
        Regimes(hedger=object())  # type: ignore[arg-type]


def test_a_long_gap_is_survived() -> None:
    seen = textbook(900)[1]
    seen[300:800] = np.nan
    course = Regimes(states=(1, 2)).run(seen)
    assert np.isfinite(course.means[4:]).all()
