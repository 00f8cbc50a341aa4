"""The ladder of Kalman filters."""

import numpy as np
import pytest

from normalhedge.latent.tracking._dynamics import Ladder
from normalhedge.latent.tracking._kalman import Bank


def test_one_filter_without_absurd_observations_is_a_kalman_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one expert, a known scale and no absurd part, against matrices."""
    monkeypatch.setattr("normalhedge.latent.tracking._dynamics.MEMORY", 1e300)
    ladder = Ladder(1)
    ladder.bank, ladder.experts = Bank(*np.array([[1.0, 0.1, 0.2, 0.5]]).T), 1
    belief = ladder.init()
    one = np.ones((1, 1, 1))
    belief = belief._replace(
        filters=type(belief.filters)(0 * one, 0 * one, 2 * one, 0 * one, 3 * one),
        variance=4.0 * one,
        counts=1e290 * one,
        absurd=np.full((1, 1), 1e-300),
        first=None,
    )
    x, p = np.zeros(2), 4.0 * np.diag([2.0, 3.0])
    f, q = np.array([[1.0, 1.0], [0.0, 1.0]]), 4.0 * np.array([[0.1, 0.2], [0.2, 0.5]])
    for y in [1.0, 2.5, np.nan, 3.0, 7.0]:
        belief = ladder.step(belief, np.array([y]))._replace(absurd=np.full((1, 1), 1e-300))
        x, p = f @ x, f @ p @ f.T + q
        if np.isfinite(y):
            gain = p[:, 0] / (p[0, 0] + 4.0)
            x, p = x + gain * (y - x[0]), p - np.outer(gain, p[0])
        g = belief.filters
        assert [g.x.item(), g.v.item()] == pytest.approx(x)
        assert 4.0 * np.array([g.p00, g.p01, g.p11]).ravel() == pytest.approx(
            p[[0, 0, 1], [0, 1, 1]]
        )
