"""FlipFlop, led about: hedging ends with an expert far ahead, following ends in ties."""

import math

import numpy as np
import pytest

from normalhedge import hedgers


def _flip_flop_is_led_about(hedger: hedgers.FlipFlop, n: int, rounds: int) -> float:
    """Play against FlipFlop; return its largest regret over Delta_flip + 2 Delta_flop."""
    state, worst = hedger.init(n), 0.0
    for _ in range(rounds):
        flopped, flip, flop = state.totals
        regrets = state.regrets
        leads = regrets.argmax()
        gains = np.ones(n)
        gains[leads] = -1.0  # towards a tie, and across
        ending = flopped and flop > 0.9 * hedger.balance * flip
        if ending and math.log(n) / flop * (regrets.max() - regrets.min()) < 3.5:
            gains = -gains  # let one get ahead before the spell ends
        state = hedger.step(state, gains)
        assert state.best_regret <= hedger.bounds(state)[0]
        worst = max(worst, state.best_regret / (state.totals[1] + 2.0 * state.totals[2]))
    assert state.best_regret <= hedger.bound(n, rounds).regret
    return worst


@pytest.mark.parametrize(("n", "alpha"), [(2, 0.0), (10, 0.0), (10, 1e-4), (100, 0.003)])
def test_flip_flop_pays_for_every_spell(n: int, alpha: float) -> None:
    """Without the term for spells that ended the bound would be false."""
    worst = _flip_flop_is_led_about(hedgers.FlipFlop(alpha), n, 6000)
    assert worst > 1.02 or alpha == 0.003  # few spells fit into so short a memory


def test_flip_flop_beside_its_paper() -> None:
    hedger, n, rounds = hedgers.FlipFlop(), 10, 1000
    most = math.sqrt(rounds * math.log(n)) + 2 * (2 / 3 * math.log(n) + 1)
    assert hedger.bound(n, rounds).regret == pytest.approx(5.64 * most + 2, rel=1e-3)
    assert hedger.bound(1, rounds).regret == 0.0


@pytest.mark.parametrize("ahead", [0.0, 0.05, 0.2, 0.5])
def test_flip_flop_beside_follow_the_leader(ahead: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        gains = rng.choice([-1.0, 1.0], (400, 2 + seed % 5))
        gains[:, 0] = np.where(rng.random(400) < 0.5 + ahead, 1.0, -1.0)
        followed = hedgers.FollowTheLeader().run(gains).state.best_regret
        assert hedgers.FlipFlop().run(gains).state.best_regret <= 5.64 * followed + 6.0
