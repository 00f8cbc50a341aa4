"""With all gains seen, a router on a hedger is the hedger, to the bit."""

import numpy as np
import pytest

from normalhedge import Router
from normalhedge.hedgers import HEDGERS, DecreasingHedge, named
from normalhedge.routing import Exp3IX, OnEstimates

SPELLED = {"hedge-fixed": "hedge-fixed:eta=0.3"}
KINDS = [SPELLED.get(name, name) for name in HEDGERS]
KINDS = [name for name in KINDS if not named(name, 3, alpha=0.01).has_initial_ledger]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("asleep", [False, True])
def test_probabilities_are_the_weights(name: str, asleep: bool) -> None:
    rng = np.random.default_rng(0)
    hedger = named(name, 3, alpha=0.01)
    router = Router(["a", "b", "c"], rule=OnEstimates(hedger), gains=(-1.0, 1.0))
    state = hedger.init(3)
    for t in range(200):
        row = np.clip(rng.normal([0.1, 0.2, 0.3 - 0.004 * t], 0.4), -1.0, 1.0)
        awake = rng.random(3) < 0.7 if asleep else np.ones(3, dtype=bool)
        awake[rng.integers(3)] = True
        names = [n for n, here in zip("abc", awake, strict=True) if here]
        confidence = None if awake.all() else awake.astype(float)
        choice = router.choose(awake=None if awake.all() else names)
        assert choice.probabilities.tobytes() == hedger.play(state, confidence).tobytes()
        router.reward(
            choice.ticket, {n: g for n, g in zip("abc", row.tolist(), strict=True) if n in names}
        )
        gains = row if awake.all() else np.where(awake, row, 0.0)
        state = hedger.step(state, gains, confidence)
    assert router.bound().regret == pytest.approx(
        hedger.bound(3, 200).regret if not asleep else np.inf
    )


def test_exp3_ix_is_hedge_at_a_falling_rate() -> None:
    rng = np.random.default_rng(1)
    hedger, router = DecreasingHedge(), Router(list("abcd"), rule=Exp3IX(), gains=(-1.0, 1.0))
    state = hedger.init(4)
    for _ in range(300):
        gains = rng.uniform(-1.0, 1.0, 4)
        choice = router.choose(seen="all")
        assert choice.probabilities.tobytes() == state.weights.tobytes()
        router.reward(choice.ticket, dict(zip("abcd", gains.tolist(), strict=True)))
        state = hedger.step(state, gains)
