"""Slow and obvious: how a single rule learns from losses, one row at a time.

Written from the words at the top of ``src/core/gains.hpp`` and ``src/core/range.hpp``, not from
their code. A row has a forecast for each expert, NaN for one that sleeps.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from normalhedge.boundary.inputs import Floats

TIE = 1.0 + 1e-12
"""Numbers that differ by rounding alone are the same."""


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


class Rule(Protocol):
    """A hedger with its state."""

    by_losses: bool
    invariant: bool
    alpha: float

    @property
    def weights(self) -> Floats:
        """The weights, as if all experts were awake."""
        ...

    def play(self, rated: Floats) -> Floats:
        """Return the distribution for these confidences."""
        ...

    def step(self, gains: Floats, rated: Floats, told: float | None = None) -> None:
        """Play a round; the gain of the played weights may be told."""
        ...

    def halve(self) -> None:
        """Let all gains so far count half."""
        ...


class Range:
    """The learned range of losses."""

    def __init__(self) -> None:
        self.size, self.fill = 0.0, 1.0


class Asked(NamedTuple):
    """What a row asks of its range: of the experts awake, costs, weights, confidences."""

    costs: Floats
    weights: Floats
    rated: Floats
    least: float
    edge: float
    share: float

    def met_by(self, size: float) -> bool:
        beyond = np.maximum(self.costs - self.edge * size * TIE, 0.0)
        return self.least <= size * TIE and float(self.weights @ beyond) <= self.share * size

    def usual(self) -> float:
        sizes = np.abs(self.costs) / self.edge
        middle = weighted_median(list(zip(sizes.tolist(), self.rated.tolist(), strict=True)))
        middle = middle if middle > 1e-300 else float(sizes.mean())
        return float(2.0 ** math.ceil(math.log2(2.0 * middle))) if middle > 1e-300 else 0.0

    def widest(self, size: float) -> float:
        largest = max(self.least, size, float(np.abs(self.costs).max()) / self.edge)
        if largest <= 1e-300:
            return 0.0
        wide = 2.0 ** math.ceil(math.log2(largest))
        while wide / 2.0 >= size and wide / 2.0 >= 1e-250 and self.met_by(wide / 2.0):
            wide /= 2.0
        return wide


class Settled(NamedTuple):
    """A row of a round: forecasts, confidences, the prediction, the outcome; and its range."""

    row: Floats
    rated: Floats
    value: Any
    outcome: float
    range: Any  # learned as the oracle that uses it says


class Judged(NamedTuple):
    """The gains of a row and of the blend, the regrets in the loss, and how the range grew."""

    gains: Floats
    own: float
    leads: Floats
    before: int
    after: int


class Judge:
    """How a rule learns from the losses of rows."""

    def __init__(
        self,
        loss: Callable[[Any, float], float],
        slope: Callable[[float, float], float] | None,
    ) -> None:
        self.loss, self.slope, self.gradient = loss, slope, slope is not None
        self.pool = Range()
        self.monotone = False

    def losses(self, one: Settled) -> Floats:
        """Return the losses of the experts in a row."""
        return np.array([self.loss(x, one.outcome) for x in one.row])

    def tangents(self, one: Settled) -> Floats:
        """Return the losses linearised at the blend, less the loss of the blend."""
        assert self.slope is not None
        return np.asarray(self.slope(one.value, one.outcome) * (one.row - one.value))

    def blend_loss(self, one: Settled) -> float:
        """Return the loss of the blend in a row."""
        return self.loss(one.value, one.outcome)

    def settle(self, rule: Rule, rows: list[Settled], *, late: bool = False) -> Floats | None:
        """Learn from rows; return the mean regrets of the round in units of the loss."""
        known = [row for row in rows if not math.isnan(row.outcome)]
        if not known:
            return None
        n = len(known[0].rated)
        if len(rows) == 1:
            if not known[0].rated.any():
                rule.step(np.zeros(n), known[0].rated)
                return np.zeros(n)
            judged = self._judge(rule, known[0], alone=True)
            rated, leads = known[0].rated, known[0].rated * judged.leads
        else:
            judged, rated = self._pooled(rule, known, late=late)
            leads = judged.leads
        rule.step(judged.gains, rated, judged.own if late else None)
        for _ in range(judged.after):
            rule.halve()
        return leads

    def _judge(self, rule: Rule, one: Settled, *, alone: bool) -> Judged:
        """Judge a row in which somebody is awake; let its range learn."""
        awake = one.rated > 0.0
        losses, blend = np.where(awake, self.losses(one), 0.0), self.blend_loss(one)
        leads = np.where(awake, blend - losses, 0.0)
        origin = 0.0 if rule.by_losses else float(losses[awake].min())
        costs = np.where(awake, np.maximum(losses - origin, 0.0), 0.0)
        least, edge = max(blend - origin, 0.0), 1.0
        if self.gradient:
            limit = np.maximum(leads, blend)  # nobody without weight gains more than the blend lost
            least = 0.0 if self.monotone else 1e-6 * float(rule.weights @ one.rated)
            limit = np.where(rule.weights < least, limit, math.inf)
            costs = np.where(awake, np.maximum(self.tangents(one), -limit), 0.0)
            least, edge = 2.0 * max(float(-costs[awake].min()), 0.0), 0.5
        asked = self._asked(rule, costs, one.rated, least, edge)
        before, met = self._first(rule, one.range, asked)
        if alone:
            for _ in range(before):
                rule.halve()
        size = one.range.size
        gains, own = self._gains(costs, least, size, gradient=self.gradient)
        after = self._then(rule, one.range, asked, met=met)
        return Judged(gains, own, leads, before, after)

    @staticmethod
    def _gains(costs: Floats, own: float, size: float, *, gradient: bool) -> tuple[Floats, float]:
        if gradient:
            return -np.clip(2.0 * costs / size if size else 0.0 * costs, -1.0, 1.0), 0.0
        if not size:
            return np.ones(len(costs)), 1.0
        return 1.0 - 2.0 * np.minimum(costs / size, 1.0), min(
            max(1.0 - 2.0 * own / size, -1.0), 1.0
        )

    @staticmethod
    def _asked(rule: Rule, costs: Floats, rated: Floats, least: float, edge: float) -> Asked:
        awake = rated > 0.0
        masses = (rule.weights * rated)[awake]
        masses = masses if masses.sum() > 1e-300 else (rule.weights * rated + rated)[awake]
        share = max(rule.alpha, 1e-6)
        return Asked(costs[awake], masses / masses.sum(), rated[awake], least, edge, share)

    @staticmethod
    def _grow(own: Range, asked: Asked) -> int:
        before = own.size
        own.size, own.fill = asked.widest(before), 1.0
        return round(math.log2(own.size / before)) if before else 0

    def _first(self, rule: Rule, own: Range, asked: Asked) -> tuple[int, bool]:
        """Let the range grow before the round, if that changes no weights."""
        if own.size == 0.0 and not rule.invariant:
            own.size, own.fill = asked.usual(), 1.0
        met = own.size > 0.0 and asked.met_by(own.size)
        if not met and rule.invariant:
            return self._grow(own, asked), True
        return 0, met

    def _then(self, rule: Rule, own: Range, asked: Asked, *, met: bool) -> int:
        """Let the range grow after the round, or become smaller."""
        if own.size == 0.0:
            return 0
        if not met:
            return self._grow(own, asked)
        pace = min(max(rule.alpha / 4.0, 1.0 / 4000.0), 1.0 / 16.0)
        if not asked.met_by(own.size / 4.0):
            own.fill = 1.0
        elif not asked.met_by(0.0):
            own.fill *= 1.0 - pace
        if own.fill < 0.25 and own.size > 1e-250:
            own.size, own.fill = own.size / 2.0, 0.5
        return 0

    def _pooled(self, rule: Rule, rows: list[Settled], *, late: bool) -> tuple[Judged, Floats]:
        """Return one gain for each expert and one confidence, of several rows."""
        n = len(rule.weights)
        total, covered, leads = np.zeros(n), np.zeros(n), np.zeros(n)
        for one in rows:
            if not one.rated.any():
                continue
            judged = self._judge(rule, one, alone=False)
            earned = judged.own if late else float(rule.play(one.rated) @ judged.gains)
            total += one.rated * (judged.gains - (0.0 if rule.by_losses else earned))
            covered += one.rated
            leads += one.rated * judged.leads / len(rows)
        mean = np.divide(total, covered, out=np.zeros(n), where=covered > 0.0)
        rated, awake = covered / len(rows), covered > 0.0
        if rule.by_losses or not awake.any():
            return Judged(np.clip(mean, -1.0, 1.0), 0.0, leads, 0, 0), rated
        best = float(mean[awake].max())
        costs = np.where(awake, best - mean, 0.0)
        asked = self._asked(rule, costs, rated, max(best, 0.0), 1.0)
        before, met = self._first(rule, self.pool, asked)
        for _ in range(before):
            rule.halve()
        gains, own = self._gains(costs, best, self.pool.size, gradient=False)
        after = self._then(rule, self.pool, asked, met=met)
        return Judged(gains, own, leads, before, after), rated
