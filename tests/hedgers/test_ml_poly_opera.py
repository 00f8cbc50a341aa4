"""MLPoly as the R package opera has it."""

import math

import numpy as np
import pytest

from normalhedge import Mixture, hedgers
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


def slope(loss: str, over: float) -> float:
    if loss == "square":
        return 2.0 * over
    return float(np.sign(over)) if loss == "absolute" else float(over > 0.0) - 0.9


@pytest.mark.parametrize("loss", ["square", "absolute", "pinball:level=0.9"])
@pytest.mark.parametrize("kind", ["far off", "calm later"])
def test_a_mixture_has_the_numbers_of_opera(loss: str, kind: str) -> None:
    """Also where an expert without weight is far off, and long after losses were large."""
    rng, rounds = np.random.default_rng(4), 300 if kind == "far off" else 9000
    y = np.cumsum(rng.normal(size=rounds))
    spread = np.array([0.3, 1.0, 1.0, 2.0, 5.0, 20.0 if kind == "far off" else 2.0])
    early = np.where(np.arange(rounds) < 50, 30.0, 1.0) if kind == "calm later" else np.ones(rounds)
    table = y[:, np.newaxis] + early[:, np.newaxis] * spread * rng.normal(size=(rounds, 6))
    mixture = Mixture("ml-poly-opera:alpha=0", loss, combine="mean")
    B, R, eta = 0.0, np.zeros(6), np.full(6, math.exp(700))
    for x, outcome in zip(table, y.tolist(), strict=True):
        w = eta * np.maximum(R, 0) if R.max() > 0 else np.ones(6)
        value = float(w @ x / w.sum())
        made = mixture.predict(dict(zip("abcdef", x.tolist(), strict=True)))
        mixture.update(made.ticket, outcome)
        assert made.value == pytest.approx(value, rel=1e-6, abs=1e-6)
        r = slope(loss, value - outcome) * (value - x)
        R = R + r
        wider = max(B, float((r * r).max()))
        eta = 1 / (1 / eta + r * r + wider - B)
        B = wider
