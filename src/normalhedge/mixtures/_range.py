"""How the range of losses is learned; compiled.

There is one range for each item (a series, a component). It is a power of two, so that
changing it loses no digits. It starts at twice the median of ``l_i - l_min`` in the first row whose
experts differ. When half of the weight lies beyond it, it doubles, and the regrets are halved, so
that what was learned keeps its meaning (all that the hedger remembers follows, each thing by its
degree: see `normalhedge.hedgers._native`); never more than once in a row, and what lies beyond is
clipped. So a single wild outcome costs at most one doubling, and a wild expert without weight none.
When the mean of ``min(l_i - l_min, s) / s`` by weight, over some 16 rows, falls below 1/16 it is
halved; the regrets stay, so no weight changes. The first row is believed whatever it is: a range
that is 10^6 too large is halved away in some 300 rows. Both keep what is promised of the regrets,
in units of gain, where the hedger goes by a potential of its regrets or is free of scale: halving
regrets raises no potential, and halving the range leaves them alone.
"""

import math

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge.mixtures.combining import weighted_median
from normalhedge.potentials import TINY

FULLEST = 2.0
EMPTIEST = 1.0 / 16.0
SPEED = 1.0 / 16.0
"""How the range follows the spread of the losses; see above."""


@kernel(STRICT)
def power_of_two(x: float) -> float:
    """Return the smallest power of two that is at least x > 0."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent - (mantissa == 0.5))


@kernel(STRICT, inline=False)
def first_range(excess: Floats, rated: Floats) -> float:
    """Return twice the median excess loss of those awake, as a power of two; 0 if all tie.

    Twice their mean, if more than half of them tie with the best.
    """
    n = rated.size
    alike = np.empty(n)
    for i in range(n):
        alike[i] = 1.0 if rated[i] > 0.0 else 0.0
    middle = weighted_median(excess, alike, np.empty(n), np.empty(n))
    if middle <= TINY:
        middle = 0.0
        awake = 0
        for i in range(rated.size):
            if rated[i] > 0.0:
                middle += excess[i]
                awake += 1
        middle /= awake
    return power_of_two(FULLEST * middle) if middle > TINY else 0.0


@kernel(VECTOR, inline=False)
def learn_range(excess: Floats, rated: Floats, weights: Floats, learned: Floats) -> bool:
    """Adapt a range, and how far it was filled lately, to the excess losses of a row.

    Return whether it doubled.
    """
    size = learned[0]
    heard = 0.0
    beyond = 0.0
    awake = 0
    far = 0
    inside = 0.0
    for i in range(weights.size):
        here = rated[i] > 0.0
        mass = weights[i] * rated[i]
        spread = excess[i] if here else 0.0
        heard += mass
        awake += 1 if here else 0
        inside += mass * min(spread, size)
        far += 1 if spread > size else 0
        beyond += mass if spread > size else 0.0
    if awake == 0:
        return False
    if size == 0.0:
        learned[0] = first_range(excess, rated)
        learned[1] = 1.0
        return False
    grew = beyond >= 0.5 * heard if heard > TINY else 2 * far >= awake
    if grew:
        learned[0] *= 2.0
        learned[1] *= 0.5
        return True
    if inside > 0.0:
        learned[1] += SPEED * (inside / (heard * size) - learned[1])
        if learned[1] < EMPTIEST and size > 1e-250:
            learned[0] *= 0.5
            learned[1] *= 2.0
    return False
