"""Forecasts and weights -> one prediction, always inside the hull of the forecasts heard.

    mean      sum_i q_i x_i
    median    the weighted median: half of the weight on either side; midway where it is a tie
    vote      the forecast with the largest weight: for labels, which have no middle

A mean of wild forecasts is wild. The median is not, as long as the wild ones have less than half of
the weight.
"""

import math

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import larger

MEAN, MEDIAN, VOTE = range(3)

WAYS = {"mean": MEAN, "median": MEDIAN, "vote": VOTE}
"""Every way to combine forecasts, by name."""

TIE = 1e-12
"""Weights that differ from a half by less than this are a half: sums of floats are not exact."""


@kernel(VECTOR, inline=False)
def weighted_mean(forecasts: Floats, played: Floats) -> float:
    """Return the mean of the forecasts with weight; NaN where there are none.

    They are averaged as differences from one of them, so that equal forecasts give exactly that.
    """
    n = forecasts.size
    first = 0
    while first < n and played[first] <= 0.0:
        first += 1
    if first == n:
        return math.nan
    origin = float(forecasts[first])
    excess = 0.0
    low = origin
    high = origin
    for i in range(n):
        x = forecasts[i] if played[i] > 0.0 else origin
        excess += played[i] * (x - origin)
        high = larger(high, x)
        low = -larger(-low, -x)
    return min(max(origin + excess, low), high)


@kernel(STRICT, inline=False)
def sort_heard(forecasts: Floats, played: Floats, values: Floats, masses: Floats) -> int:
    """Write the forecasts with weight in rising order, and their weights; return how many.

    Shell's sort: few experts have weight, and for few it is as fast as any.
    """
    m = 0
    for i in range(forecasts.size):
        if played[i] > 0.0:
            values[m] = forecasts[i]
            masses[m] = played[i]
            m += 1
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, m):
            x, q = values[i], masses[i]
            j = i
            while j >= gap and values[j - gap] > x:
                values[j] = values[j - gap]
                masses[j] = masses[j - gap]
                j -= gap
            values[j] = x
            masses[j] = q
        gap //= 3
    return m


@kernel(STRICT)
def weighted_median(forecasts: Floats, played: Floats, values: Floats, masses: Floats) -> float:
    """Return the weighted median of the forecasts; NaN where none has weight."""
    m = sort_heard(forecasts, played, values, masses)
    if m == 0:
        return math.nan
    half = 0.0
    for i in range(m):
        half += 0.5 * masses[i]
    below = 0.0
    for i in range(m):
        below += masses[i]
        if below > half * (1.0 + TIE) or i == m - 1:
            return float(values[i])
        if below >= half * (1.0 - TIE):
            return float(values[i] + 0.5 * (values[i + 1] - values[i]))
    return float(values[m - 1])


@kernel(STRICT)
def weighted_vote(forecasts: Floats, played: Floats, values: Floats, masses: Floats) -> float:
    """Return the forecast with the largest weight, the smallest of those that tie."""
    m = sort_heard(forecasts, played, values, masses)
    chosen = math.nan
    most = 0.0
    i = 0
    while i < m:
        j = i
        mass = 0.0
        while j < m and values[j] == values[i]:
            mass += masses[j]
            j += 1
        if mass > most * (1.0 + TIE):
            most, chosen = mass, float(values[i])
        i = j
    return chosen


@kernel(STRICT, inline=False)
def combine(
    forecasts: Floats, played: Floats, way: int, values: Floats, masses: Floats, result: Floats
) -> None:
    """Write the combined forecast, for each class where there are classes."""
    for k in range(len(forecasts)):
        if way == MEDIAN:
            result[k] = weighted_median(forecasts[k], played, values, masses)
        elif way == VOTE:
            result[k] = weighted_vote(forecasts[k], played, values, masses)
        else:
            result[k] = weighted_mean(forecasts[k], played)
