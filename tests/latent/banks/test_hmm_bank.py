"""Banks: filtering, gaps, impossible observations, copies, draws and bad input."""

import math

import numpy as np
import pytest

from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    Persistence,
    StateExperts,
    bank_from_hmmlearn,
    categorical_bank,
    gaussian_bank,
    random_categorical_bank,
)
from tests.latent.banks.examples import GOOD, bank_of


def test_beliefs_stay_probabilities_for_long() -> None:
    sharp = [[[1 - 1e-12, 1e-12], [1e-12, 1 - 1e-12]]]
    bank = categorical_bank([[0.5, 0.5]], sharp, sharp)
    state = bank.init()
    for x in np.random.default_rng(6).integers(2, size=20_000).tolist():
        state = bank.observe(state, x)
        assert state.beliefs.min() >= 0.0
    np.testing.assert_allclose(state.beliefs.sum(axis=0), 1.0, rtol=1e-12)


def test_what_is_missing_or_impossible_lets_time_pass() -> None:
    bank = categorical_bank(
        [[0.9, 0.1], [0.5, 0.5]],
        [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]],
        [[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], [[0.4, 0.6, 0.0], [0.7, 0.3, 0.0]]],
    )
    start = bank.init()
    passed = np.einsum("sn,stn->tn", start.beliefs, bank.transition)
    for nothing in (None, math.nan):
        state = bank.observe(start, nothing)
        np.testing.assert_allclose(state.beliefs, passed)
        assert state.impossible == 0
        assert state.log_likelihood.tolist() == [0.0, 0.0]
    state = bank.observe(start, 2)  # impossible under every candidate
    np.testing.assert_allclose(state.beliefs, passed)
    assert state.impossible == 1
    sure = categorical_bank([[1.0]] * 2, [[[1.0]]] * 2, [[[1.0, 0.0]], [[0.5, 0.5]]])
    state = sure.observe(sure.init(), 1)  # impossible under one
    assert state.impossible == 0
    assert state.log_likelihood[0] < -600
    assert np.isfinite(state.log_likelihood).all()


def test_banks_are_drawn_perturbed_taken_and_joined() -> None:
    rng = np.random.default_rng(8)
    bank = random_categorical_bank(50, 3, 4, rng)
    assert (bank.candidates, bank.states, bank.symbol_count) == (50, 3, 4)
    few = bank.take([3, 3, 7])
    near = few.perturbed([0, 1, 2], 0.1, rng)
    np.testing.assert_allclose(near.emission.sum(axis=0), 1.0)
    np.testing.assert_allclose(near.transition.sum(axis=1), 1.0)
    assert np.abs(near.emission - bank.emission[:, :, [3, 3, 7]]).max() < 0.3
    both = few.joined(near)
    assert both.candidates == 6
    assert (both.transition[..., :3] == few.transition).all()
    normal = gaussian_bank([[0.5, 0.5]], [[[0.9, 0.1], [0.1, 0.9]]], [[0.0, 1.0]], [[1.0, 2.0]])
    moved = normal.perturbed([0, 0], 0.5, rng)
    assert moved.candidates == 2
    with pytest.raises(ValueError, match="same states and symbols"):
        bank.joined(random_categorical_bank(2, 2, 4, rng))


def test_bad_observations_are_a_sentence() -> None:
    bank = categorical_bank(**GOOD)
    for wrong, word in (
        (2, r"symbol in 0\.\.1, got 2"),
        (-1, "symbol in 0"),
        (0.5, "a whole number, got 0.5"),
        (math.inf, "a whole number"),
        ("a", "must be real numbers"),
        ([1], "must be one number"),
    ):
        with pytest.raises((ValueError, TypeError), match=word):
            bank.observe(bank.init(), wrong)  # type: ignore[arg-type]
    normal = gaussian_bank([[1.0]], [[[1.0]]], [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="must be finite"):
        normal.observe(normal.init(), math.inf)
    assert not hasattr(normal, "symbols")
    with pytest.raises(ValueError, match="deviations must be larger than zero"):
        gaussian_bank([[1.0]], [[[1.0]]], [[0.0]], [[0.0]])
    with pytest.raises(ValueError, match="rounded needs a bank over symbols"):
        StateExperts(normal, rounded=True)
    with pytest.raises(ValueError, match="at least one"):
        bank_from_hmmlearn([])


def test_a_run_of_a_bank_is_its_rounds() -> None:
    bank = random_categorical_bank(300, 3, 2, np.random.default_rng(16))  # more than a block
    symbols = [0.0, 1.0, math.nan, 1.0, 1.0]
    went = bank.run(np.array([0, 1, None, 1, 1]), keep=0.8)
    state = bank.init()
    for t, x in enumerate(symbols):
        np.testing.assert_allclose(went.beliefs[t], state.beliefs, rtol=1e-14)
        np.testing.assert_allclose(went.log_likelihood[t], state.log_likelihood, rtol=1e-14)
        expected = bank.bounded(x)
        if expected is None:
            assert np.isnan(went.scores[t]).all()
        else:
            assert (went.scores[t] == expected).all()
        state = bank.observe(state, x, 0.8)
    np.testing.assert_allclose(went.state.beliefs, state.beliefs, rtol=1e-14)
    assert went.state.rounds == 5
    again = bank.run(symbols[3:], bank.run(symbols[:3], keep=0.8).state, 0.8)
    np.testing.assert_allclose(again.state.beliefs, state.beliefs, rtol=1e-14)
    for wrong, word in (
        ([0, 2], r"symbol in 0\.\.1, got 2"),
        ([0.5], "a whole number"),
        (["a"], "must be real numbers"),
        ([[0]], "one row of numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=word):
            bank.run(wrong)


def test_what_a_bank_draws_is_as_it_says() -> None:
    rng = np.random.default_rng(18)
    bank = random_categorical_bank(3, 2, 3, rng)
    states, symbols = bank.sample(20_000, rng, candidate=1)
    for s in range(2):
        shares = np.bincount(symbols[states == s].astype(int), minlength=3) / (states == s).sum()
        np.testing.assert_allclose(shares, bank.emission[:, s, 1], atol=0.03)
        stayed = (states[1:] == s)[states[:-1] == s].mean()
        assert stayed == pytest.approx(bank.transition[s, s, 1], abs=0.03)
    real = gaussian_bank([[0.0, 1.0]], [[[0.5, 0.5], [0.5, 0.5]]], [[0.0, 9.0]], [[1.0, 2.0]])
    states, numbers = real.sample(20_000, rng)
    assert states[0] == 1
    assert numbers[states == 1].mean() == pytest.approx(9.0, abs=0.1)
    assert numbers[states == 1].std() == pytest.approx(2.0, abs=0.1)


def test_scores_and_candidates_are_checked() -> None:
    bank = bank_of((0.9, 0.9, 0.1), (0.5, 0.5, 0.5))
    for predictor in (BayesAverage(bank, rounded=True), Persistence(2), StateExperts(bank)):
        assert math.isnan(predictor.score(math.nan))
        for wrong in (-1, 2, 0.5):
            with pytest.raises(ValueError, match="symbol"):
                predictor.score(wrong)
    for which in ([1.7], [], [[0]]):
        with pytest.raises(TypeError, match="candidates must be whole numbers"):
            bank.take(which)
    with pytest.raises(ValueError, match=r"candidates must be in 0\.\.1"):
        bank.take([2])
    with pytest.raises(ValueError, match="spread must be"):
        bank.perturbed([0], 1000.0, np.random.default_rng(0))
    one, other = (gaussian_bank([[1.0]], [[[1.0]]], [[0.0]], [[d]]) for d in (1.0, 2.0))
    with pytest.raises(ValueError, match="same width"):
        one.joined(other)


def test_beliefs_never_exceed_one() -> None:
    third = 1.0 / 3.0
    rows = np.array([[third, third, 1.0 - 2.0 * third]] * 3)
    bank = categorical_bank([rows[0]] * 50, [rows] * 50, [[[0.1, 0.9]] * 3] * 50)
    state = bank.init()
    for x in np.random.default_rng(4).integers(2, size=200).tolist():
        state = bank.observe(state, x)
        assert state.beliefs.max() <= 1.0
    one = random_categorical_bank(30, 1, 2, np.random.default_rng(5))
    assert (one.run([0, 1, 1, 0] * 20).beliefs <= 1.0).all()


def test_arrays_that_lie_otherwise_are_read_too() -> None:
    bank = random_categorical_bank(6, 3, 2, np.random.default_rng(6))
    there = CategoricalBank(
        np.asfortranarray(bank.initial),
        np.asfortranarray(bank.transition),
        np.asfortranarray(bank.emission),
    )
    state = bank.observe(bank.init(), 1)
    other = there.observe(there.init(), 1)
    assert (state.beliefs == other.beliefs).all()
    turned = other._replace(beliefs=np.asfortranarray(other.beliefs))
    assert (there.observe(turned, 0).beliefs == bank.observe(state, 0).beliefs).all()
    scores = bank.scores(0)
    assert scores is not None
    learned = bank.learn(state, np.asfortranarray(scores))
    assert (learned.beliefs == bank.observe(state, 0).beliefs).all()
    with pytest.raises(ValueError, match="must be of one size"):
        bank.learn(state, scores[:, :2])
