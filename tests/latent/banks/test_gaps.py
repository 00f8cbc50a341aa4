"""Missing rounds leave the game as it was."""

from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import AdaHedge, FixedShare, Hedger, Squint
from normalhedge.latent import (
    BayesAverage,
    ModelExperts,
    Persistence,
    StateExperts,
    follow,
)
from tests.latent.banks.examples import bank_and_sequence, gaps
from tests.test_own_hedgers import Own

HEDGERS: list[Hedger[Any]] = [
    NormalHedge(alpha=0.05, c=1.0), Squint(), AdaHedge(alpha=0.01), FixedShare(0.5, 0.1),
    Own(alpha=0.0, eta=0.1),
]  # fmt: skip


def assert_led_alike(one: Any, other: Any, numbers: np.ndarray) -> None:
    """Follow with one predictor, and lead another along by hand."""
    followed = follow(one, numbers)
    for t, x in enumerate(numbers.tolist()):
        weights = getattr(other, "weights", np.empty((0, 0)))
        np.testing.assert_allclose(followed.candidates[t], weights.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(followed.state_weights[t], weights.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(followed.predictions[t], other.predict(), rtol=1e-12, atol=1e-12)
        expected = np.nan if np.isnan(x) else 1.0 - other.score(x)
        np.testing.assert_allclose(followed.losses[t], expected, rtol=1e-12, atol=1e-12)
        other.observe(x)
    for name in ("state", "game"):
        for mine, its in zip(getattr(one, name, ()), getattr(other, name, ()), strict=True):
            if mine is None:
                assert its is None
            else:
                np.testing.assert_allclose(mine, its, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["symbols", "numbers"])
@pytest.mark.parametrize("missing", ["every second", "long", "drawn", "all"])
@pytest.mark.parametrize("block", [7, 1000])
def test_a_sequence_with_gaps_is_followed_as_one_by_one(
    kind: str, missing: str, block: int
) -> None:
    bank, numbers = bank_and_sequence(kind, gaps(missing))
    makers: list[Any] = [lambda: BayesAverage(bank), lambda: BayesAverage(bank, 0.9)]
    for hedger in HEDGERS:
        makers += [
            lambda hedger=hedger: StateExperts(bank, hedger),
            lambda hedger=hedger: ModelExperts(bank, hedger),
        ]
    if kind == "symbols":
        makers += [
            lambda: BayesAverage(bank, rounded=True),
            lambda: StateExperts(bank, HEDGERS[0], rounded=True),
            lambda: ModelExperts(bank, HEDGERS[0], rounded=True),
            lambda: Persistence(3),
        ]
    else:
        makers += [lambda: Persistence(width=0.5)]
    for make in makers:
        one, other = make(), make()
        one.block = block
        assert_led_alike(one, other, numbers)


def test_a_gap_leaves_the_game_untouched() -> None:
    bank, numbers = bank_and_sequence("symbols", gaps("long"))
    for make in (lambda: StateExperts(bank, Squint()), lambda: ModelExperts(bank, Squint())):
        with_gaps, without = make(), make()
        with_gaps.run(np.full(9, np.nan))
        for field, fresh in zip(with_gaps.game, without.game, strict=True):
            assert np.array_equal(field, fresh)
        with_gaps.run(numbers)
        assert with_gaps.game.rounds == (~np.isnan(numbers)).sum()
        assert with_gaps.state.rounds == len(numbers) + 9
