"""Slow and obvious: the equations of the paper, one expert at a time, in plain Python."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from normalhedge.boundary.inputs import Floats

Weigh = Callable[[Sequence[float]], list[float]]


def normal_weights(regrets: Sequence[float], alpha: float, c: float) -> list[float]:
    """p_i ∝ [R_i]+ exp(alpha [R_i]+^2 / 2c), uniform when all are zero."""
    exponents = [alpha * max(r, 0.0) ** 2 / (2.0 * c) for r in regrets]
    top = max(exponents)
    raw = [max(r, 0.0) * math.exp(e - top) for r, e in zip(regrets, exponents, strict=True)]
    total = math.fsum(raw)
    return [w / total for w in raw] if total > 0.0 else [1.0 / len(raw)] * len(raw)


def hedge_weights(regrets: Sequence[float], eta: float) -> list[float]:
    """p_i ∝ exp(eta R_i)."""
    top = max(regrets)
    raw = [math.exp(eta * (r - top)) for r in regrets]
    total = math.fsum(raw)
    return [w / total for w in raw]


def play(weights: Sequence[float], confidence: Sequence[float]) -> list[float] | None:
    """q_i = p_i c_i / Z; q ∝ c where Z = 0; none where all c_i = 0."""
    raw = [p * c for p, c in zip(weights, confidence, strict=True)]
    total = math.fsum(raw)
    if total == 0.0:
        raw, total = list(confidence), math.fsum(confidence)
    return [q / total for q in raw] if total > 0.0 else None


def gain_of(played: Sequence[float], gains: Sequence[float]) -> float:
    """sum_i q_i g_i over the awake.

    As differences from one of the gains: ties must give exactly their common gain, or a regret of
    1e-16 takes all the weight.
    """
    first = next(g for q, g in zip(played, gains, strict=True) if q > 0.0)
    pairs = zip(played, gains, strict=True)
    return first + math.fsum(q * (g - first) for q, g in pairs if q > 0.0)


def fold(
    weigh: Weigh, alpha: float, gains: Floats, confidence: Floats | None = None
) -> tuple[list[float], list[float], list[float]]:
    """Return the weights and regrets after the last round, and the hedger's gains."""
    n = gains.shape[1]
    regrets = [0.0] * n
    weights = weigh(regrets)
    earned = []
    for t, row in enumerate(gains.tolist()):
        rated = [1.0] * n if confidence is None else confidence[t].tolist()
        played = play(weights, rated)
        if played is None:
            earned.append(math.nan)
            regrets = [(1.0 - alpha) * r for r in regrets]
        else:
            gain = gain_of(played, row)
            earned.append(gain)
            regrets = [
                (1.0 - alpha) * r + (c * (g - gain) if c > 0.0 else 0.0)
                for r, g, c in zip(regrets, row, rated, strict=True)
            ]
        weights = weigh(regrets)
    return weights, regrets, earned


def discounted_gains(alpha: float, gains: Floats) -> Floats:
    """G <- (1 - alpha) G + g, the paper's definition of the discounted total gain."""
    total = np.zeros(gains.shape[1:])
    for row in gains:
        total = (1.0 - alpha) * total + row
    return total
