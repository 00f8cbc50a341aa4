"""`rounds.hpp` and `ahead.hpp`: many rounds in one call; groups of experts that are behind."""

from typing import Any

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import Hedge

# Registers hold 16 experts, a block 1024; of 64 and more, those that are behind may be left out.
COUNTS = (1, 2, 7, 8, 9, 16, 17, 63, 64, 71, 500, 1024, 1025)
ALPHA, C, ETA = 0.01, 2.0, 0.1


def gains_of(n: int, share: float, rounds: int = 120) -> np.ndarray:
    """Return coins, of which a share is better and the others worse than fair."""
    rng = np.random.default_rng(n)
    good = np.arange(n) % round(1.0 / share) == 0
    chances = np.where(good, 0.8, 0.3)
    return np.where(rng.random((rounds, n)) < chances, 1, -1).astype(np.int8)


def plain(gains: Floats, *, squared: bool) -> tuple[Floats, Floats, float]:
    """Play with the formula in NumPy; return regrets, weights and ln mean Phi."""
    n = gains.shape[1]
    regrets, weights, exponents = np.zeros(n), np.full(n, 1.0 / n), np.zeros(n)
    for row in gains.astype(np.float64):
        regrets = (1.0 - ALPHA) * regrets + row - weights @ row
        ahead = np.maximum(regrets, 0.0)
        exponents = ALPHA * ahead**2 / (2.0 * C) if squared else ETA * regrets
        phi = np.exp(exponents - exponents.max())
        weights = ahead * phi if squared else phi
        total = weights.sum()
        weights = weights / total if total > 0.0 else np.full(n, 1.0 / n)
    return regrets, weights, float(np.log(np.exp(exponents).mean()))


@pytest.mark.parametrize("share", [0.5, 0.01], ids=["half", "few"])
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize(
    "hedger", [NormalHedge(ALPHA, C), Hedge(ALPHA, ETA)], ids=["normal", "hedge"]
)
def test_rounds_are_single_rounds_to_the_bit(hedger: Any, n: int, share: float) -> None:
    coins = gains_of(n, share)
    for dtype in (np.float64, np.float32, np.int8):
        gains = coins.astype(dtype)
        run = hedger.run(gains, keep_weights=True)
        state = hedger.init(n)
        for t, row in enumerate(gains):
            assert np.array_equal(run.weights[t], state.weights)
            state = hedger.step(state, row)
            assert (run.gains[t], run.best_regret[t]) == (state.gain, state.regrets.max())
        assert np.array_equal(run.state.weights, state.weights)
        assert np.array_equal(run.state.ledger, state.ledger)
    regrets, weights, log_potential = plain(coins, squared=isinstance(hedger, NormalHedge))
    np.testing.assert_allclose(state.regrets, regrets, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(state.weights, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.log_potential[-1], log_potential, rtol=1e-9, atol=1e-12)
    if isinstance(hedger, NormalHedge) and state.regrets.max() > 0.0:
        assert ((state.weights > 0.0) == (state.regrets > 0.0)).all()


def test_behind_for_ever_and_one_that_comes_back() -> None:
    """An expert of a group that was left out gets weight as soon as it is ahead."""
    n, late = 256, 77
    gains = np.full((400, n), -0.5)
    gains[:, 3] = 0.5
    gains[200:, late] = 1.0
    run = NormalHedge(0.05).run(gains, keep_weights=True)
    assert run.weights is not None
    assert not run.weights[1:200, late].any()
    regrets = np.array(
        [(0.95 ** np.arange(t)[::-1]) @ (gains[:t, late] - run.gains[:t]) for t in range(400)]
    )
    assert ((run.weights[1:, late] > 0.0) == (regrets[1:] > 0.0)).all()
    assert run.state.weights[late] > 0.5


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize("bad", [1.5, np.nan])
def test_a_gain_out_of_range_is_named(n: int, bad: float) -> None:
    gains = np.zeros((50, n))
    gains[33, n - 1] = bad
    with pytest.raises(ValueError, match=rf"gains\[33, {n - 1}\] is"):
        NormalHedge(0.01).run(gains)
