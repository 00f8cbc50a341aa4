"""The record of one run, and the means over several runs."""

import math
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers.trace import Curves


class Record(NamedTuple):
    """The record of one run."""

    # regret, potential, gain, quantile_regret: hedgers x recorded rounds, as in `Trace`
    regret: Floats
    potential: Floats
    gain: Floats
    quantile_regret: Floats | None
    weights: Floats | None  # hedgers x recorded rounds x experts
    part_regret: Floats  # hedgers x parts
    # highest_regret, highest_potential: the largest of all rounds, for each hedger
    highest_regret: Floats
    highest_potential: Floats


class Plan(NamedTuple):
    """The rounds that are recorded."""

    rounds: int  # the length of the game
    every: int  # the distance between recorded rounds
    parts: int  # how many equal parts have a mean regret
    quantile: float | None  # the epsilon of the quantile regret; None: it is not recorded

    @property
    def recorded(self) -> np.ndarray:
        """The recorded rounds."""
        return np.arange(self.every, self.rounds + 1, self.every)

    @property
    def edges(self) -> np.ndarray:
        """The rounds at which the parts begin and end."""
        return np.arange(self.parts + 1) * self.rounds // self.parts


class Means:
    """Means and standard deviations over runs, added up in the order of the runs (Welford)."""

    def __init__(self, hedgers: int, runs: int, parts: int) -> None:
        self.moments: dict[str, tuple[Floats, Floats, Any]] = {}
        self.highest_regret = np.full(hedgers, -math.inf)
        self.highest_potential = np.full(hedgers, -math.inf)
        self.part_regret = np.empty((hedgers, runs, parts))

    def add(self, run: int, record: Record) -> None:
        """Add the record of a run."""
        self.highest_regret = np.maximum(self.highest_regret, record.highest_regret)
        self.highest_potential = np.maximum(self.highest_potential, record.highest_potential)
        self.part_regret[:, run] = record.part_regret
        for name in ("regret", "potential", "gain", "quantile_regret"):
            values = getattr(record, name)
            if values is not None:
                self._add(name, values)

    def _add(self, name: str, values: Floats) -> None:
        zero = np.zeros_like(values)
        mean, squares, count = self.moments.get(name, (zero, zero, zero))
        known = ~np.isnan(values)
        count = count + known
        delta = np.where(known, values - mean, 0.0)
        mean = mean + delta / np.maximum(count, 1)
        squares = squares + np.where(known, delta * (values - mean), 0.0)
        self.moments[name] = (mean, squares, count)

    def curves(self, name: str) -> Curves:
        """Return the mean and the standard deviation of a field of `Record`."""
        mean, squares, count = self.moments[name]
        spread = np.sqrt(squares / np.maximum(count - 1, 1))
        return Curves(np.where(count > 0, mean, math.nan), spread)
