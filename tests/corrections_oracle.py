"""Slow and obvious: the corrections of a blend, and the choice between them, in NumPy.

Written from the words at the top of ``src/core/corrections.hpp``. The base forecasts (the blend
before corrections, and the plain median) are given: `tests.automatic_oracle` computes these. All
normal equations are solved anew whenever that is due (`is_due`).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from normalhedge.boundary.inputs import Floats
from tests.automatic_oracle import Guard, Portion, UsualRows
from tests.debiasing_oracle import Debiased, Scales

WHOLE = Portion()
RATES = 0.5 ** np.arange(1, 8)
TRUST = 0.58
MANY = 64
"""The largest number of experts whose forecasts are features themselves."""


COMMON = 4
"""The features that do not belong to an expert: the constant, the base and its two errors."""


class Correction(NamedTuple):
    """A correction of the blend, or of the plain median."""

    of_median: bool = False
    of_experts: bool = True
    of_slope: bool = False
    cautious: bool = True
    steady: bool = False
    non_negative: bool = False
    keep: float = 0.99
    ridge: float = 5.0


CORRECTIONS = (
    Correction(of_experts=False, of_slope=True, ridge=10.0),
    Correction(),
    Correction(of_slope=True, steady=True, keep=1.0),
    Correction(of_median=True, cautious=False),
    Correction(of_median=True, cautious=False, non_negative=True),
)


MEMBERS = len(CORRECTIONS) + 1
"""The number of corrections; the debiased one is the last."""


def is_due(before: float, rounds: float, features: int) -> bool:
    """Tell whether equations are solved anew after so many rounds."""
    per = 1 + min(rounds / 16, 1 + features**2 / 160) // 1
    return rounds // per > before // per


class Equations:
    """The normal equations of a correction in a game."""

    def __init__(self, correction: Correction, n: int) -> None:
        self.correction = correction
        features = COMMON + (0 if not correction.of_experts else n if n <= MANY else 3)
        self.matrix, self.right = np.zeros((features, features)), np.zeros(features)
        self.solve()

    def solve(self) -> None:
        """Forecast with the present equations from now on."""
        self.solved = self.matrix, self.right

    def join(self, count: int) -> None:
        """Let experts join: their features begin with the ridge alone."""
        if self.correction.of_experts:
            self.matrix, self.right = (
                np.pad(self.matrix, (0, count)),
                np.pad(self.right, (0, count)),
            )
            self.solved = np.pad(self.solved[0], (0, count)), np.pad(self.solved[1], (0, count))

    def shift(self, z: Floats, late: float) -> float:
        """Return the correction of a forecast with these features, in usual errors."""
        shift = float(z @ self.solution(self.solved[1]))
        if self.correction.cautious:
            shift /= 1.0 + (1.0 + late) * float(z @ self.solution(z))
        return float(np.clip(shift, -4.0, 4.0))

    def learn(self, z: Floats, target: float, weight: float, keep: float) -> None:
        """Count an equation, after the earlier ones faded."""
        self.matrix = keep * self.matrix + weight * np.outer(z, z)
        self.right = keep * self.right + weight * target * z

    def solution(self, right: Floats) -> Floats:
        """Return the solution of the equations with a right side."""
        matrix = self.solved[0] + self.correction.ridge * np.eye(len(right))
        if not self.correction.non_negative:
            return np.asarray(np.linalg.solve(matrix, right))
        factor = np.linalg.cholesky(matrix)  # |factor' x - target|^2 is the same up to a constant
        target = np.linalg.solve(factor, right)
        low = np.where(np.arange(len(right)) < COMMON, -np.inf, 0.0)
        found = lsq_linear(factor.T, target, (low, np.inf), method="bvls", tol=1e-15)
        return np.asarray(found.x)


def add_error(total: float, count: float, error: float) -> float:
    """Return the sum of errors with another one; neither the first ones nor this may be wild."""
    if count <= 5.0:
        total = min(total, 20.0 * error * count)
    if total > 0.0:
        error = min(error, 20.0 * total / count)
    return 0.99 * total + error


class Track:
    """The discounted errors of an item and the place of its base."""

    def __init__(self) -> None:
        self.errors = {False: 0.0, True: 0.0}
        self.mean_error = self.last_error = self.largest = 0.0
        self.count = self.places = self.squares = self.difference = self.differences = 0.0

    def error(self, *, of_median: bool) -> float:
        return self.errors[of_median] / self.count if self.count > 1.5 else 0.0

    def see(self, base: float, median: float, outcome: float) -> None:
        usual = self.error(of_median=False)
        if usual > 0.0:
            self.last_error = float(np.clip(outcome - base, -4.0 * usual, 4.0 * usual))
            self.mean_error += 0.05 * (self.last_error - self.mean_error)
        for of_median, forecast in ((False, base), (True, median)):
            total = self.errors[of_median]
            self.errors[of_median] = add_error(total, self.count, abs(outcome - forecast))
        self.count = 0.99 * self.count + 1.0
        self.places = 0.99 * self.places + base
        self.squares = 0.99 * self.squares + base**2

    def rises(self, forecasts: Floats, chosen: float, slope: float) -> Floats | None:
        """Return the leads of the base and its corrections over the choice; None if all agree."""
        farthest = float(np.abs(forecasts - forecasts[0]).max())
        if not farthest > 1e-12 * abs(forecasts[0]):
            return None
        self.difference = 0.99 * self.difference + 0.5 * abs(slope) * farthest
        self.differences = 0.99 * self.differences + 1.0
        unit = self.difference / self.differences
        leads = slope * (chosen - forecasts)
        return np.asarray(np.clip(leads / unit, -20.0, 20.0) if unit > 0.0 else 0.0 * leads)

    def features(
        self, correction: Correction, row: Floats, base: float, errors: tuple[float, float]
    ) -> Floats:
        """Return the features of a row, NaN where an expert sleeps.

        ``errors`` are the mean and the last error; ``row`` has the experts, or three that stand for
        all of them.
        """
        mean = self.places / self.count
        deviation = math.sqrt(max(self.squares / self.count - mean**2, 0.0))
        slope = (base - mean) / deviation if correction.of_slope and deviation > 0.0 else 0.0
        error = self.error(of_median=correction.of_median)
        z = [1.0, float(np.clip(slope, -3.0, 3.0)), *np.clip(np.array(errors) / error, -4.0, 4.0)]
        if correction.of_experts:
            z += np.nan_to_num(np.clip((row - base) / error, -5.0, 5.0)).tolist()
        return np.array(z)

    @property
    def scales(self) -> Scales:
        """The units of the debiased correction."""
        mean = self.places / self.count if self.count else 0.0
        deviation = math.sqrt(max(self.squares / self.count - mean**2, 0.0)) if self.count else 0.0
        return Scales(self.error(of_median=True), mean, deviation)


class Row(NamedTuple):
    """A row whose outcome is known: forecasts after the guard, bases, errors when it was predicted.

    ``largest`` is the largest square of the mean error before the outcome.
    """

    forecasts: Floats
    features: Floats  # the forecasts, or three that stand for all of them
    bases: dict[bool, float]
    mean: float  # the plain one
    errors: tuple[float, float]
    outcome: float
    largest: float


class Choice:
    """Squint over the base and its corrections."""

    def __init__(self) -> None:
        size = 1 + 2 * MEMBERS
        self.regrets, self.squares = np.zeros(size), np.zeros(size)

    def evidence(self, count: int) -> Floats:
        R, V = self.regrets[:count, np.newaxis], self.squares[:count, np.newaxis]
        return np.asarray((RATES * np.exp(RATES * R - RATES**2 * V)).sum(axis=1))

    def learn(self, rises: Floats, late: float) -> None:
        self.regrets[: len(rises)] += rises
        self.squares[: len(rises)] += math.sqrt(1 + late) * rises**2


class Game:
    """The corrections of a game."""

    def __init__(self, n: int) -> None:
        self.equations = [Equations(one, n) for one in CORRECTIONS]
        self.debiased, self.rounds = Debiased(n), 0
        self.choice, self.late, self.weight = Choice(), 0.0, 0.0

    def note(self, late: float) -> None:
        self.weight = 0.95 * self.weight + 1.0
        self.late += (late - self.late) / self.weight

    def solve(self) -> None:
        """Count a round, and solve the equations where that is due."""
        self.rounds += 1
        if is_due(self.rounds - 1, self.rounds, max(len(one.right) for one in self.equations)):
            for one in self.equations:
                one.solve()


class Corrections:
    """All corrections of a mixture."""

    def __init__(self, n: int, target: float, slope: Callable[[float, float], float]) -> None:
        self.n, self.target, self.slope = n, target, slope
        self.shared, self.games = Game(n), dict[int, Game]()
        self.tracks, self.guards = dict[int, Track](), dict[int, Guard]()
        self.usual_rows = UsualRows()

    def join(self, count: int) -> None:
        """Let experts join."""
        self.n += count
        for game in (self.shared, *self.games.values()):
            game.debiased.join(count)
            for equations in game.equations:
                equations.join(count)

    def _guarded(self, item: int, row: Floats) -> Floats:
        return np.asarray(np.clip(row, *self.guards[item].edges(row)))

    def begin(self, items: list[int]) -> None:
        """Note that items are forecast; from two on, each has a game of its own."""
        for item in items:
            self.tracks.setdefault(item, Track())
            self.guards.setdefault(item, Guard())
        if len(self.tracks) > 1:
            for item in self.tracks:
                self.games.setdefault(item, Game(self.n))

    def predict(
        self, item: int, row: Floats, base: float, median: float, mean: float
    ) -> tuple[Floats, float, float]:
        """Return the corrections of a row, shared and alone, the choice and the best expert."""
        games = [self.shared, *([self.games[item]] if self.games else [])]
        errors = self.tracks[item].mean_error, self.tracks[item].last_error
        track, guard, row = self.tracks[item], self.guards[item], self._guarded(item, row)
        outcomes = guard.outcomes
        positive = min(outcomes, default=0.0) >= 0.0 and np.nanmin(row) >= 0.0
        smooth, scales, best = self.target == 4.0, track.scales, base
        if self.n > MANY and scales.error > 0.0:
            best = self.shared.debiased.best(row, smooth=smooth)
        features = row if self.n <= MANY else np.array([mean, median, best])
        values = []
        for game in games:
            for one, equations in zip(CORRECTIONS, game.equations, strict=True):
                usable = not one.of_median or np.count_nonzero(~np.isnan(row)) > 2
                start = median if one.of_median and usable else base
                error, value = track.error(of_median=one.of_median), start
                if usable and error > 0.0:
                    value += error * equations.shift(
                        track.features(one, features, start, errors), game.late
                    )
                values.append(max(value, 0.0) if positive and usable and error > 0.0 else value)
            value = base
            if scales.error > 0.0:
                around = None if game is self.shared else self.shared.debiased
                value = game.debiased.say(row, mean, median, scales, around, smooth=smooth)
                value = max(value, 0.0) if positive else value
            values.append(value)
        count = 1 + len(values)
        prior = np.array([TRUST, *[(1.0 - TRUST) / len(values)] * len(values)])
        weights = prior * self.shared.choice.evidence(count)
        weights /= weights.sum()
        if len(games) > 1:
            weights = (0.9 * weights + 0.1 * prior) * games[1].choice.evidence(count)
            weights /= weights.sum()
        return np.array(values), float(weights @ np.array([base, *values])), best

    def update(
        self, items: list[int], rows: Floats,
        values: list[tuple[Floats, float, float, float, float, float, tuple[float, float]]],
        outcomes: Floats, rounds_late: int,
    ) -> None:  # fmt: skip
        """Learn from outcomes.

        ``values`` has corrections, choice, base, median, mean, best expert and errors of each row.
        """
        known = [
            k for k, y in enumerate(outcomes) if not math.isnan(y) and not math.isnan(values[k][1])
        ]
        guarded = {}
        for k in known:
            self.guards[items[k]].see(rows[k], float(outcomes[k]))
            guarded[k] = self._guarded(items[k], rows[k])
        if not known:
            return
        portion = self.usual_rows.see(len(known))
        if len(self.tracks) == 1:
            portion = Portion()
        late = rounds_late * portion.mean_share
        alone = len(values[known[0]][0]) > MEMBERS
        self.shared.note(late)
        rises, counted, seen = [], set[Correction](), list[tuple[int, Row]]()
        for k in known:
            y, (corrected, chosen, base, median, mean, best, errors) = float(outcomes[k]), values[k]
            track = self.tracks[items[k]]
            rise = track.rises(np.array([base, *corrected]), chosen, self.slope(chosen, y))
            rises += [] if rise is None else [rise]
            track.see(base, median, y)
            before = track.largest
            track.largest = max(before, track.error(of_median=False) ** 2)
            stands = guarded[k] if self.n <= MANY else np.array([mean, median, best])
            row = Row(guarded[k], stands, {False: base, True: median}, mean, errors, y, before)
            seen.append((items[k], row))
            self._learn(
                self.shared, track, row, counted, rows=len(known), portion=portion, steady=not alone
            )
            if alone:
                own = self.games[items[k]]
                own.note(late)
                if rise is not None:
                    own.choice.learn(rise, late)
                self._learn(own, track, row, set())
                own.solve()
        self.shared.solve()
        self._debias(seen, portion, alone=alone)
        if rises:
            self.shared.choice.learn(portion.share * np.mean(rises, axis=0), late)

    def _learn(
        self, game: Game, track: Track, row: Row, counted: set[Correction], *,
        rows: int = 1, portion: Portion = WHOLE, steady: bool = True,
    ) -> None:  # fmt: skip
        """Count the equations of a row; the first of a round lets the earlier rounds fade."""
        for one, equations in zip(CORRECTIONS, game.equations, strict=True):
            start, error = row.bases[one.of_median], track.error(of_median=one.of_median)
            few = one.of_median and np.count_nonzero(~np.isnan(row.forecasts)) < 3
            if few or not error > 0.0:
                continue
            target = float(np.clip((row.outcome - start) / error, -self.target, self.target))
            z = track.features(one, row.features, start, row.errors)
            if one.steady and steady:  # in the unit of the outcomes, whose square is the largest
                equations.learn(z, target, error**2 / track.largest, row.largest / track.largest)
            else:
                keep = 1.0 if one in counted else one.keep**portion.share
                equations.learn(z, target, math.sqrt(portion.share / rows), keep)
            counted.add(one)

    def _debias(self, rows: list[tuple[int, Row]], portion: Portion, *, alone: bool) -> None:
        """Judge the versions of all sources, then learn from their errors."""
        common, smooth = self.shared.debiased, self.target == 4.0
        ready = [(item, row) for item, row in rows if self.tracks[item].scales.error > 0.0]
        for step in ("judge", "learn"):
            for k, (item, row) in enumerate(ready):
                scales, kept = self.tracks[item].scales, portion.share if k == 0 else 0.0
                told = (row.forecasts, row.mean, row.bases[True], scales, row.outcome)
                own = self.games[item].debiased if alone else None
                share = portion.share / len(rows)
                if step == "judge":
                    if own:
                        own.judge(*told, common, 1.0, 1.0, smooth=smooth)
                    common.judge(*told, None, share, kept, smooth=smooth)
                else:
                    if own:
                        own.learn(*told, self.target, 1.0, 1.0)
                    common.learn(*told, self.target, math.sqrt(share), kept)
