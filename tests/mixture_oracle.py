"""Slow and obvious: a mixture of NormalHedge, one expert and one row at a time, in plain Python.

A round is a list of rows; a row is a list of forecasts, None for an expert that sleeps.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import default_c
from tests.gains_oracle import Judge, Range, Settled, weighted_median
from tests.oracles import gain_of, normal_weights, play

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


class NormalHedge:
    """NormalHedge, one expert at a time."""

    by_losses = invariant = False

    def __init__(self, n: int, alpha: float, c: float) -> None:
        self.alpha, self.c = alpha, c
        self.regrets = [0.0] * n

    @property
    def weights(self) -> Floats:
        return np.array(normal_weights(self.regrets, self.alpha, self.c))

    def play(self, rated: Floats) -> Floats:
        played = play(self.weights.tolist(), rated.tolist())
        return np.zeros(len(rated)) if played is None else np.array(played)

    def step(self, gains: Floats, rated: Floats, told: float | None = None) -> None:
        played = play(self.weights.tolist(), rated.tolist())
        if played is None:
            self.regrets = [(1 - self.alpha) * r for r in self.regrets]
            return
        earned = gain_of(played, gains.tolist()) if told is None else told
        self.regrets = [
            (1 - self.alpha) * r + k * (g - earned)
            for r, k, g in zip(self.regrets, rated, gains, strict=True)
        ]

    def halve(self) -> None:
        self.regrets = [r / 2 for r in self.regrets]


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
        self.even, self.combine = even, combine
        self.rule = NormalHedge(n, alpha, c)
        self.judge = Judge(LOSSES[loss], SLOPES[loss] if gradient else None)
        self.ranges: dict[int, Range] = {}
        self.losses = np.zeros(n)
        self.late = False

    @property
    def regrets(self) -> list[float]:
        return self.rule.regrets

    @property
    def weights(self) -> list[float]:
        weights: list[float] = self.rule.weights.tolist()
        return weights

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
        self,
        rows: Sequence[Row],
        values: Sequence[float | None],
        outcomes: Sequence[float],
        late: int = 0,
    ) -> None:
        """Learn from rows, so many rounds after they were predicted.

        From the first late outcome on, regrets move by the loss of the blend, and c is larger.
        """
        if late:
            self.late, self.rule.c = True, max(self.rule.c, default_c(late))
        settled = []
        for item, (row, value, y) in enumerate(zip(rows, values, outcomes, strict=True)):
            forecasts = np.array([math.nan if x is None else x for x in row])
            rated = np.where(np.isnan(forecasts), 0.0, 1.0)
            own = self.ranges.setdefault(item, Range())
            settled.append(Settled(forecasts, rated, value, y, own))
        leads = self.judge.settle(self.rule, settled, late=self.late)
        if leads is not None:
            self.losses = (1 - self.rule.alpha) * self.losses + leads
