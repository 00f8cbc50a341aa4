"""One round of the game on discounted regrets, compiled; and many.

Weights p, regrets R, gains g, confidences k in [0, 1] (all ones when not given):

    q_i = p_i k_i / Z,   Z = sum_i p_i k_i          what is played
    g_A = sum_i q_i g_i                             the hedger's gain
    R_i <- (1 - alpha) R_i + k_i (g_i - g_A)        discounted regrets
    p_i <- Phi'(R_i) / sum_j Phi'(R_j)              see `potentials`

The factor k_i on the whole difference makes ``sum_i Phi'(R_i) k_i (g_i - g_A) = 0``, which is what
the bounds rest on. Where Z = 0, experts without weight are the only ones awake and q ∝ k: any play
keeps the bound. Where nobody is awake nothing is played, and the regrets only decay.
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._threads import slices, spread
from normalhedge._vector import exp2, larger
from normalhedge.potentials import (
    TINY,
    added,
    leading,
    log2_ratio,
    log_mean,
    normalise,
    raise_weights,
    shares,
    weigh,
)

BAD_INPUT = math.inf
"""Returned in place of the hedger's gain where a gain or a confidence is out of range."""

SMALLEST = 5e-324
"""The smallest float above zero."""

ABSTAINED = math.nan
"""Returned in place of the hedger's gain where nobody was awake."""


@kernel(VECTOR)
def reference(gains: np.ndarray, confidence: Floats | None) -> float:
    """Return the gain of the first expert awake, 0 when nobody is.

    Gains are averaged as differences from it, so that tied experts give exactly their common gain:
    an error of one ulp would make a regret of 1e-16 out of none, and weights out of that.
    """
    if confidence is None:
        return np.float64(gains[0])
    for i in range(gains.size):
        if confidence[i] > 0.0:
            return np.float64(gains[i])
    return 0.0


@kernel(VECTOR)
def tally(
    weights: Floats, gains: np.ndarray, confidence: Floats | None, origin: float
) -> tuple[float, float, float, int]:
    """Return sum p k (g - origin), sum p k, sum k, and how many entries are out of range.

    The gain of an expert that sleeps is not looked at: it may be anything.
    """
    excess = 0.0
    mass = 0.0
    awake = 0.0
    bad = 0
    for i in range(weights.size):
        if confidence is None:
            g = np.float64(gains[i])  # before abs: the int8 -128 has no absolute value
            bad += not (abs(g) <= 1.0)
            excess += weights[i] * (g - origin)
        else:
            k = confidence[i]
            g = np.float64(gains[i] if k > 0.0 else origin)
            bad += not (k >= 0.0 and k <= 1.0 and abs(g) <= 1.0)
            awake += k
            mass += weights[i] * k
            excess += weights[i] * k * (g - origin)
    return excess, mass, awake, bad


@kernel(VECTOR)
def share(
    weights: Floats,
    regrets: Floats,
    confidence: Floats,
    rate: float,
    squared: bool,
    played: Floats,
) -> None:
    """Write q, what is played; all zeros when nobody is awake."""
    loudest = max(leading(confidence), SMALLEST)  # so that tiny confidences keep their digits
    for i in range(weights.size):
        played[i] = weights[i] * (confidence[i] / loudest)
    total = added(played)
    if total <= TINY:
        # All the weight is asleep. Weigh those awake among themselves: their weights may have
        # vanished only beside a sleeper's.
        awake = np.empty_like(regrets)
        for i in range(regrets.size):
            awake[i] = regrets[i] if confidence[i] > 0.0 else -np.inf
        weigh(awake, rate, squared, played)
        for i in range(played.size):
            played[i] *= confidence[i] / loudest
        total = added(played)
    if total <= TINY:
        for i in range(played.size):
            played[i] = confidence[i] / loudest
        total = added(played)
    if total > 0.0:
        for i in range(played.size):
            played[i] /= total


@kernel(VECTOR)
def settle(
    origin: float,
    tallied: tuple[float, float, float, int],
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    rate: float,
    squared: bool,
) -> float:
    """Return the hedger's gain from the tally, or `BAD_INPUT` or `ABSTAINED`."""
    excess, mass, awake, bad = tallied
    if bad > 0:
        return BAD_INPUT
    if confidence is not None:
        if awake == 0.0:
            return ABSTAINED
        if mass > TINY:
            excess /= mass
        else:
            played = np.empty_like(weights)
            share(weights, regrets, confidence, rate, squared, played)
            excess = 0.0
            for i in range(played.size):
                excess += played[i] * (np.float64(gains[i] if played[i] > 0.0 else origin) - origin)
    return min(max(origin + excess, -1.0), 1.0)


@kernel(VECTOR)
def decay(
    regrets: Floats, gains: np.ndarray, confidence: Floats | None, keep: float, gain: float
) -> float:
    """Replace the regrets by ``keep R + k (g - g_A)``; return the largest."""
    lead = -np.inf
    for i in range(regrets.size):
        if confidence is None:
            r = keep * regrets[i] + (gains[i] - gain)
        else:
            g = gains[i] if confidence[i] > 0.0 else gain
            r = keep * regrets[i] + confidence[i] * (g - gain)
        regrets[i] = r
        lead = larger(lead, r)
    return lead


@kernel(VECTOR)
def advance(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
    gain: float,
) -> tuple[float, float, float]:
    """Update the regrets and write the weights up to a factor.

    Return the largest regret, and the sums of the weights and of the potentials relative to it.
    """
    lead = decay(regrets, gains, confidence, keep, 0.0 if np.isnan(gain) else gain)
    total, mass = raise_weights(regrets, weights, rate, squared, lead)
    return lead, total, mass


@kernel(VECTOR)
def finish(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
    gain: float,
) -> tuple[float, float, float]:
    """Update the regrets and write the weights; return gain, largest regret and ln mean Phi."""
    lead, total, mass = advance(weights, regrets, gains, confidence, keep, rate, squared, gain)
    scale, uniform = shares(total, weights.size)
    normalise(weights, scale, uniform)
    return gain, lead, log_mean(mass, weights.size, rate, squared, lead)


@kernel(VECTOR)
def step(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
) -> tuple[float, float, float]:
    """Play a round in place; return the hedger's gain, the largest regret and ln mean Phi.

    Bad input is found before anything is written.
    """
    origin = reference(gains, confidence)
    tallied = tally(weights, gains, confidence, origin)
    gain = settle(origin, tallied, weights, regrets, gains, confidence, rate, squared)
    if gain == BAD_INPUT:
        return gain, 0.0, 0.0
    return finish(weights, regrets, gains, confidence, keep, rate, squared, gain)


@kernel(VECTOR)
def step_anew(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
    new_weights: Floats,
    new_regrets: Floats,
) -> tuple[float, float, float]:
    """Do as `step` does, into other arrays."""
    origin = reference(gains, confidence)
    tallied = tally(weights, gains, confidence, origin)
    gain = settle(origin, tallied, weights, regrets, gains, confidence, rate, squared)
    if gain == BAD_INPUT:
        return gain, 0.0, 0.0
    for i in range(regrets.size):
        new_regrets[i] = regrets[i]
    return finish(new_weights, new_regrets, gains, confidence, keep, rate, squared, gain)


def step_in_slices(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
) -> tuple[float, float, float]:
    """Do as `step` does, by the same kernels, on all cores.

    A slice is weighed relative to its own leader while it is still in the cache, and brought to
    the common measure when the weights are normalised.
    """
    n = weights.size
    origin = reference(gains, confidence)
    pieces = [
        (
            weights[part],
            regrets[part],
            gains[part],
            None if confidence is None else confidence[part],
        )
        for part in slices(n)
    ]
    tallies = spread(lambda w, _, g, k: tally(w, g, k, origin), pieces)
    excess, mass, awake, bad = (sum(column) for column in zip(*tallies, strict=True))
    tallied = (excess, mass, awake, int(bad))
    gain = settle(origin, tallied, weights, regrets, gains, confidence, rate, squared)
    if gain == BAD_INPUT:
        return gain, 0.0, 0.0
    leads, totals, masses = zip(
        *spread(lambda w, r, g, k: advance(w, r, g, k, keep, rate, squared, gain), pieces),
        strict=True,
    )
    lead = max(leads)
    ratios = [exp2(log2_ratio(own, lead, rate, squared)) for own in leads]
    total = sum(ratio * part for ratio, part in zip(ratios, totals, strict=True))
    mass = sum(ratio * part for ratio, part in zip(ratios, masses, strict=True))
    scale, uniform = shares(total, n)
    spread(
        normalise,
        [(piece[0], ratio * scale, uniform) for piece, ratio in zip(pieces, ratios, strict=True)],
    )
    return gain, lead, log_mean(mass, n, rate, squared, lead)


@kernel(VECTOR)
def run(
    weights: Floats,
    regrets: Floats,
    gains: np.ndarray,
    confidence: Floats | None,
    keep: float,
    rate: float,
    squared: bool,
    earned: Floats,
    leads: Floats,
    log_potentials: Floats,
    played: Floats | None,
) -> int:
    """Play the rounds in place; return how many were played before bad input, if any."""
    for t in range(len(gains)):
        if confidence is None:
            if played is not None:
                played[t] = weights
            results = step(weights, regrets, gains[t], None, keep, rate, squared)
        else:
            if played is not None:
                share(weights, regrets, confidence[t], rate, squared, played[t])
            results = step(weights, regrets, gains[t], confidence[t], keep, rate, squared)
        if results[0] == BAD_INPUT:
            return t
        earned[t], leads[t], log_potentials[t] = results
    return len(gains)
