"""Sequences with gaps, and hedgers of your own: in a gap time passes and nothing is learned."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from normalhedge import Hedger, NormalHedge, Run
from normalhedge._inputs import Floats
from normalhedge.hedgers import AdaHedge, FixedShare, Squint
from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    HMMBank,
    LearningBank,
    ModelExperts,
    Persistence,
    StateExperts,
    categorical_bank,
    follow,
    random_categorical_bank,
    random_gaussian_bank,
)


class PlainState(NamedTuple):
    weights: Floats
    totals: Floats


class Plain:
    """Exponential weights with the protocol and nothing else: no alpha, join, leave or in_place."""

    def init(self, n: int) -> PlainState:
        return PlainState(np.full(n, 1.0 / n), np.zeros(n))

    def play(self, state: PlainState, confidence: npt.ArrayLike | None = None) -> Floats:
        if confidence is None:
            return state.weights.copy()
        heard = state.weights * np.asarray(confidence)
        return np.asarray(heard / heard.sum())

    def step(
        self, state: PlainState, gains: npt.ArrayLike, confidence: npt.ArrayLike | None = None
    ) -> PlainState:
        told = np.asarray(gains)
        rated = np.ones(len(told)) if confidence is None else np.asarray(confidence)
        totals = state.totals + rated * (told - self.play(state, rated) @ told)
        raw = np.exp(0.1 * (totals - totals.max()))
        return PlainState(raw / raw.sum(), totals)

    def run(
        self,
        gains: npt.ArrayLike,
        confidence: npt.ArrayLike | None = None,
        *,
        state: PlainState | None = None,
        keep_weights: bool = False,
    ) -> Run[PlainState]:
        table = np.asarray(gains)
        rated = np.ones(table.shape) if confidence is None else np.asarray(confidence)
        state = self.init(table.shape[1]) if state is None else state
        played = np.empty(table.shape)
        for t in range(len(table)):
            played[t] = self.play(state, rated[t])
            state = self.step(state, table[t], rated[t])
        nothing = np.full(len(table), np.nan)
        return Run(state, nothing, nothing, nothing, played if keep_weights else None)


HEDGERS: list[Hedger[Any]] = [
    NormalHedge(alpha=0.05, c=1.0), Squint(), AdaHedge(alpha=0.01), FixedShare(0.5, 0.1), Plain()
]  # fmt: skip

ROUNDS = 60


def gaps(kind: str) -> np.ndarray:
    missing = np.zeros(ROUNDS, dtype=bool)
    if kind == "every second":
        missing[::2] = True
    elif kind == "long":
        missing[:5] = missing[20:41] = missing[-7:] = True
    elif kind == "drawn":
        missing = np.random.default_rng(2).random(ROUNDS) < 0.5
    else:
        missing[:] = True
    return missing


def bank_and_sequence(kind: str, missing: np.ndarray) -> tuple[HMMBank, np.ndarray]:
    rng = np.random.default_rng(1)
    if kind == "numbers":
        bank: HMMBank = random_gaussian_bank(5, 3, 0.0, 1.0, rng)
        numbers = rng.normal(size=ROUNDS)
        numbers[13] = 1e9  # impossible under all
    else:
        says = rng.dirichlet(np.full(3, 0.3), size=(5, 2))
        moves = rng.dirichlet(np.ones(2), size=(5, 2))
        says[0, 0], says[0, 1] = [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]  # of one state nobody can doubt
        moves[1] = [[0.0, 1.0], [1.0, 0.0]]
        bank = categorical_bank([[1.0, 0.0]] * 5, moves, says)
        numbers = rng.integers(3, size=ROUNDS).astype(np.float64)
    return bank, np.where(missing, np.nan, numbers)


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


@pytest.mark.parametrize("kind", [StateExperts, ModelExperts])
@pytest.mark.parametrize("rounded", [False, True])
def test_any_hedger_of_the_protocol_will_do(kind: Any, rounded: bool) -> None:
    assert isinstance(Plain(), Hedger)
    stay, says = [[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.1], [0.1, 0.9]]
    truth = categorical_bank([[0.5, 0.5]], [stay], [says])
    even = categorical_bank([[0.5, 0.5]], [[[0.5, 0.5]] * 2], [[[0.5, 0.5]] * 2])
    bank = truth.joined(even)
    _, symbols = truth.sample(400, np.random.default_rng(3))
    predictor = kind(bank, Plain(), rounded=rounded)
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


def test_a_learning_bank_needs_experts_that_come_and_go() -> None:
    bank, _ = bank_and_sequence("symbols", gaps("all"))
    with pytest.raises(TypeError, match=r"needs a hedger whose experts can join and leave.*Plain"):
        LearningBank(bank, np.random.default_rng(0), Plain(), patience=10)


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
