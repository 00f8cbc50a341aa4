"""Predictors that hedge over candidates or states, with any hedger."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.boundary import specs
from normalhedge.hedgers import HEDGERS, Hedge, Hedger
from normalhedge.latent import (
    BayesAverage,
    LearningBank,
    ModelExperts,
    StateExperts,
    categorical_bank,
    follow,
)
from tests.latent.banks.examples import (
    bank_and_sequence,
    bank_of,
    gaps,
    losses,
    models,
    sequence,
)
from tests.test_own_hedgers import Own


def test_regrets_of_states_add_up_to_the_regret_of_the_candidate() -> None:
    bank = categorical_bank(*models(3, 2, 3))
    hedger = NormalHedge(alpha=0.1, c=2.0)
    predictor = StateExperts(bank, hedger)
    state, expected = bank.init(), np.zeros(3)
    for x in np.random.default_rng(7).integers(3, size=60).tolist():
        gain = 2.0 * predictor.predict()[x] - 1.0
        own = 2.0 * bank.symbols(state)[x] - 1.0
        expected = 0.9 * expected + own - gain
        predictor.observe(x)
        state = bank.observe(state, x)
        found = predictor.game.regrets.reshape(2, 3).sum(axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", [StateExperts, ModelExperts])
@pytest.mark.parametrize("rounded", [False, True])
def test_any_hedger_and_rounding(kind: Any, rounded: bool) -> None:
    bank = bank_of((0.98, 0.9, 0.1), (0.5, 0.5, 0.5))
    symbols = sequence(600, 0.98, 0.9, 0.1)
    for hedger in (NormalHedge(alpha=0.02, c=1.0), Hedge.corrected(alpha=0.02, n_experts=4)):
        predictor = kind(bank, hedger, rounded=rounded)
        loss = losses({"it": predictor}, symbols)["it"] / len(symbols)
        assert loss < 0.3
        assert predictor.weights.shape == (2, 2)
        assert predictor.weights.sum() == pytest.approx(1.0)
        assert predictor.weights[:, 0].sum() > 0.8


def test_missing_symbols_teach_nothing() -> None:
    bank = bank_of((0.9, 0.9, 0.1), (0.5, 0.5, 0.5))
    for predictor in (StateExperts(bank), ModelExperts(bank), BayesAverage(bank, 0.9)):
        for x in (1, 1, 1):
            predictor.observe(x)
        before = predictor.weights.sum(axis=0)
        predictor.observe(math.nan)
        if not isinstance(predictor, StateExperts):
            np.testing.assert_allclose(predictor.weights.sum(axis=0), before)
        assert predictor.predict().sum() == pytest.approx(1.0)


def test_warnings_are_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = bank_of((1.0, 1.0, 0.0))
        state = bank.init()
        for x in (0, 1, 0, 1):
            state = bank.observe(state, x)
    assert np.isfinite(state.beliefs).all()


@pytest.mark.parametrize("name", [name for name in HEDGERS if name != "uniform"])
def test_every_hedger_of_the_package_drives_the_predictors(name: str) -> None:
    bank = bank_of((0.95, 0.95, 0.05), (0.5, 0.5, 0.5), (0.05, 0.9, 0.1))
    symbols = sequence(400, 0.95, 0.95, 0.05)
    hedger = specs.make("hedger", name, HEDGERS, alpha=0.02, n_experts=6, eta=0.3)
    for kind in (StateExperts, ModelExperts):
        went = follow(kind(bank, hedger), symbols)
        single = kind(bank, hedger)
        for t, x in enumerate(symbols[:40]):
            np.testing.assert_allclose(went.predictions[t], single.predict(), atol=1e-9)
            single.observe(x)
        if hedger.by_losses:  # nobody is ever left out
            assert went.losses[200:].mean() < 0.45
            assert went.candidates[-1].argmax() == 0
            continue
        assert went.losses[200:].mean() < 0.3
        assert went.candidates[-1, 0] > 0.5
    learning = LearningBank(bank, np.random.default_rng(0), hedger)
    assert np.isfinite(follow(learning, symbols).losses).all()


@pytest.mark.parametrize("kind", [StateExperts, ModelExperts])
@pytest.mark.parametrize("rounded", [False, True])
def test_any_hedger_of_the_protocol_will_do(kind: Any, rounded: bool) -> None:
    assert isinstance(Own(alpha=0.0, eta=0.1), Hedger)
    stay, says = [[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.1], [0.1, 0.9]]
    truth = categorical_bank([[0.5, 0.5]], [stay], [says])
    even = categorical_bank([[0.5, 0.5]], [[[0.5, 0.5]] * 2], [[[0.5, 0.5]] * 2])
    bank = truth.joined(even)
    _, symbols = truth.sample(400, np.random.default_rng(3))
    predictor = kind(bank, Own(alpha=0.0, eta=0.1), rounded=rounded)
    followed = follow(predictor, symbols)
    assert followed.losses[200:].mean() < 0.35
    assert predictor.weights[:, 0].sum() > 0.9
    predictor.observe(0)
    predictor.observe(None)
    assert predictor.predict().sum() == pytest.approx(1.0)


def test_what_cannot_hedge_is_refused() -> None:
    bank, _ = bank_and_sequence("symbols", gaps("all"))
    for wrong in ("normal-hedge", NormalHedge, 3):
        with pytest.raises(
            TypeError, match="hedger must have the methods init, play, step and run"
        ):
            StateExperts(bank, wrong)  # type: ignore[arg-type]
