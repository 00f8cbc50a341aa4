"""Slow and obvious: the debiased correction, in NumPy.

Written from the words at the top of ``src/core/debiasing.hpp``.
"""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from tests.automatic_oracle import combined

KEEPS = (0.95, 0.99, 1.0)
RIDGE = np.diag([1.0, 2.0])


class Scales(NamedTuple):
    """The mean error of the median of an item, and the usual place of its blend."""

    error: float
    mean: float
    deviation: float

    def place(self, x: float) -> float:
        return (
            float(np.clip((x - self.mean) / self.deviation, -3.0, 3.0)) if self.deviation else 0.0
        )


class Source:
    """An expert, the plain mean or the plain median."""

    def __init__(self) -> None:
        self.matrices = [np.zeros((2, 2)) for _ in KEEPS]
        self.rights = [np.zeros(2) for _ in KEEPS]
        self.losses, self.usual = np.zeros(1 + 2 * len(KEEPS)), 0.0

    def _fits(self, around: "Source | None") -> list[tuple[float, Floats]]:
        """Return for each memory the bias, and the bias with a scale."""
        starts = around._fits(None) if around else [(0.0, np.zeros(2))] * len(KEEPS)
        fits = []
        for matrix, right, (bias, line) in zip(self.matrices, self.rights, starts, strict=True):
            ridged = matrix + RIDGE
            alone = float(np.clip((right[0] + bias) / ridged[0, 0], -4.0, 4.0))
            fits.append((alone, np.linalg.solve(ridged, right + RIDGE @ line)))
        return fits

    def shifts(self, place: float, around: "Source | None") -> Floats:
        """Return the shifts of all versions, in usual errors."""
        shifts = [0.0]
        for bias, line in self._fits(around):
            shifts += [bias, float(np.clip(line @ [1.0, place], -4.0, 4.0))]
        return np.array(shifts)


def power(*, smooth: bool) -> float:
    return 2.0 if smooth else 1.0


class Debiased:
    """The sources of a game."""

    def __init__(self, n: int) -> None:
        self.experts = [Source() for _ in range(n)]
        self.plain = [Source(), Source()]
        self.lost = self.rounds = 0.0

    def join(self, count: int) -> None:
        self.experts += [Source() for _ in range(count)]

    def _awake(
        self, row: Floats, mean: float, median: float, around: "Debiased | None"
    ) -> list[tuple[Source, float, Source | None]]:
        sources, x = self.experts + self.plain, [*row.tolist(), mean, median]
        others = around.experts + around.plain if around else [None] * len(sources)
        return [one for one in zip(sources, x, others, strict=True) if not np.isnan(one[1])]

    def _ratios(self, source: Source) -> Floats:
        usual = self.lost / self.rounds if self.rounds else 0.0
        least = 1e-200
        return np.asarray((source.losses + usual + least) / (source.usual + usual + least))

    def say(
        self, row: Floats, mean: float, median: float, scales: Scales, around: "Debiased | None", *,
        smooth: bool,
    ) -> float:  # fmt: skip
        values, weights, p = [], [], power(smooth=smooth)
        for source, x, other in self._awake(row, mean, median, around):
            ratios = self._ratios(source)
            shares = (ratios / ratios.min()) ** (-16.0 / p)
            shift = shares @ source.shifts(scales.place(x), other) / shares.sum()
            values.append(x + scales.error * float(shift))
            weights.append(float(ratios.min() ** (-4.0 / p)))
        return combined(np.array(values), np.array(weights) / sum(weights), "trimmed")

    def best(self, row: Floats, *, smooth: bool) -> float:
        """Return the best expert so far."""
        ratios = np.array([self._ratios(source)[0] for source in self.experts])[~np.isnan(row)]
        weights = (ratios / ratios.min()) ** (-16.0 / power(smooth=smooth))
        return float(weights @ row[~np.isnan(row)] / weights.sum())

    def judge(
        self, row: Floats, mean: float, median: float, scales: Scales, outcome: float,
        around: "Debiased | None", weight: float, rounds: float, *, smooth: bool,
    ) -> None:  # fmt: skip
        """Judge the versions; earlier rows fade as in so many rounds."""
        p, keep = power(smooth=smooth), 0.99**rounds
        usual = weight * min(abs(median - outcome) / scales.error, 20.0) ** p
        self.lost, self.rounds = keep * self.lost + usual, keep * self.rounds + weight
        for source in self.experts + self.plain:
            source.losses, source.usual = keep * source.losses, keep * source.usual
        for source, x, other in self._awake(row, mean, median, around):
            errors = (outcome - x) / scales.error - source.shifts(scales.place(x), other)
            source.losses = source.losses + weight * np.minimum(np.abs(errors), 20.0) ** p
            source.usual += usual

    def learn(
        self, row: Floats, mean: float, median: float, scales: Scales, outcome: float,
        target: float, weight: float, rounds: float,
    ) -> None:  # fmt: skip
        """Learn from the errors; earlier rows fade as in so many rounds."""
        for source in self.experts + self.plain:
            source.matrices = [
                k**rounds * matrix for k, matrix in zip(KEEPS, source.matrices, strict=True)
            ]
            source.rights = [
                k**rounds * right for k, right in zip(KEEPS, source.rights, strict=True)
            ]
        for source, x, _ in self._awake(row, mean, median, None):
            z = np.array([1.0, scales.place(x)])
            error = float(np.clip((outcome - x) / scales.error, -target, target))
            source.matrices = [m + weight * np.outer(z, z) for m in source.matrices]
            source.rights = [r + weight * error * z for r in source.rights]
