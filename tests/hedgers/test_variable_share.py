"""Variable Share: who does not lose gives nothing away."""

import numpy as np

from normalhedge import hedgers


def test_variable_share_takes_nothing_from_who_does_not_lose() -> None:
    hedger = hedgers.VariableShare(eta=2.0, share=0.2)
    state = hedger.run(np.tile([1.0, -1.0, -1.0], (40, 1))).state
    assert state.weights[0] > 1 - 1e-15
    after = hedger.run(np.tile([-1.0, 1.0, -1.0], (8, 1)), state=state).state
    assert after.weights[1] > 0.9
