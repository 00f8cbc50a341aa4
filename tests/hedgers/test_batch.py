"""Many games at once."""

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.hedgers import Squint, run_batch


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_batch_is_a_loop_over_games(jobs: int) -> None:
    rng = np.random.default_rng(0)
    gains, awake = rng.uniform(-1.0, 1.0, (5, 30, 4)), rng.random((5, 30, 4))
    for hedger in (NormalHedge(0.1), Squint()):
        batch = run_batch(hedger, gains, awake, keep_weights=True, jobs=jobs)
        for game in range(5):
            run = hedger.run(gains[game], awake[game], keep_weights=True)
            np.testing.assert_array_equal(batch.gains[game], run.gains)
            np.testing.assert_array_equal(batch.best_regret[game], run.best_regret)
            np.testing.assert_array_equal(batch.log_potential[game], run.log_potential)
            assert batch.weights is not None
            np.testing.assert_array_equal(batch.weights[game], run.weights)
            np.testing.assert_array_equal(batch.states[game].weights, run.state.weights)
    assert run_batch(NormalHedge(0.1), gains).weights is None


def test_wrong_batches() -> None:
    good = np.zeros((2, 3, 4))
    with pytest.raises(ValueError, match=r"games x rounds x experts, .* got shape \(3, 4\)"):
        run_batch(NormalHedge(0.1), good[0])
    with pytest.raises(ValueError, match=r"confidence must have the shape of gains, \(2, 3, 4\)"):
        run_batch(NormalHedge(0.1), good, good[0])
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        run_batch(NormalHedge(0.1), good, jobs=0)
    bad = good.copy()
    bad[1, 2, 3] = 2.0
    with pytest.raises(ValueError, match=r"game 1: gains must be .* gains\[2, 3\] is 2.0"):
        run_batch(NormalHedge(0.1), bad)
