"""Other libraries run beside ours on the same gains: where they do the same, and what breaks them.

`nox -s peers` installs them apart; without them these tests are skipped. PyNOL and opera-python are
not on the package index (the `opera` there is something else).
"""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from normalhedge import hedgers
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, State
from tests.peers import Peer, Poold, River, Sktime, Spiel

Make = Callable[[int], Peer]

LATE: dict[str, type[hedgers.DORM | hedgers.DORMPlus | hedgers.AdaHedgeD]] = {
    "adahedged": hedgers.AdaHedgeD,
    "dorm": hedgers.DORM,
    "dormplus": hedgers.DORMPlus,
}

SAME: dict[str, tuple[str, Make, CompiledHedger, float]] = {
    # name: library, theirs, ours, how far apart they may be
    "sktime NormalHedgeEnsemble": ("sktime", Sktime, hedgers.NormalHedge2009(), 1e-9),  # bisection
    "poold AdaHedgeD": ("poold", lambda n: Poold("adahedged", n), hedgers.AdaHedge(), 1e-12),
    "poold DORM": ("poold", lambda n: Poold("dorm", n), hedgers.RegretMatching(), 1e-12),
    "poold DORM+": ("poold", lambda n: Poold("dormplus", n), hedgers.RegretMatchingPlus(), 1e-12),
    # Hedge at a fixed rate, which Fixed Share is when it shares nothing to speak of.
    "river EWARegressor": ("river", River, hedgers.FixedShare(eta=0.25, share=1e-300), 1e-12),
}

same = pytest.mark.parametrize("name", SAME)


def _games() -> list[Floats]:
    """Return losses in [0, 1]: drawn, of two values with ties, with one that is better."""
    rng = np.random.default_rng(0)
    better = rng.random((200, 10))
    better[:, 3] *= 0.7
    # Nobody has lost nothing in the first round, which not everyone survives.
    coins = np.vstack([[0.1, 0.2, 0.3, 0.4], rng.integers(0, 2, (150, 4))])
    return [rng.random((60, 2)), rng.random((60, 50)), better, coins.astype(np.float64)]


@same
def test_same_rule_same_weights(name: str) -> None:
    library, make, hedger, apart = SAME[name]
    pytest.importorskip(library)
    for losses in _games():
        n = losses.shape[1]
        theirs, ours = make(n), hedger.init(n)
        for row in losses:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # poold: 0/0 where all lose nothing
                theirs.learn(row)
            ours = hedger.step(ours, 1.0 - 2.0 * row)
            np.testing.assert_allclose(theirs.weights, ours.weights, rtol=0.0, atol=apart)


@pytest.mark.parametrize("hint", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("delay", [0, 1, 6])
@pytest.mark.parametrize("name", LATE)
def test_same_rule_for_late_outcomes(name: str, delay: int, hint: float) -> None:
    """The same plays in the same rounds, each judged by its own weights.

    In AdaHedgeD the third of the numbers whose least is taken has a share in it: there of the
    largest losses, here of their ranges. With two experts and losses around 0 that is the same.
    """
    pytest.importorskip("poold")
    hedger = LATE[name](delay, hint)
    pairs = [losses[:, :2] for losses in _games()]
    around_0 = [losses - losses.mean(axis=1, keepdims=True) for losses in pairs]
    for losses in around_0 if name == "adahedged" else _games():
        n = losses.shape[1]
        theirs, ours = Poold(name, n, delay, hint), hedger.init(n)
        run = hedger.run(-losses, keep_weights=True)
        for row in losses:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                theirs.learn(row)
            ours = hedger.step(ours, -row)
            np.testing.assert_allclose(theirs.weights, ours.weights, rtol=0.0, atol=1e-10)
        assert run.weights is not None
        played = np.array(theirs.played[: len(losses)])
        np.testing.assert_allclose(played, run.weights, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("plus", [False, True])
def test_openspiel(plus: bool) -> None:
    """CFR on a matrix is regret matching, and CFR+ is RM+, of two who play in turns."""
    pytest.importorskip("pyspiel")
    hedger = hedgers.RegretMatchingPlus() if plus else hedgers.RegretMatching()
    for shape in ((3, 3), (4, 7)):
        payoffs = np.random.default_rng(1).uniform(-1, 1, shape)
        theirs = Spiel(payoffs, plus=plus)
        ours, other = hedger.init(shape[0]), hedger.init(shape[1])
        for _ in range(150):
            theirs.learn()
            ours = hedger.step(ours, payoffs @ other.weights)
            other = hedger.step(other, -payoffs.T @ ours.weights)
            rows, columns = theirs.play()
            np.testing.assert_allclose(rows[: shape[0]], ours.weights, atol=1e-11)
            np.testing.assert_allclose(columns[: shape[1]], other.weights, atol=1e-11)


# What breaks them


def _ours(hedger: CompiledHedger, losses: list[list[float]]) -> State:
    state: State = hedger.run(1.0 - 2.0 * np.array(losses)).state
    return state


def _theirs(peer: Peer, losses: list[list[float]]) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for row in losses:
            peer.learn(np.array(row))
    return np.asarray(peer.weights)


@pytest.mark.parametrize(
    "losses", [[[0.5, 0.5, 0.5]], [[0.2]], [[0.1, 0.1], [0.7, 0.7]]], ids=("tie", "one", "alike")
)
def test_ties_break_sktime(losses: list[list[float]]) -> None:
    pytest.importorskip("sktime")
    n = len(losses[0])
    with pytest.raises(ValueError, match="NaN"):
        _theirs(Sktime(n), losses)
    np.testing.assert_allclose(_ours(hedgers.NormalHedge2009(), losses).weights, 1 / n)


@pytest.mark.parametrize(
    ("library", "make", "hedger"),
    [
        ("sktime", Sktime, hedgers.NormalHedge2009()),
        ("poold", lambda n: Poold("adahedged", n), hedgers.AdaHedge()),
    ],
    ids=("sktime", "poold"),
)
def test_a_missing_forecast_breaks(library: str, make: Make, hedger: CompiledHedger) -> None:
    pytest.importorskip(library)
    losses = [[0.5, 0.2], [0.5, np.nan], [0.1, 0.2]]
    with pytest.raises(ValueError, match=r"NaN|nan"):
        _theirs(make(2), losses)
    gains = 1.0 - 2.0 * np.array(losses)
    state = hedger.run(gains, np.isfinite(gains)).state
    assert state.weights.sum() == pytest.approx(1.0)


def test_a_missing_forecast_makes_poold_start_anew() -> None:
    """NaN regrets count as none at all: DORM is uniform from then on."""
    pytest.importorskip("poold")
    losses = [[0.5, 0.2], [0.5, np.nan], *[[0.1, 0.9]] * 20]
    np.testing.assert_array_equal(_theirs(Poold("dorm", 2), losses), [0.5, 0.5])
    gains = 1.0 - 2.0 * np.array(losses)
    assert hedgers.RegretMatching().run(gains, np.isfinite(gains)).state.weights[0] == 1.0


def test_one_expert_breaks_poold() -> None:
    pytest.importorskip("poold")
    with pytest.raises(ValueError, match="sum to 1"):
        _theirs(Poold("adahedged", 1), [[0.5], [0.2]])
    assert _ours(hedgers.AdaHedge(), [[0.5], [0.2]]).weights == [1.0]


def test_small_losses_are_nothing_to_poold() -> None:
    """AdaHedge is free of scale; below 1e-8 theirs follows the leader for ever."""
    pytest.importorskip("poold")
    losses = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.9]])
    large = _ours(hedgers.AdaHedge(), losses.tolist()).weights
    np.testing.assert_allclose(_theirs(Poold("adahedged", 2), losses.tolist()), large, atol=1e-12)
    small = hedgers.AdaHedge().run(-2e-9 * losses).state.weights
    np.testing.assert_allclose(small, large, atol=1e-9)
    np.testing.assert_array_equal(_theirs(Poold("adahedged", 2), (1e-9 * losses).tolist()), [1, 0])


def test_poold_remembers_every_round() -> None:
    pytest.importorskip("poold")
    peer = Poold("dorm", 2)
    _theirs(peer, [[0.1, 0.2]] * 50)
    assert len(peer.learner.history.play_history) == 51
    short, long = (_ours(hedgers.RegretMatching(), [[0.1, 0.2]] * t).ledger.nbytes for t in (1, 50))
    assert short == long


def test_large_losses_break_river() -> None:
    """Where all weights underflow it predicts 0 for ever."""
    pytest.importorskip("river")
    peer = River(2)
    peer.learn(np.array([2000.0, 1990.0]))
    np.testing.assert_array_equal(peer.weights, [0.0, 0.0])
    peer.learn(np.array([0.0, 1.0]))
    assert peer.predict(np.array([10.0, 10.0])) == 0.0
    # The same game: losses over 2000, the rate times 2000, halved as gains are twice as wide.
    hedger = hedgers.FixedShare(eta=500.0, share=1e-300)
    state = _ours(hedger, [[1.0, 0.995], [0.0, 0.0005]])
    assert state.weights.sum() == pytest.approx(1.0)
    assert state.weights[1] == pytest.approx(1 / (1 + np.exp(-4.5)))


def test_river_before_the_first_outcome() -> None:
    pytest.importorskip("river")
    said = np.array([10.0, 10.0, 10.0])
    assert River(3).predict(said) == 30.0
    hedger = hedgers.FixedShare(eta=0.25, share=1e-300)
    assert hedger.play(hedger.init(3)) @ said == pytest.approx(10.0)
