"""MLPoly as the R package opera has it."""

import math

import numpy as np

from normalhedge import hedgers
from tests.hedgers.examples import drawn_games


def test_opera() -> None:
    """The recursion of MLpol in the R package opera, on losses of any range; some asleep."""
    for gains, confidence in drawn_games():
        for scale in (1.0, 1e-7, 0.3):
            losses, awake = -scale * gains, np.ceil(confidence)
            n = gains.shape[1]
            B, R, eta = 0.0, np.zeros(n), np.full(n, math.exp(700))
            run = hedgers.MLPolyOpera().run(scale * gains, awake, keep_weights=True)
            assert run.weights is not None
            for row, up, played in zip(losses, awake, run.weights, strict=True):
                w = eta * np.maximum(R, 0) if (up * R).max() > 0 else np.ones(n)
                p = up * (w / w.sum()) / (up * (w / w.sum())).sum()
                np.testing.assert_allclose(played, p, rtol=1e-9, atol=1e-12)
                r = up * (p @ row - row)
                R = R + r
                wider = max(B, float((r * r).max()))
                eta = 1 / (1 / eta + r * r + wider - B)
                B = wider
