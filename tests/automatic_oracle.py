"""Slow and obvious: the automatic mixture for numbers, one row at a time, in NumPy.

The single hedgers come from the package, and have oracles of their own; all around them is
written from the words at the top of ``src/core/automatic.hpp``, ``guard.hpp`` and ``cautious.hpp``.
A row has a forecast for each expert, NaN for one that sleeps.

It is one long file so that the whole rule can be read from top to bottom.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import LOSSES as KINDS
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.rules._components import Component
from tests.family_oracles import normal
from tests.gains_oracle import Settled, weighted_median
from tests.mixture_oracle import LOSSES, SLOPES

LossOf = Callable[[Any, float], float]
"""A loss of a forecast, a number or a vector, and an outcome."""


class Range:
    """The learned range of losses of a component: see ``src/core/cautious.hpp``."""

    def __init__(self) -> None:
        self.size, self.fill = 0.0, 1.0

    def learn(
        self, excess: Sequence[float | None], masses: Sequence[float], share: float = 1.0
    ) -> bool:
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
            self.fill += share * (inside / heard / self.size - self.fill) / 16
            if self.fill < 1 / 16:
                self.size /= 2
                self.fill *= 2
        return False


def combined(row: Floats, played: Floats, way: str) -> float:
    """Return one forecast of those that are played."""
    pairs = sorted((x, q) for x, q in zip(row.tolist(), played.tolist(), strict=True) if q > 0.0)
    if way == "mean":
        return math.fsum(x * q for x, q in pairs)
    if way == "median":
        return weighted_median(pairs)
    total, below, value = math.fsum(q for _, q in pairs), 0.0, 0.0
    for x, q in pairs:  # the middle half of the weight
        value += x * max(min(below + q, 0.75 * total) - max(below, 0.25 * total), 0.0)
        below += q
    return value / (0.5 * total)


def averaged(ways: list[float], weights: Floats) -> float:
    """Return the mean; as differences from one of them, so that ties give exactly that."""
    return ways[0] + float(weights @ (np.array(ways) - ways[0]))


def alike(ways: list[float], near: float) -> list[float]:
    """Return what ways say; those that differ by rounding alone say the same."""
    found: list[float] = []
    for way in ways:
        found.append(next((one for one in found if abs(one - way) <= near), way))
    return found


class Guard:
    """The limits of absurd forecasts, for one item."""

    def __init__(self) -> None:
        self.error, self.outcomes = 0.0, list[float]()

    def edges(self, row: Floats) -> tuple[float, float]:
        """Return between which values forecasts are let through."""
        said, far = row[~np.isnan(row)], 6.0 * self.error
        if len(said) > 2:
            middle = float(np.median(said))
            wide = 10.0 if self.outcomes else 100.0
            limit = max(wide * float(np.median(np.abs(said - middle))), far)
            if limit > 0.0:
                return middle - limit, middle + limit
            if len(self.outcomes) >= 10:
                return min(middle, *self.outcomes), max(middle, *self.outcomes)
            return -math.inf, math.inf
        if len(said) == 2 and len(self.outcomes) >= 10 and len(set(self.outcomes)) > 1:
            low, high = min(self.outcomes), max(self.outcomes)
            margin = high - low + far
            sane = said[(said >= low - margin) & (said <= high + margin)]
            if len(sane) == 1:
                return float(sane[0]) - far, float(sane[0]) + far
        return -math.inf, math.inf

    def see(self, row: Floats, outcome: float) -> None:
        """Remember an outcome."""
        said = row[~np.isnan(row)]
        if not len(said):
            return
        far = np.abs(said - outcome).min()
        if len(said) > 2:
            far = abs(outcome - np.median(said))
        self.error = max(float(far), 0.99 * self.error)
        self.outcomes.append(outcome)


class Packaged:
    """A hedger of the package, and its state."""

    def __init__(self, hedger: Any, n: int) -> None:
        self.hedger, self.state, self.by_losses = hedger, hedger.init(n), hedger.by_losses

    @property
    def weights(self) -> Floats:
        weights: Floats = self.state.weights
        return weights

    def play(self, rated: Floats) -> Floats:
        played: Floats = self.hedger.play(self.state, rated)
        return played

    def step(self, gains: Floats, rated: Floats) -> None:
        self.state = self.hedger.step(self.state, gains, rated)

    def halve(self) -> None:
        arrays = self.state.weights.copy(), self.state.ledger.copy(), self.state.totals.copy()
        self.hedger._engine.halve(*arrays)
        self.state = self.state._replace(weights=arrays[0], ledger=arrays[1], totals=arrays[2])

    def remember(self, share: float) -> None:
        """Let the next step forget as much as a share of a round."""
        factor = (1.0 - self.hedger.alpha) ** (share - 1.0)
        ledger, totals = factor * self.state.ledger, factor * self.state.totals
        self.state = self.state._replace(ledger=ledger, totals=totals)

    def join(self, count: int) -> None:
        self.state = self.hedger.join(self.state, count)


class Usual:
    """The usual difference between the losses of a level and of its ways, for one item."""

    def __init__(self) -> None:
        self.total = self.count = 0.0

    def learn(self, leads: Floats) -> float:
        difference = float(np.abs(leads).mean())
        if self.total > 0.0 and self.count >= 10.0:
            difference = min(difference, 100.0 * self.total / self.count)
        self.total = 0.99 * self.total + difference
        self.count = 0.99 * self.count + 1.0
        return self.total / self.count


class Portion(NamedTuple):
    """How much of a usual round a round is: see ``src/core/usual_rows.hpp``."""

    share: float = 1.0
    mean_share: float = 1.0  # of the rounds so far


class UsualRows:
    """The sizes of the rounds so far."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def _count(self) -> float:
        ages = 0.99 ** np.arange(len(self.sizes))[::-1]
        return float(ages @ np.square(self.sizes) / (ages @ self.sizes))

    def see(self, rows: int) -> Portion:
        """Note a round with so many rows."""
        if rows == 0:
            return Portion()
        self.sizes.append(rows)
        ages, now = 0.99 ** np.arange(len(self.sizes))[::-1], self._count()
        mean = float(ages @ self.sizes / ages.sum())
        return Portion(min(rows / now, 1.0), min(mean / now, 1.0))


class Level:
    """What weighs ways of combining by their losses, and its own."""

    def __init__(self, prior: Floats, loss: LossOf, alpha: float) -> None:
        self.prior, self.loss, self.alpha = prior, loss, alpha
        self.R, self.V, self.unit = np.zeros(len(prior)), np.zeros(len(prior)), 0.0

    @property
    def weights(self) -> Floats:
        u = self.unit or 1.0

        def phi(R: Floats) -> Floats:
            return np.exp(np.maximum(R, 0.0) ** 2 / (2.0 * (self.V + u**2)))

        return normal(self.prior * (phi(self.R + u) - phi(self.R - u)))

    def settle(
        self,
        ways: Floats,
        own: Floats,
        outcomes: Floats,
        usual: list[Usual],
        late: float,
        portion: Portion,
    ) -> None:
        """Learn from what the ways said in each row, and what the level did itself."""
        rises = [
            self._rises(row, said, float(y), one)
            for row, said, y, one in zip(ways, own, outcomes, usual, strict=True)
            if not math.isnan(y) and not np.isnan(said).any()
        ]
        if not rises:
            return
        r, keep = np.mean(rises, axis=0), (1.0 - self.alpha / (1 + late)) ** portion.share
        r[np.abs(r) < 1e-9] = 0.0  # they cancel
        r *= portion.share
        first = len(r)
        self.R[:first] = keep * self.R[:first] + r
        self.V[:first] = keep * self.V[:first] + math.sqrt(1 + late) * r**2
        self.unit = max(keep * self.unit, float(np.abs(r).max()))

    def _rises(self, row: Floats, said: Any, outcome: float, usual: Usual) -> Floats:
        mine, losses = self.loss(said, outcome), np.array([self.loss(x, outcome) for x in row])
        leads = mine - losses
        leads[np.abs(leads) <= 1e-12 * (abs(mine) + np.abs(losses))] = 0.0
        size = usual.learn(leads)
        return np.clip(leads / size, -8.0, 8.0) if size > 0.0 else np.zeros(len(row))

    def grow(self, prior: Floats) -> None:
        """Take in more ways, which slept so far."""
        more = len(prior) - len(self.prior)
        self.prior, self.R, self.V = prior, np.pad(self.R, (0, more)), np.pad(self.V, (0, more))


class Insurance:
    """AdaNormalHedge over the levels together and the ways, by the largest difference so far."""

    def __init__(self, prior: Floats, loss: LossOf) -> None:
        self.prior, self.loss = np.array([0.95, *(0.05 * prior)]), loss
        self.R, self.C = np.zeros(len(self.prior)), np.zeros(len(self.prior))

    def halves(self) -> Floats:
        """Return the weights before they are shared out."""

        def phi(R: Floats) -> Floats:
            return np.exp(np.maximum(R, 0.0) ** 2 / (3.0 * (self.C + 1.0)))

        return np.asarray(0.5 * self.prior * (phi(self.R + 1.0) - phi(self.R - 1.0)))

    def weights(self, count: int) -> Floats:
        """Return the rows of the levels and of the first so many ways."""
        halves = self.halves()
        halves = halves if halves.sum() > 0.0 else self.prior
        return normal(halves[: 1 + count])

    def settle(
        self,
        values: Floats,
        outcomes: Floats,
        items: list["Item"],
        late: float,
        portion: Portion,
        *,
        alone: bool = False,
    ) -> None:
        """Learn from the blend, and what the levels and ways said in each row.

        ``alone``: of the only item.
        """
        rises, ratio = [], 1.0
        for said, y, item in zip(values, outcomes.tolist(), items, strict=True):
            if math.isnan(y) or np.isnan(said[0]).any():
                continue
            before = item.largest
            mine, losses = self.loss(said[0], y), np.array([self.loss(x, y) for x in said[3:]])
            leads = mine - losses
            leads[np.abs(leads) <= 1e-12 * (abs(mine) + np.abs(losses))] = 0.0
            item.largest = max(item.largest, float(np.nanmax(np.abs(leads))))
            rises.append(leads / item.largest if item.largest > 0.0 else 0.0 * leads)
            if alone and item.largest > 0.0:  # the next rounds count in the new unit
                ratio = before / item.largest
        if rises:
            r = np.nan_to_num(np.mean(rises, axis=0))  # those that are not there yet sleep
            r[np.abs(r) < 1e-9] = 0.0
            r *= portion.share
            self.R = ratio * (self.R + r)
            self.C = ratio * (self.C + (1 + late) * np.abs(r))


def gains_of(costs: Floats, size: float, *, gradient: bool) -> Floats:
    """Return gains in [-1, 1]."""
    if size == 0.0:
        return np.zeros(len(costs)) if gradient else np.ones(len(costs))
    if gradient:
        u = np.clip(2.0 * costs / size, -1.0, 1.0)
        return -(u + u**2 / 2.0) / 1.5
    return 1.0 - 2.0 * np.minimum(costs / size, 1.0)


class Judge:
    """How a hedger learns from the losses of rows."""

    def __init__(self, loss: str, slope: str | None) -> None:
        self.loss, self.gradient = LOSSES[loss], slope is not None
        self.slope = SLOPES[slope] if slope is not None else None
        self.pool = Range()

    def settle(self, hedger: Packaged, rows: list[Settled], portion: Portion) -> None:
        known = [row for row in rows if not math.isnan(row.outcome)]
        if not known:
            return
        if len(rows) == 1 and portion.share > 1.0 - 1e-9:
            gains, doubled = self._judge(hedger, known[0])
            rated = known[0].rated
        else:
            gains, rated, doubled = self._pooled(hedger, known, portion.share)
        if doubled:
            hedger.halve()
        hedger.remember(portion.share)
        hedger.step(gains, rated)

    def _judge(self, hedger: Packaged, one: Settled) -> tuple[Floats, bool]:
        """Return the gains in a row, and whether the range doubled."""
        awake = one.rated > 0.0
        if not awake.any():
            return np.zeros(len(awake)), False
        costs = self.costs(one)
        excess = 2.0 * np.abs(costs)
        if not self.gradient:
            costs = excess = costs - (0.0 if hedger.by_losses else costs[awake].min())
        doubled = _learn(one.range, excess, awake, hedger.weights * one.rated)
        told = np.where(awake, costs, 0.0)
        return gains_of(told, one.range.size, gradient=self.gradient), doubled

    def costs(self, one: Settled) -> Floats:
        """Return the losses of a row, linear with the gradient trick."""
        if self.slope is not None:
            return np.asarray(self.slope(one.value, one.outcome) * (one.row - one.value))
        return np.array([self.loss(x, one.outcome) for x in one.row])

    def _pooled(
        self, hedger: Packaged, rows: list[Settled], share: float
    ) -> tuple[Floats, Floats, bool]:
        """Return one gain and one confidence of the rows of a share of a usual round."""
        n = len(hedger.weights)
        total, covered = np.zeros(n), np.zeros(n)
        for one in rows:
            gains, _ = self._judge(hedger, one)
            if not one.rated.any():
                continue
            played = np.zeros(n) if hedger.by_losses else hedger.play(one.rated)
            total += one.rated * (gains - played @ gains)
            covered += one.rated
        mean = np.divide(total, covered, out=np.zeros(n), where=covered > 0.0)
        rated = covered / len(rows)
        if hedger.by_losses:
            return 1.0 - share * (1.0 - np.clip(mean, -1.0, 1.0)), rated, False
        awake = covered > 0.0
        costs = np.where(awake, mean.max(initial=-np.inf, where=awake) - mean, 0.0)
        costs[costs < 1e-15] = 0.0  # gains are of order one: the rest is rounding
        costs *= share
        doubled = _learn(self.pool, costs, awake, hedger.weights * rated, share)
        return gains_of(costs, self.pool.size, gradient=False), rated, doubled


def _learn(
    own: Range, excess: Floats, awake: np.ndarray, masses: Floats, share: float = 1.0
) -> bool:
    told = [e if a else None for e, a in zip(excess.tolist(), awake.tolist(), strict=True)]
    return own.learn(told, masses.tolist(), share)


class Game:
    """The hedged components of a game, and the level above them."""

    def __init__(self, oracle: "Oracle", ways: int) -> None:
        self.judges = [
            Judge(oracle.loss, (one.slope or oracle.loss) if one.gradient else None)
            for one in oracle.hedged
        ]
        self.hedgers = [Packaged(one.hedger, oracle.n) for one in oracle.hedged]
        self.above = Level(oracle.priors[:ways], LOSSES[oracle.loss], oracle.alpha)


class Item:
    """The memory of an item."""

    def __init__(self, hedged: int) -> None:
        self.guard = Guard()
        self.game: Game | None = None
        self.ranges = [[Range() for _ in range(hedged)] for _ in range(2)]  # shared, and alone
        self.common, self.own, self.choice = Usual(), Usual(), Usual()
        self.largest = 0.0


class Round(NamedTuple):
    """A round that was predicted.

    Attributes
    ----------
    items, rows, rated
        The quantity, the forecasts and the confidences.
    values
        Of each row: the blend, the common level, the item's own, the choice of them, the plain
        components, the hedged ones that are shared and the ones of the item alone.
    number
        How many rounds were predicted before.
    """

    items: list[int]
    rows: Floats
    rated: Floats | None
    values: Floats
    number: int


class Oracle:
    """The automatic mixture."""

    def __init__(self, n: int, loss: str, *, memory: float = 100.0, guard: bool = True) -> None:
        self.n, self.loss, self.alpha, self.guards = n, loss, 1.0 / memory, guard
        name, _, level = loss.partition(":level=")
        parts = Automatic().components(KINDS[name](float(level)) if level else KINDS[name]())
        self.plain: list[Component] = [one for one in parts if one.hedger is None]
        self.hedged: list[Component] = [one for one in parts if one.hedger is not None]
        self.priors = np.array([one.prior for one in (*parts, *self.hedged)])
        self.ways = len(parts)
        self.shared = Game(self, self.ways)
        self.choice = Level(np.array([0.75, 0.25]), LOSSES[loss], self.alpha)
        self.insurance = Insurance(self.priors, LOSSES[loss])
        self.items: dict[int, Item] = {}
        self.usual_rows = UsualRows()
        self.rounds = 0

    def join(self, count: int) -> None:
        """Let experts join."""
        self.n += count
        for game in (self.shared, *(item.game for item in self.items.values())):
            for hedger in game.hedgers if game else ():
                hedger.join(count)

    def predict(self, items: list[int], rows: Floats, rated: Floats | None = None) -> Round:
        """Predict a round."""
        for item in items:
            self.items.setdefault(item, Item(len(self.hedged)))
        if len(self.items) > 1:
            self.shared.above.grow(self.priors)
            for one in self.items.values():
                one.game = one.game or Game(self, len(self.priors))
        values = np.full((len(items), 4 + len(self.priors)), np.nan)
        for item, row, said in zip(items, rows, values, strict=True):
            masked, awake = _masked(row, rated)
            if awake.any():
                self._say(self.items[item], self._guarded(item, masked), awake, said)
        self.rounds += 1
        return Round(items, rows, rated, values, self.rounds - 1)

    def _guarded(self, item: int, row: Floats) -> Floats:
        if not self.guards:
            return row
        return np.asarray(np.clip(row, *self.items[item].guard.edges(row)))

    def _say(self, item: Item, row: Floats, awake: Floats, said: Floats) -> None:
        even = awake / awake.sum()
        ways = [combined(row, even, one.combine) for one in self.plain]
        for game in (self.shared, item.game):
            if game is not None:
                for hedger, one in zip(game.hedgers, self.hedged, strict=True):
                    ways.append(combined(row, hedger.play(awake), one.combine))
        near = 1e-13 * float(np.nanmax(np.abs(row)))
        ways = alike(ways, near)
        said[4 : 4 + len(ways)] = ways
        if item.game is None:
            said[3] = averaged(ways, self.shared.above.weights)
        else:
            levels = [averaged(ways, game.above.weights) for game in (self.shared, item.game)]
            said[1:3] = alike(levels, near)
            said[3] = averaged(said[1:3].tolist(), self.choice.weights)
        said[3] = next((way for way in ways if abs(way - said[3]) <= near), said[3])
        insured = self.insurance.weights(len(ways))
        said[0] = averaged(said[3 : 4 + len(ways)].tolist(), insured)

    def update(self, made: Round, outcomes: Floats) -> None:
        """Learn from the outcomes that are not NaN."""
        more = self.n - made.rows.shape[1]  # those who joined since sleep
        rows = np.pad(made.rows, ((0, 0), (0, more)), constant_values=np.nan)
        rated = None if made.rated is None else np.pad(made.rated, (0, more))
        items, heard = [self.items[item] for item in made.items], list[tuple[Floats, Floats]]()
        for k, row, y in zip(made.items, rows, outcomes.tolist(), strict=True):
            masked, awake = _masked(row, rated)
            if self.guards and not math.isnan(y):
                self.items[k].guard.see(masked, y)
                masked = self._guarded(k, masked)
            heard.append((masked, awake))
        values = made.values
        said = values[~np.isnan(values[:, 0])]
        known = int(np.count_nonzero(~np.isnan(values[:, 0]) & ~np.isnan(outcomes)))
        portion = self.usual_rows.see(known)
        if len(self.items) == 1:
            portion = Portion()
        late = (self.rounds - made.number - 1) * portion.mean_share
        if len(self.items) == 1 or np.isnan(said[:, 2]).any():  # predicted when there was one item
            self._learn(
                self.shared, self.ways, items, heard, values, values[:, 3], outcomes, late, portion
            )
            self.insurance.settle(values, outcomes, items, late, portion, alone=True)
            return
        for k, item in enumerate(items):
            one = slice(k, k + 1)
            if item.game is not None:
                self._learn(
                    item.game, len(self.priors), items[one], heard[one], values[one],
                    values[one, 2], outcomes[one], late, Portion(),
                )  # fmt: skip
        ways = len(self.priors)
        self._learn(self.shared, ways, items, heard, values, values[:, 1], outcomes, late, portion)
        usual = [item.choice for item in items]
        self.choice.settle(values[:, 1:3], values[:, 3], outcomes, usual, late, portion)
        self.insurance.settle(values, outcomes, items, late, portion)

    def _learn(
        self,
        game: Game,
        ways: int,
        items: list[Item],
        heard: list[tuple[Floats, Floats]],
        values: Floats,
        own: Floats,
        outcomes: Floats,
        late: float,
        portion: Portion,
    ) -> None:
        """Let the components of a game, and the level above them, learn."""
        alone = game is not self.shared
        first = 4 + len(self.plain) + (len(self.hedged) if alone else 0)
        for c, (hedger, judge) in enumerate(zip(game.hedgers, game.judges, strict=True)):
            rows = [
                Settled(row, rated, float(said[first + c]), float(y), item.ranges[alone][c])
                for item, (row, rated), said, y in zip(items, heard, values, outcomes, strict=True)
            ]
            judge.settle(hedger, rows, portion)
        usual = [item.own if alone else item.common for item in items]
        game.above.settle(values[:, 4 : 4 + ways], own, outcomes, usual, late, portion)


def _masked(row: Floats, rated: Floats | None) -> tuple[Floats, Floats]:
    """Return the row with NaN where an expert is not heard, and the confidences."""
    told = np.ones(len(row)) if rated is None else rated
    awake = np.where(np.isnan(row), 0.0, told)
    return np.where(awake > 0.0, row, np.nan), awake
