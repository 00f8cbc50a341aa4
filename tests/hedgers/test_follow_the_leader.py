"""Follow the leader, a yardstick."""

import numpy as np
import pytest

from normalhedge import hedgers


def test_follow_the_leader_can_be_led_astray() -> None:
    n, rounds, hedger = 5, 1000, hedgers.FollowTheLeader()
    state = hedger.run(np.linspace(0.0, 0.5, n)[None]).state  # no two are tied
    for _ in range(rounds):
        gains = np.ones(n)
        gains[state.weights.argmax()] = -1.0
        state = hedger.step(state, gains)
    assert state.best_regret == pytest.approx(2 * rounds * (n - 1) / n, rel=0.01)
