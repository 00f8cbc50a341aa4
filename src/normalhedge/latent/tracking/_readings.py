"""The resolution of the readings of a sensor, found as they come in."""

from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats

REPEATS = 0.2
"""The share of repeated readings from which on rounding counts in full."""

MEMORY = 50.0
"""The memory of the share of repeated readings, in readings."""

TINY = 1e-280
"""The smallest variance of the noise."""


class Readings(NamedTuple):
    """Summaries of the readings, a number for each column."""

    last: Floats  # the last reading; NaN before the first one
    # least, second: the two smallest nonzero differences between successive readings, forgotten
    # slowly
    least: Floats
    second: Floats
    # repeated, pairs: the share of readings that repeat the previous one, and the number of pairs
    # behind it
    repeated: Floats
    pairs: Floats

    def rounding(self) -> Floats:
        """Return the variance of rounding, resolution^2 / 12; 0 if readings do not repeat."""
        width = np.where(np.isfinite(self.second), self.second, 0.0)
        return np.square(width) / 12.0 * np.minimum(self.repeated / REPEATS, 1.0)


def after(known: Readings, y: Floats) -> Readings:
    """Return the summaries after one more reading."""
    step = np.abs(y - known.last)
    pair = np.isfinite(step)
    repeats = pair & (step <= 2.0 * np.spacing(np.abs(np.where(pair, y, 0.0))))
    pairs = np.where(pair, np.minimum(known.pairs + 1.0, MEMORY), known.pairs)
    share = known.repeated + np.where(pair, repeats - known.repeated, 0.0) / np.maximum(pairs, 1.0)
    moved, slow = pair & ~repeats, 1.0 + 1.0 / MEMORY
    least, second = known.least * slow, known.second * slow
    return Readings(
        np.where(np.isfinite(y), y, known.last),
        np.where(moved, np.minimum(least, step), known.least),
        np.where(moved, np.minimum(second, np.maximum(least, step)), known.second),
        share,
        pairs,
    )


def least_variance(place: Any) -> Any:
    """Return the smallest variance of noise at a place: that of the last digit of a float."""
    return np.square(2.0**-52 * place) + TINY
