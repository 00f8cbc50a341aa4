import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest

from normalhedge import Hedge, NormalHedge, _names
from normalhedge.hedgers import HEDGERS, Squint
from normalhedge.latent import (
    BayesAverage,
    HMMBank,
    LearningBank,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    bank_from_hmmlearn,
    best_candidate,
    categorical_bank,
    categorical_grid,
    follow,
    gaussian_bank,
    gaussian_grid,
    random_categorical_bank,
    random_gaussian_bank,
)


def paths(
    initial: np.ndarray, transition: np.ndarray, emission: np.ndarray, symbols: list[int]
) -> tuple[float, np.ndarray]:
    """Return P(x_1..x_t) and P(S_{t+1} | x_1..x_t) of one model, by adding up all paths."""
    k = len(initial)
    total, ends = 0.0, np.zeros(k)
    for path in itertools.product(range(k), repeat=len(symbols) + 1):
        p = initial[path[0]]
        for t, x in enumerate(symbols):
            p *= emission[path[t], x] * transition[path[t], path[t + 1]]
        total += p
        ends[path[-1]] += p
    return total, ends / total


def models(n: int, k: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (
        rng.dirichlet(np.ones(k), size=n),
        rng.dirichlet(np.ones(k), size=(n, k)),
        rng.dirichlet(np.ones(m), size=(n, k)),
    )


@pytest.mark.parametrize(("k", "m"), [(1, 2), (2, 2), (3, 4)])
def test_filtering_is_adding_up_paths(k: int, m: int) -> None:
    initial, transition, emission = models(3, k, m)
    bank = categorical_bank(initial, transition, emission)
    symbols = np.random.default_rng(1).integers(m, size=6).tolist()
    state = bank.init()
    for t in range(len(symbols) + 1):
        for n in range(3):
            total, ends = paths(initial[n], transition[n], emission[n], symbols[:t])
            np.testing.assert_allclose(state.beliefs[:, n], ends, rtol=1e-12)
            assert state.log_likelihood[n] == pytest.approx(math.log(total), abs=1e-12)
            np.testing.assert_allclose(bank.symbols(state)[:, n], ends @ emission[n], rtol=1e-12)
        if t < len(symbols):
            state = bank.observe(state, symbols[t])


def hmmlearn_models(n: int, k: int, m: int) -> list[Any]:
    hmm = pytest.importorskip("hmmlearn.hmm")
    made = []
    for start, moves, said in zip(*models(n, k, m, seed=2), strict=True):
        model = hmm.CategoricalHMM(n_components=k, n_features=m)
        model.startprob_, model.transmat_, model.emissionprob_ = start, moves, said
        made.append(model)
    return made


def test_filtering_is_hmmlearn() -> None:
    made = hmmlearn_models(20, 4, 3)
    bank = bank_from_hmmlearn(made)
    symbols = np.random.default_rng(3).integers(3, size=500)
    state = bank.init()
    for x in symbols.tolist():
        state = bank.observe(state, x)
    for n, model in enumerate(made):
        assert state.log_likelihood[n] == pytest.approx(
            model.score(symbols[:, np.newaxis]), rel=1e-10
        )
        last = model.predict_proba(symbols[:, np.newaxis])[-1]
        np.testing.assert_allclose(state.beliefs[:, n], last @ model.transmat_, rtol=1e-8)


def test_gaussian_filtering_is_hmmlearn() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(4)
    made = []
    for start, moves, _ in zip(*models(5, 2, 2, seed=5), strict=True):
        model = hmm.GaussianHMM(n_components=2, covariance_type="diag")
        model.startprob_, model.transmat_ = start, moves
        model.means_, model.covars_ = rng.normal(size=(2, 1)), rng.uniform(0.5, 2.0, size=(2, 1))
        model.n_features = 1
        made.append(model)
    bank = bank_from_hmmlearn(made)
    numbers = rng.normal(size=300)
    state = bank.init()
    for x in numbers.tolist():
        state = bank.observe(state, x)
    for n, model in enumerate(made):
        assert state.log_likelihood[n] == pytest.approx(
            model.score(numbers[:, np.newaxis]), rel=1e-9
        )


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


def two_state(stay: float, first: float, second: float) -> tuple[list[Any], list[Any]]:
    moves = [[stay, 1 - stay], [1 - stay, stay]]
    return moves, [[1 - first, first], [1 - second, second]]


def bank_of(*candidates: tuple[float, float, float]) -> HMMBank:
    made = [two_state(*candidate) for candidate in candidates]
    return categorical_bank([[0.5, 0.5]] * len(made), [a for a, _ in made], [b for _, b in made])


def sequence(rounds: int, stay: float, first: float, second: float, seed: int = 0) -> list[int]:
    """Draw a sequence: one uniform for the switch, and then one for the symbol."""
    rng = np.random.default_rng(seed)
    state, symbols = 0, []
    for _ in range(rounds):
        if rng.random() > stay:
            state = 1 - state
        symbols.append(int(rng.random() < (first, second)[state]))
    return symbols


def losses(predictors: dict[str, Predictor], symbols: list[int]) -> dict[str, float]:
    total = dict.fromkeys(predictors, 0.0)
    for x in symbols:
        for name, predictor in predictors.items():
            said = predictor.predict()
            assert said.min() >= 0.0
            assert abs(said.sum() - 1.0) < 1e-9
            total[name] += 1.0 - said[x]
            predictor.observe(x)
    return total


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


def test_after_a_change_of_truth_hedging_recovers_and_bayes_does_not() -> None:
    bank = bank_of((0.98, 0.95, 0.05), (0.02, 0.95, 0.05))
    predictors: dict[str, Predictor] = {
        "bayes": BayesAverage(bank),
        "hedged": ModelExperts(bank, NormalHedge(alpha=0.01)),
    }
    losses(predictors, sequence(3000, 0.98, 0.95, 0.05))
    found = losses(predictors, [k % 2 for k in range(1000)])
    assert found["hedged"] < 0.5 * found["bayes"]


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


def test_persistence() -> None:
    last = Persistence(3)
    assert last.predict().tolist() == [1 / 3] * 3
    last.observe(2)
    last.observe(None)
    assert last.predict().tolist() == [0.0, 0.0, 1.0]


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


GOOD: dict[str, Any] = {
    "initial": [[0.5, 0.5]],
    "transition": [[[0.9, 0.1], [0.1, 0.9]]],
    "emission": [[[0.5, 0.5], [0.5, 0.5]]],
}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"initial": [0.5, 0.5]}, "initial must have shape"),
        ({"initial": [[0.5, 0.6]]}, "initial must be probabilities"),
        ({"initial": [[1.5, -0.5]]}, "initial must be probabilities"),
        ({"initial": [[math.nan, 1.0]]}, "initial must be probabilities"),
        ({"transition": [[[0.0, 0.0], [0.1, 0.9]]]}, "transition must be probabilities"),
        ({"transition": [[[1.0]]]}, "transition must have shape 1 x 2 x 2"),
        ({"emission": [[[1.0], [1.0]]]}, "at least two symbols"),
        ({"emission": [[[0.5, 0.5]]]}, "emission must have shape 1 x 2 x any"),
        ({"emission": "abc"}, "emission must be real numbers"),
    ],
)
def test_bad_banks_are_a_sentence(change: dict[str, Any], word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        categorical_bank(**{**GOOD, **change})


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


def test_warnings_are_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = bank_of((1.0, 1.0, 0.0))
        state = bank.init()
        for x in (0, 1, 0, 1):
            state = bank.observe(state, x)
    assert np.isfinite(state.beliefs).all()


@pytest.mark.parametrize("kind", [StateExperts, ModelExperts])
def test_what_was_inferred(kind: Any) -> None:
    bank = bank_of((0.99, 0.9, 0.1), (0.99, 0.4, 0.3))
    rng = np.random.default_rng(13)
    hidden = np.repeat([0, 1, 0, 1, 0], 200)
    symbols = [int(rng.random() < (0.9, 0.1)[s]) for s in hidden]
    went = follow(kind(bank, NormalHedge(alpha=0.02)), symbols)
    assert went.predictions.shape == (1000, 2)
    assert went.loss == pytest.approx(went.losses.sum())
    assert went.errors == (went.predictions.argmax(axis=1) != symbols).sum()
    assert (went.states[100:] == hidden[100:]).mean() > 0.9
    assert went.candidates[500:, 0].mean() > 0.9
    np.testing.assert_allclose(went.candidates.sum(axis=1), 1.0)
    assert went.time_to_switch(0, 0, 0.9) is not None
    assert went.time_to_switch(500, 1, 0.9) is None


def test_the_time_to_switch_after_a_change_of_truth() -> None:
    bank = bank_of((0.98, 0.95, 0.05), (0.02, 0.95, 0.05))
    symbols = sequence(2000, 0.98, 0.95, 0.05) + sequence(2000, 0.02, 0.95, 0.05, seed=1)
    hedged = follow(ModelExperts(bank, NormalHedge(alpha=0.01)), symbols)
    bayes = follow(BayesAverage(bank), symbols)
    switched = hedged.time_to_switch(2000, 1)
    assert switched is not None
    assert switched < 200  # two memories
    late = bayes.time_to_switch(2000, 1)
    assert late is None or late > 5 * switched


def test_real_numbers() -> None:
    stay = [[0.98, 0.02], [0.02, 0.98]]
    bank = gaussian_bank(
        [[0.5, 0.5]] * 2, [stay, stay], [[-2.0, 2.0], [-5.0, 0.0]], [[1.0, 1.0], [1.0, 3.0]]
    )
    rng = np.random.default_rng(14)
    hidden = np.repeat([0, 1, 0, 1], 250)
    numbers: list[float | None] = (np.array([-2.0, 2.0])[hidden] + rng.normal(size=1000)).tolist()
    numbers[7], numbers[500] = None, 1e6  # missing, and impossible under all
    went = {
        "states": follow(StateExperts(bank, NormalHedge(alpha=0.02)), numbers),
        "models": follow(ModelExperts(bank, NormalHedge(alpha=0.02)), numbers),
        "bayes": follow(BayesAverage(bank), numbers),
    }
    best, alone = best_candidate(bank, numbers)
    assert best == 0
    for followed in went.values():
        assert (followed.states[300:] == hidden[300:]).mean() > 0.85
        assert np.isfinite(np.delete(followed.losses, 7)).all()
        assert ((followed.losses >= 0.0) | np.isnan(followed.losses)).all()
        assert followed.candidates[900:, 0].mean() > 0.8
        error = followed.predictions[600:, 0] - np.array([-2.0, 2.0])[hidden[600:]]
        assert np.abs(error).mean() < 0.8
        assert followed.errors == 0
    assert went["models"].loss < 1.02 * alone.min()


def test_nothing_to_follow_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="at least one observation"):
        follow(Persistence(2), [])


def every_predictor(bank: HMMBank) -> list[tuple[Predictor, Predictor]]:
    """Return pairs of equal predictors."""
    hedger, rounded = NormalHedge(alpha=0.05, c=1.0), {"rounded": True} if bank.symbol_count else {}
    makers: list[Any] = [
        lambda: StateExperts(bank, hedger),
        lambda: ModelExperts(bank, hedger),
        lambda: BayesAverage(bank),
        lambda: BayesAverage(bank, 0.9),
        lambda: StateExperts(bank, hedger, **rounded),
        lambda: ModelExperts(bank, hedger, **rounded),
        lambda: BayesAverage(bank, **rounded),
        lambda: LearningBank(bank, np.random.default_rng(0), hedger),
    ]
    return [(make(), make()) for make in makers]


@pytest.mark.parametrize("real", [False, True])
def test_following_is_predicting_and_observing_one_by_one(real: bool) -> None:
    rng = np.random.default_rng(15)
    if real:
        bank: HMMBank = random_gaussian_bank(7, 3, 1.0, 2.0, rng)
        symbols = rng.normal(1.0, 2.0, size=90)
        symbols[31] = 1e9  # impossible under all
    else:
        bank = random_categorical_bank(7, 3, 4, rng)
        symbols = rng.integers(4, size=90).astype(float)
    symbols[[0, 40, 41, 89]] = np.nan
    for one, other in every_predictor(bank):
        went = follow(one, symbols)
        for t, x in enumerate(symbols.tolist()):
            weights = other.weights  # type: ignore[attr-defined]
            np.testing.assert_allclose(went.candidates[t], weights.sum(axis=0), atol=1e-12)
            np.testing.assert_allclose(went.state_weights[t], weights.sum(axis=1), atol=1e-12)
            said = other.predict()
            np.testing.assert_allclose(went.predictions[t], said, atol=1e-12, rtol=1e-12)
            if math.isnan(x):
                assert math.isnan(went.losses[t])
                assert not went.wrong[t]
            else:
                assert went.losses[t] == pytest.approx(1.0 - other.score(x), abs=1e-12)
                if not real:
                    assert went.losses[t] == pytest.approx(1.0 - said[int(x)], abs=1e-12)
                    assert went.wrong[t] == (said.argmax() != x)
            other.observe(x)
        assert one.state.impossible == other.state.impossible == int(real)  # type: ignore[attr-defined]


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


def test_what_cannot_be_followed_teaches_nothing() -> None:
    predictor = ModelExperts(bank_of((0.9, 0.9, 0.1)))
    with pytest.raises(ValueError, match=r"symbol in 0\.\.1, got 3"):
        follow(predictor, [0, 1, 3])
    assert predictor.state.rounds == 0


def test_a_grid_has_every_combination() -> None:
    bank = categorical_grid(2, stay=[0.9, 0.99], emissions=[0.1, 0.5, 0.9])
    found = {
        (round(bank.transition[0, 0, n], 9), *bank.emission[1, :, n].round(9).tolist())
        for n in range(bank.candidates)
    }
    pairs = [(0.1, 0.5), (0.1, 0.9), (0.5, 0.9)]
    assert found == {(stay, *pair) for stay in (0.9, 0.99) for pair in pairs}
    three = categorical_grid(3, [0.7], np.eye(4))
    assert (three.candidates, three.symbol_count) == (4, 4)
    np.testing.assert_allclose(three.transition.sum(axis=1), 1.0)
    assert three.transition[0, 1, 0] == pytest.approx(0.15)
    real = gaussian_grid(2, [0.9], [0.0, 5.0], [1.0, 2.0])
    assert real.candidates == 6
    assert real.width == 1.0
    assert categorical_grid(1, [0.5, 0.9], [0.3]).candidates == 1  # one state stays where it is
    for arguments, word in (
        ((2, [1.5], [0.1, 0.9]), "stay must be probabilities"),
        ((2, [], [0.1, 0.9]), "stay must be probabilities"),
        ((3, [0.5], [0.1, 0.9]), "at least as many emissions as states"),
        ((2, [0.5], [0.1, 1.9]), "emissions must be probabilities"),
        ((20, [0.5], np.linspace(0, 1, 60)), "at most 10,000,000 candidates"),
    ):
        with pytest.raises(ValueError, match=word):
            categorical_grid(*arguments)


def test_persistence_of_numbers() -> None:
    last = Persistence(width=0.5)
    assert last.score(1.0) == 0.0
    last.observe(1.0)
    last.observe(None)
    assert last.predict().tolist() == [1.0]
    assert (last.score(1.25), last.score(1.26)) == (1.0, 0.0)
    with pytest.raises(TypeError, match="either symbols or width"):
        Persistence()
    for one, wrong, word in (
        (Persistence(2), 2.0, r"a symbol in 0\.\.1, got 2"),
        (Persistence(2), 0.5, "a symbol"),
        (last, math.inf, "finite"),
    ):
        with pytest.raises(ValueError, match=word):
            one.observe(wrong)
    went = follow(Persistence(width=1.0), [1.0, 1.4, None, 3.0])
    assert went.losses[[0, 1, 3]].tolist() == [1.0, 0.0, 1.0]
    assert went.predictions[1:, 0].tolist() == [1.0, 1.4, 1.4]


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


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8])
def test_very_small_probabilities_are_not_lost(k: int) -> None:
    moves, says = np.eye(k), np.tile([0.0, 1.0], (k, 1))
    moves[0, 1], says[0], says[1] = 1e-150, [1e-200, 1.0], [1.0, 0.0]
    bank = categorical_bank([np.eye(k)[0]], [moves], [says])
    state = bank.observe(bank.observe(bank.init(), 0), 0)
    np.testing.assert_allclose(state.beliefs[:2, 0], [1e-50, 1.0], rtol=1e-9)
    assert state.log_likelihood[0] == pytest.approx(math.log(1e-200) + math.log(1e-150))


def test_a_learning_bank_does_not_judge_during_a_gap() -> None:
    bank = random_categorical_bank(20, 2, 2, np.random.default_rng(0))
    learning = LearningBank(bank, np.random.default_rng(0), NormalHedge(alpha=0.05))
    for x in np.random.default_rng(1).integers(2, size=100).tolist():
        learning.observe(x)
    before = learning.dropped
    for _ in range(500):
        learning.observe(None)
    assert learning.dropped == before


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


@pytest.mark.parametrize("name", [name for name in HEDGERS if name != "uniform"])
def test_every_hedger_of_the_package_drives_the_predictors(name: str) -> None:
    bank = bank_of((0.95, 0.95, 0.05), (0.5, 0.5, 0.5), (0.05, 0.9, 0.1))
    symbols = sequence(400, 0.95, 0.95, 0.05)
    hedger = _names.make("hedger", name, HEDGERS, alpha=0.02, n_experts=6, eta=0.3)
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


def test_a_learning_bank_must_know_when_to_lose_patience() -> None:
    bank = bank_of((0.9, 0.9, 0.1), (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="patience must be given"):
        LearningBank(bank, np.random.default_rng(0), Squint())
    assert LearningBank(bank, np.random.default_rng(0), Squint(), patience=50).patience == 50
