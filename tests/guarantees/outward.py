"""The inequality by a second method: intervals of doubles, rounded outwards, without derivatives.

It shares nothing with `check_proof`: neither its arithmetic, nor its mean value form, nor its
formula for G, but for the division by alpha Phi(x).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Bounds = tuple[tuple[float, float], tuple[float, float]]


class Interval:
    """Arrays of intervals; every operation is rounded outwards."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)

    @classmethod
    def of(cls, value: "Interval | Fraction | float") -> "Interval":
        if isinstance(value, Interval):
            return value
        near = float(value)
        exact = Fraction(near) == Fraction(value)
        low, high = (near, near) if exact else (np.nextafter(near, -9e9), np.nextafter(near, 9e9))
        return cls(low, high)

    def _outwards(self, low: Any, high: Any, steps: int = 1) -> "Interval":
        for _ in range(steps):
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        return Interval(low, high)

    def __add__(self, other: Any) -> "Interval":
        other = Interval.of(other)
        return self._outwards(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Any) -> "Interval":
        return self + -Interval.of(other)

    def __rsub__(self, other: Any) -> "Interval":
        return Interval.of(other) - self

    def __mul__(self, other: Any) -> "Interval":
        other = Interval.of(other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return self._outwards(np.minimum.reduce(corners), np.maximum.reduce(corners))

    __rmul__ = __mul__

    def square(self) -> "Interval":
        ends = self.low * self.low, self.high * self.high
        around = (self.low <= 0) & (self.high >= 0)
        return self._outwards(np.where(around, 0.0, np.minimum(*ends)), np.maximum(*ends))

    def inverse(self) -> "Interval":
        assert (self.low > 0).all()
        return self._outwards(1 / self.high, 1 / self.low)

    def exp(self) -> "Interval":
        found = self._outwards(np.exp(self.low), np.exp(self.high), 4)
        return Interval(np.maximum(found.low, 0.0), found.high)


def remainder(w: Interval, order: int) -> Interval:
    """Enclose ``sum_k w^k / (k + order)!``, which increases with w, by its ends."""
    ends = []
    for end in (Interval(w.low, w.low), Interval(w.high, w.high)):
        terms, factor = 40, Fraction(1)
        factors = []
        for k in range(1, terms + order + 1):
            factor /= k
            if k >= order:
                factors.append(factor)
        total = Interval.of(0.0)
        for value in reversed(factors[:terms]):
            total = total * end + value
        size = np.abs(end.low)
        assert (size < 8).all()
        rest = 2 * size**terms * float(factors[terms - 1])
        ends.append(Interval(total.low - rest, total.high + rest))
    return Interval(ends[0].low, ends[1].high)


def shown(gap: Callable[[Interval, Interval], Interval], sides: Bounds, inside: Any) -> bool:
    """Whether a gap is positive on a rectangle: halve the boxes where that is not clear."""
    boxes = np.array([[sides[0][0], sides[0][1], sides[1][0], sides[1][1]]])
    for step in range(40):
        middle = (boxes[:, 2 * (step % 2)] + boxes[:, 2 * (step % 2) + 1]) / 2
        one, other = boxes.copy(), boxes.copy()
        one[:, 2 * (step % 2) + 1] = other[:, 2 * (step % 2)] = middle
        boxes = np.concatenate([one, other])
        boxes = boxes[inside(boxes[:, 0], boxes[:, 2])]
        if step >= 7 and len(boxes):
            found = gap(Interval(boxes[:, 0], boxes[:, 1]), Interval(boxes[:, 2], boxes[:, 3]))
            boxes = boxes[~(found.low >= 0)]
        if not len(boxes):
            return True
        if len(boxes) > 200_000:
            return False
    return False
