"""Slow and obvious: a mixture of NormalHedge, one expert and one row at a time, in plain Python.

A round is a list of rows; a row is a list of forecasts, None for an expert that sleeps. Written
from the words at the top of `normalhedge.mixtures._play` and `_range`, not from their code.
"""

import math
from collections.abc import Callable, Sequence

from tests.oracles import normal_weights, play

Row = Sequence[float | None]

LOSSES: dict[str, Callable[[float, float], float]] = {
    "square": lambda x, y: (x - y) ** 2,
    "absolute": lambda x, y: abs(x - y),
    "pinball:level=0.9": lambda x, y: 0.9 * (y - x) if x < y else 0.1 * (x - y),
}

SLOPES: dict[str, Callable[[float, float], float]] = {
    "square": lambda x, y: 2 * (x - y),
    "absolute": lambda x, y: (x > y) - (x < y),
    "pinball:level=0.9": lambda x, y: 0.1 if x > y else -0.9 if x < y else 0.0,
}


def weighted_median(pairs: list[tuple[float, float]]) -> float:
    """Return the median of (forecast, weight); midway where half of the weight ends on one."""
    pairs = sorted((x, q) for x, q in pairs if q > 0)
    half, below = math.fsum(q for _, q in pairs) / 2, 0.0
    for k, (x, q) in enumerate(pairs):
        below += q
        if math.isclose(below, half, rel_tol=1e-12):
            return (x + pairs[k + 1][0]) / 2
        if below > half:
            return x
    return pairs[-1][0]


class Range:
    """The learned range of losses."""

    def __init__(self) -> None:
        self.size, self.fill = 0.0, 1.0

    def learn(self, excess: Sequence[float | None], masses: Sequence[float]) -> bool:
        """Adapt to the excess losses of those awake; return whether it doubled."""
        awake = [(e, m) for e, m in zip(excess, masses, strict=True) if e is not None]
        if not awake:
            return False
        values = sorted(e for e, _ in awake)
        if self.size == 0.0:
            middle = weighted_median([(e, 1.0) for e in values])
            middle = middle or math.fsum(values) / len(values)
            self.size = 2.0 ** math.ceil(math.log2(2 * middle)) if middle else 0.0
            return False
        heard = math.fsum(m for _, m in awake)
        edge = self.size * (1 + 1e-12)  # what differs by rounding alone is the same
        beyond = math.fsum(m for e, m in awake if e > edge)
        if (
            beyond >= heard * (0.5 - 1e-12)
            if heard > 0
            else 2 * sum(e > edge for e in values) >= len(values)
        ):
            self.size *= 2
            self.fill /= 2
            return True
        inside = math.fsum(m * min(e, self.size) for e, m in awake)
        if inside > 0:
            self.fill += (inside / heard / self.size - self.fill) / 16
            if self.fill < 1 / 16:
                self.size /= 2
                self.fill *= 2
        return False


class Oracle:
    """The mixture, for numbers."""

    def __init__(
        self,
        n: int,
        alpha: float,
        c: float,
        loss: str,
        combine: str,
        *,
        gradient: bool,
        even: float = 0.0,
    ) -> None:
        self.alpha, self.c, self.even = alpha, c, even
        self.loss, self.slope = LOSSES[loss], SLOPES[loss]
        self.combine, self.gradient = combine, gradient
        self.regrets = [0.0] * n
        self.ranges: dict[int, Range] = {}
        self.pool = Range()

    @property
    def weights(self) -> list[float]:
        return normal_weights(self.regrets, self.alpha, self.c)

    def predict(self, rows: Sequence[Row]) -> list[float | None]:
        values: list[float | None] = []
        for row in rows:
            awake = [0.0 if x is None else 1.0 for x in row]
            played = play(self.weights, awake)
            if played is None:
                values.append(None)
                continue
            played = [
                (1 - self.even) * q + self.even * k / sum(awake)
                for q, k in zip(played, awake, strict=True)
            ]
            pairs = [(x, q) for x, q in zip(row, played, strict=True) if x is not None]
            if self.combine == "median":
                values.append(weighted_median(pairs))
            else:
                values.append(math.fsum(x * q for x, q in pairs))
        return values

    def update(
        self, rows: Sequence[Row], values: Sequence[float | None], outcomes: Sequence[float]
    ) -> None:
        n, weights, doubled = len(self.regrets), self.weights, False
        total, cover = [0.0] * n, [0.0] * n
        gains: list[float] = [0.0] * n
        awake = [0.0] * n
        for item, (row, value, y) in enumerate(zip(rows, values, outcomes, strict=True)):
            awake = [0.0 if x is None else 1.0 for x in row]
            if value is None:
                continue
            own = self.ranges.setdefault(item, Range())
            if self.gradient:
                slope = self.slope(value, y)
                costs = [None if x is None else slope * (x - value) for x in row]
                excess = [None if k is None else 2 * abs(k) for k in costs]
            else:
                losses = [None if x is None else self.loss(x, y) for x in row]
                best = min(k for k in losses if k is not None)
                costs = excess = [None if k is None else k - best for k in losses]
            doubled = own.learn(excess, weights)
            gains = [self._gain(k, own.size, gradient=self.gradient) for k in costs]
            if len(rows) > 1:
                played = play(weights, awake)
                assert played is not None
                earned = math.fsum(q * g for q, g in zip(played, gains, strict=True))
                for i in range(n):
                    total[i] += awake[i] * (gains[i] - earned)
                    cover[i] += awake[i]
        if len(rows) > 1:
            means = [t / k if k else None for t, k in zip(total, cover, strict=True)]
            best = max((m for m in means if m is not None), default=0.0)
            costs = [None if m is None else best - m for m in means]
            doubled = self.pool.learn(costs, [w * k for w, k in zip(weights, cover, strict=True)])
            gains = [self._gain(k, self.pool.size, gradient=False) for k in costs]
            awake = [k / len(rows) for k in cover]
        if doubled:
            self.regrets = [r / 2 for r in self.regrets]
        played = play(self.weights, awake)
        if played is None:
            self.regrets = [(1 - self.alpha) * r for r in self.regrets]
            return
        # As differences from one of them, so that ties give exactly their common gain.
        first = next(g for q, g in zip(played, gains, strict=True) if q > 0)
        earned = first + math.fsum(q * (g - first) for q, g in zip(played, gains, strict=True))
        self.regrets = [
            (1 - self.alpha) * r + k * (g - earned)
            for r, k, g in zip(self.regrets, awake, gains, strict=True)
        ]

    @staticmethod
    def _gain(cost: float | None, size: float, *, gradient: bool) -> float:
        if cost is None or size == 0.0:
            return 0.0 if gradient or cost is None else 1.0
        if gradient:
            u = min(max(2 * cost / size, -1.0), 1.0)
            return -(u + u * u / 2) / 1.5
        return 1.0 - 2.0 * min(cost / size, 1.0)
