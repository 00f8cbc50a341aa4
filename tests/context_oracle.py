"""Slow and obvious: the corrections of contexts, in NumPy.

Written from the words at the top of ``src/core/corrections.hpp``. The base forecasts and the common
correction are given: other oracles compute these.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary.inputs import Floats
from tests.automatic_oracle import Portion, UsualRows
from tests.corrections_oracle import add_error, is_due

RIDGE = 5.0
TARGET = 4.0  # of the square loss


@dataclass
class Track:
    """The errors of the blend of an item."""

    total: float = 0.0
    count: float = 0.0
    mean: float = 0.0
    last: float = 0.0

    @property
    def usual(self) -> float:
        """The discounted mean of the absolute errors."""
        return self.total / self.count if self.count > 1.5 else 0.0

    def see(self, base: float, outcome: float) -> None:
        """Count an error."""
        usual = self.usual
        if usual > 0.0:
            self.last = float(np.clip(outcome - base, -4.0 * usual, 4.0 * usual))
            self.mean += 0.05 * (self.last - self.mean)
        self.total = add_error(self.total, self.count, abs(outcome - base))
        self.count = 0.99 * self.count + 1.0


@dataclass
class Row:
    """A row as it was forecast."""

    item: int
    experts: Floats
    base: float
    common: float  # the forecast of the correction that contexts start from
    cells: Sequence[Hashable]  # a value for each context; None where it is missing
    errors: tuple[float, float] = (0.0, 0.0)  # the mean and the last error at the forecast


class ContextOracle:
    """The equations of all cells, in a game of some items."""

    def __init__(self, items: int) -> None:
        self.tracks = [Track() for _ in range(items)]
        self.equations: dict[tuple[int, Hashable], tuple[Floats, Floats]] = {}
        self.solved: dict[tuple[int, Hashable], tuple[Floats, Floats]] = {}
        self.seen: set[tuple[int, Hashable]] = set()
        self.late = self.lates = 0.0
        self.usual_rows = UsualRows()

    def _features(self, row: Row, usual: float) -> Floats:
        errors = np.clip(np.array(row.errors) / usual, -4.0, 4.0)
        experts = np.clip((row.experts - row.base) / usual, -5.0, 5.0)
        return np.array([1.0, 0.0, *errors, *np.where(np.isnan(experts), 0.0, experts)])

    def predict(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the forecast of each context, for each row; the common one without a cell."""
        for row in rows:
            self.seen |= {(k, cell) for k, cell in enumerate(row.cells) if cell is not None}
        contexts = max((k + 1 for k, _ in self.seen), default=0)
        forecasts = []
        for row in rows:
            track = self.tracks[row.item]
            row.errors = (track.mean, track.last)
            values = [row.common] * contexts
            for k, cell in enumerate(row.cells):
                if cell is None or track.usual == 0.0:
                    continue
                z = self._features(row, track.usual)
                matrix, right = self._of(self.solved, k, cell, len(z))
                solution = np.linalg.solve(matrix + RIDGE * np.eye(len(z)), np.stack([right, z], 1))
                shift, leverage = z @ solution
                pending = self.late * contexts / len(self.seen)
                shift /= 1.0 + (1.0 + pending) * leverage
                values[k] = row.common + track.usual * float(np.clip(shift, -4.0, 4.0))
            forecasts.append(values)
        return forecasts

    def learn(self, rows: Sequence[Row], outcomes: Sequence[float], late: int) -> None:
        """Learn from the outcomes of a round, after which so many rounds were predicted."""
        known = [(row, y) for row, y in zip(rows, outcomes, strict=True) if not np.isnan(y)]
        if not known:
            return
        several = len(self.tracks) > 1
        portion = self.usual_rows.see(len(known)) if several else Portion()
        self.lates = 0.95 * self.lates + 1.0
        self.late += (late * portion.mean_share - self.late) / self.lates
        for row, y in known:
            self.tracks[row.item].see(row.base, y)
        for row, y in known:
            usual = self.tracks[row.item].usual
            if usual == 0.0:
                continue
            z = self._features(row, usual)
            target = np.clip((y - row.common) / usual, -TARGET, TARGET)
            weight = math.sqrt(portion.share / len(known))
            for k, cell in enumerate(row.cells):
                if cell is None:
                    continue
                matrix, right = self._of(self.equations, k, cell, len(z))
                matrix = matrix + weight * np.outer(z, z)
                self.equations[k, cell] = (matrix, right + weight * target * z)
        for key in {(k, cell) for row, _ in known for k, cell in enumerate(row.cells)}:
            if key in self.equations:
                rounds, added = self.equations[key][0][0, 0], math.sqrt(portion.share * len(known))
                if is_due(rounds - added, rounds, len(self.equations[key][1])):
                    self.solved[key] = self.equations[key]

    @staticmethod
    def _of(
        equations: dict[tuple[int, Hashable], tuple[Floats, Floats]],
        context: int, cell: Hashable, size: int,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        empty = np.zeros((size, size)), np.zeros(size)
        return equations.get((context, cell), empty)
