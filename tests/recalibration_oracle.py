"""Slow and obvious: recalibrations of class probabilities, and their meta level, in NumPy.

Written from the words at the top of ``src/core/recalibrating.hpp``. The base forecasts (the blend
before recalibrations, and the logarithmic pool with even weights) are given.
"""

import numpy as np

from normalhedge.boundary.inputs import Floats
from tests.automatic_oracle import Level, LossOf, Portion, Usual, UsualRows, averaged

FLOOR = 1e-6
TRUST = 0.95
RIDGES = (10.0, 3.0)


def logarithmic_pool(forecasts: Floats, weights: Floats) -> Floats:
    """Return the normalised geometric mean of the columns of a table of classes x experts."""
    awake = ~np.isnan(forecasts[0])
    logs = np.log(np.maximum(forecasts[:, awake], FLOOR))
    return softmax(logs @ (weights[awake] / weights[awake].sum()))


def softmax(scores: Floats) -> Floats:
    """Return the probabilities that are proportional to the exponentials of scores."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


class Recalibration:
    """Shifts and a temperature."""

    def __init__(self, classes: int, ridge: float) -> None:
        self.ridge, self.learned = ridge, False
        self.G, self.H = np.zeros(classes + 1), np.zeros(classes + 1)  # the temperature comes last

    def parameters(self) -> Floats:
        """Return the shifts, and the inverse temperature less one."""
        return np.asarray(self.G / (self.ridge + self.H))

    def forecast(self, base: Floats) -> Floats:
        """Return the recalibrated base."""
        if not self.learned:
            return base
        theta = self.parameters()
        shifts, inverse = np.clip(theta[:-1], -4.0, 4.0), np.clip(1.0 + theta[-1], 0.1, 20.0)
        return softmax(shifts + inverse * np.log(np.maximum(base, FLOOR)))

    def settle(self, bases: Floats, outcomes: Floats, late: float, portion: Portion) -> None:
        """Learn from the rows of a round; an outcome is NaN if it is not known."""
        known = [(b, int(y)) for b, y in zip(bases, outcomes, strict=True) if not np.isnan(y)]
        theta = self.parameters()
        theta[:-1] = np.clip(theta[:-1], -4.0, 4.0)
        theta[-1] = np.clip(1.0 + theta[-1], 0.1, 20.0) - 1.0
        G, H = np.zeros_like(theta), np.zeros_like(theta)
        for base, y in known:
            x = np.log(np.maximum(base, FLOOR))
            p = softmax(theta[:-1] + (1.0 + theta[-1]) * x)
            rises = p - np.eye(len(p))[y]
            slopes = np.append(rises, rises @ x)
            spreads = np.append(p * (1.0 - p), p @ (x - p @ x) ** 2)
            curvatures = np.maximum(spreads, slopes**2)
            G += curvatures * theta - slopes
            H += curvatures
        keep = (1.0 - 0.005 / (1 + late)) ** portion.share
        weight = portion.share / (len(known) * (1 + late))
        self.G, self.H = keep * self.G + weight * G, keep * self.H + weight * H
        self.learned = True


class Recalibrator:
    """The base, its recalibration and that of the pool, and the level that weighs them."""

    def __init__(self, classes: int, loss: LossOf) -> None:
        self.parts = [Recalibration(classes, ridge) for ridge in RIDGES]
        rest = (1.0 - TRUST) / len(RIDGES)
        self.level = Level(np.array([TRUST, rest, rest]), loss, 0.01)
        self.usual: dict[int, Usual] = {}
        self.usual_rows = UsualRows()

    def predict(self, base: Floats, pool: Floats) -> Floats:
        """Return the forecast that is followed, the base and its recalibrations."""
        said = [base, *(p.forecast(b) for p, b in zip(self.parts, (base, pool), strict=True))]
        classes = np.transpose(said).tolist()
        followed = [averaged(values, self.level.weights) for values in classes]
        return np.array([followed, *said])

    def settle(
        self, items: list[int], said: Floats, pools: Floats, outcomes: Floats, late: int
    ) -> None:
        """Learn from a round: ``said`` is rows x forecasts x classes, as `predict` returned it."""
        usual = [self.usual.setdefault(item, Usual()) for item in items]
        known = ~np.isnan(outcomes) & ~np.isnan(said[:, 0, 0])
        portion = self.usual_rows.see(int(np.count_nonzero(known)))
        if len(self.usual) == 1:
            portion = Portion()
        delay = late * portion.mean_share
        self.level.settle(said[:, 1:], said[:, 0], outcomes, usual, delay, portion)
        for part, bases in zip(self.parts, (said[:, 1], pools), strict=True):
            part.settle(bases, outcomes, delay, portion)
