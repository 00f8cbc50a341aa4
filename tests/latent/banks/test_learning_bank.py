"""A bank that evolves: bad candidates are replaced."""

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Squint
from normalhedge.latent import (
    LearningBank,
    ModelExperts,
    categorical_bank,
    follow,
    random_categorical_bank,
)
from tests.latent.banks.examples import bank_and_sequence, bank_of, gaps
from tests.test_own_hedgers import Own


def test_a_learning_bank_replaces_those_behind() -> None:
    truth = categorical_bank(
        [[0.5, 0.5]],
        [[[0.97, 0.03], [0.06, 0.94]]],
        [[[0.85, 0.1, 0.05], [0.05, 0.15, 0.8]]],
    )
    rng = np.random.default_rng(0)
    _, symbols = truth.sample(3000, rng)
    bank, hedger = random_categorical_bank(60, 2, 3, rng), NormalHedge(alpha=0.005, c=1.0)
    learning = LearningBank(bank, rng, hedger)
    went, fixed = follow(learning, symbols), follow(ModelExperts(bank, hedger), symbols)
    assert went.losses[1500:].mean() < 0.85 * fixed.losses[1500:].mean()
    assert learning.dropped > 100
    assert learning.bank.candidates == 60
    assert learning.game.joined == 60 + learning.dropped
    np.testing.assert_allclose(learning.bank.state_predictions.sum(axis=0), 1.0)


def test_a_learning_bank_does_not_judge_during_a_gap() -> None:
    bank = random_categorical_bank(20, 2, 2, np.random.default_rng(0))
    learning = LearningBank(bank, np.random.default_rng(0), NormalHedge(alpha=0.05))
    for x in np.random.default_rng(1).integers(2, size=100).tolist():
        learning.observe(x)
    before = learning.dropped
    for _ in range(500):
        learning.observe(None)
    assert learning.dropped == before


def test_a_learning_bank_must_know_when_to_lose_patience() -> None:
    bank = bank_of((0.9, 0.9, 0.1), (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="patience must be given"):
        LearningBank(bank, np.random.default_rng(0), Squint())
    assert LearningBank(bank, np.random.default_rng(0), Squint(), patience=50).patience == 50


def test_a_learning_bank_needs_experts_that_come_and_go() -> None:
    bank, _ = bank_and_sequence("symbols", gaps("all"))
    with pytest.raises(TypeError, match=r"needs a hedger whose experts can join and leave.*Own"):
        LearningBank(bank, np.random.default_rng(0), Own(), patience=10)
