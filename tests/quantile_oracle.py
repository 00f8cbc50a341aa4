"""Slow and obvious: the automatic mixture for quantiles, one row at a time, in NumPy.

The parts that the mixture for numbers has, too, come from ``tests/automatic_oracle.py``; the rest
is written from the words at the top of ``src/core/quantiles.hpp`` and ``src/core/relative.hpp``. A
row has a forecast for each level and each expert, NaN where an expert sleeps.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import crps
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.rules._components import ALONE, CAUTION, RelativeLoss
from tests.automatic_oracle import (
    Guard,
    Insurance,
    Judge,
    Level,
    LossOf,
    Packaged,
    Portion,
    Range,
    Usual,
    UsualRows,
    alike,
    combined,
)
from tests.family_oracles import normal
from tests.gains_oracle import Settled
from tests.quantile_corrections_oracle import Game as Corrections, Track, rises_of, say


def pinball(x: float, y: float, level: float) -> float:
    """Return the pinball loss of one quantile."""
    return level * (y - x) if x < y else (1.0 - level) * (x - y)


def quantile_loss(x: Sequence[float], y: float, levels: Floats, shares: Floats) -> float:
    """Return the sum of twice the pinball losses, by shares of the levels."""
    pairs = zip(x, levels.tolist(), shares.tolist(), strict=True)
    return math.fsum(2.0 * share * pinball(one, y, level) for one, level, share in pairs)


def hats(knots: int, levels: int) -> Floats:
    """Return linear functions between knots that lie evenly among the levels; knots x levels."""
    places = np.arange(levels) * (knots - 1) / max(levels - 1, 1)
    return np.array([np.interp(places, np.arange(knots), np.eye(knots)[k]) for k in range(knots)])


class Relative:
    """Weights by losses relative to the losses of the plain mean."""

    by_losses = False

    def __init__(self, rule: RelativeLoss, n: int) -> None:
        self.rule, self.own, self.usual = rule, np.zeros(n), np.zeros(n)
        self.whole = self.rounds = 0.0

    @property
    def weights(self) -> Floats:
        more = self.whole / self.rounds if self.rounds else 1.0
        return normal(((self.own + more) / (self.usual + more)) ** -self.rule.power)

    def play(self, rated: Floats) -> Floats:
        played = rated * self.weights
        return np.asarray(played / played.sum()) if played.sum() > 0.0 else played

    def learn(self, rows: list[tuple[Floats, Floats, float]], share: float) -> None:
        """Learn from rows: the losses of the experts, their confidences, the loss of the mean."""
        keep = (1.0 - 1.0 / self.rule.memory) ** share
        self.own, self.usual = keep * self.own, keep * self.usual
        for losses, rated, plain in rows:
            self.own += rated * np.where(rated > 0.0, losses, 0.0)
            self.usual += rated * plain
        self.whole = keep * self.whole + sum(plain for _, _, plain in rows)
        self.rounds = keep * self.rounds + share

    def join(self, count: int) -> None:
        self.own, self.usual = np.pad(self.own, (0, count)), np.pad(self.usual, (0, count))


class QuantileJudge(Judge):
    """How a hedger learns from the losses of some levels."""

    def __init__(self, levels: Floats, shares: Floats, *, gradient: bool) -> None:
        self.levels, self.shares, self.gradient, self.pool = levels, shares, gradient, Range()

    def costs(self, one: Settled) -> Floats:
        y = one.outcome
        if not self.gradient:
            return np.array([quantile_loss(x, y, self.levels, self.shares) for x in one.row.T])
        slopes = np.where(
            one.value > y, 1.0 - self.levels, np.where(one.value < y, -self.levels, 0)
        )
        value = one.value[:, np.newaxis]
        apart = one.row - value
        apart[np.abs(apart) <= 1e-13 * np.abs(value)] = 0.0  # all weight on one, but for rounding
        return np.asarray((2.0 * self.shares * slopes) @ apart)


class Strand:
    """A component at one knot."""

    def __init__(self, one: Any, hat: Floats, levels: Floats, n: int) -> None:
        self.hat, shares = hat, hat / hat.sum()
        self.judge = QuantileJudge(levels, shares, gradient=one.gradient)
        self.hedger: Any = (
            Relative(one.hedger, n)
            if isinstance(one.hedger, RelativeLoss)
            else Packaged(one.hedger, n)
        )


class CautiousLevel(Level):
    """A level that waits for evidence of several rounds."""

    caution = 1.0

    @property
    def weights(self) -> Floats:
        u = self.caution * (self.unit or 1.0)

        def phi(R: Floats) -> Floats:
            return np.exp(np.maximum(R, 0.0) ** 2 / (2.0 * (self.V + u**2)))

        return normal(self.prior * (phi(self.R + u) - phi(self.R - u)))


class Game:
    """The strands of each component, and the level above them."""

    def __init__(self, oracle: "QuantileOracle", ways: int) -> None:
        self.components = [
            [
                Strand(one, hat, oracle.levels, oracle.n)
                for hat in hats(one.knots, len(oracle.levels))
            ]
            for one in oracle.hedged
        ]
        self.above = CautiousLevel(oracle.priors[:ways], oracle.loss, oracle.alpha)
        self.above.caution = oracle.caution
        self.corrections = Corrections(oracle.levels)


class Item:
    """The memory of an item."""

    def __init__(self, oracle: "QuantileOracle") -> None:
        self.guard, self.largest = Guard(), 0.0
        self.game: Game | None = None
        self.ranges = [
            [[Range() for _ in range(one.knots)] for one in oracle.hedged] for _ in range(2)
        ]
        self.common, self.own, self.choice = Usual(), Usual(), Usual()
        self.track = Track()


class QuantileRound(NamedTuple):
    """A round that was predicted: as in the oracle for numbers, with levels."""

    items: list[int]
    rows: Floats  # items x levels x experts
    values: Floats  # items x values x levels
    number: int


class QuantileOracle:
    """The automatic mixture of quantiles."""

    def __init__(self, n: int, levels: Sequence[float], *, inside: bool = False) -> None:
        self.n, self.levels, self.alpha, self.inside = n, np.array(levels), 0.01, inside
        self.caution, alone = (1.0, 1.0) if inside else (CAUTION, ALONE)
        self.first = 4 if inside else 7  # the place of the first way
        shares = np.full(len(levels), 1.0 / len(levels))
        self.loss: LossOf = lambda x, y: quantile_loss(x, y, self.levels, shares)
        parts = Automatic(inside=inside).components(crps(levels))
        self.plain = [one for one in parts if one.hedger is None]
        self.hedged = [one for one in parts if one.hedger is not None]
        self.mean = self.first + [one.combine for one in self.plain].index("mean")
        separate = [alone * one.prior for one in self.hedged]
        self.priors = np.array([*(one.prior for one in parts), *separate])
        self.ways = len(parts)
        self.shared = Game(self, self.ways)
        self.choice = Level(np.array([0.75, 0.25]), self.loss, self.alpha)
        more = 0 if inside else 2
        shared, own = np.full(1 + more if more else 0, 0.05), np.full(more, 0.05)
        self.insurance = Insurance(np.concatenate([shared, self.priors, own]), self.loss)
        self.items: dict[int, Item] = {}
        self.usual_rows = UsualRows()
        self.rounds = 0

    def join(self, count: int) -> None:
        """Let experts join."""
        self.n += count
        for game in (self.shared, *(item.game for item in self.items.values())):
            for strands in game.components if game else ():
                for strand in strands:
                    strand.hedger.join(count)

    def predict(self, items: list[int], rows: Floats) -> QuantileRound:
        """Predict a round."""
        for item in items:
            self.items.setdefault(item, Item(self))
        if len(self.items) > 1:
            self.shared.above.grow(self.priors)
            for one in self.items.values():
                one.game = one.game or Game(self, len(self.priors))
        rows = np.sort(rows, axis=1)  # NaN is for a whole column here
        count = 3 + len(self.insurance.prior)
        values = np.full((len(items), count, len(self.levels)), np.nan)
        for item, row, said in zip(items, rows, values, strict=True):
            awake = np.where(np.isnan(row[0]), 0.0, 1.0)
            if awake.any():
                self._say(self.items[item], self._guarded(self.items[item], row), awake, said)
        self.rounds += 1
        return QuantileRound(items, rows, values, self.rounds - 1)

    @staticmethod
    def _guarded(item: Item, row: Floats) -> Floats:
        return np.sort([np.clip(level, *item.guard.edges(level)) for level in row], axis=0)

    def _say(self, item: Item, row: Floats, awake: Floats, said: Floats) -> None:
        even = awake / awake.sum()
        ways = [np.array([combined(x, even, one.combine) for x in row]) for one in self.plain]
        for game in (self.shared, item.game):
            for strands, one in zip(game.components, self.hedged, strict=True) if game else ():
                played = sum(np.outer(s.hat, s.hedger.play(awake)) for s in strands)
                pairs = zip(row, np.asarray(played), strict=True)
                ways.append(np.array([combined(x, q, one.combine) for x, q in pairs]))
        table = np.sort(np.array(ways), axis=1)
        near = [1e-13 * float(np.nanmax(np.abs(x))) for x in row]
        for c, close in enumerate(near):
            table[:, c] = alike(table[:, c].tolist(), close)
        base = self.first - 3 if not self.inside else 3
        said[self.first : self.first + len(table)] = table
        if item.game is None:
            said[base] = self.shared.above.weights @ table
        else:
            said[1], said[2] = (game.above.weights @ table for game in (self.shared, item.game))
            for c, close in enumerate(near):
                said[1:3, c] = alike(said[1:3, c].tolist(), close)
            said[base] = self.choice.weights @ said[1:3]
        for c, close in enumerate(near):
            same = (way for way in table[:, c] if abs(way - said[base, c]) <= close)
            said[base, c] = next(same, said[base, c])
        if not self.inside:
            games = [game.corrections for game in (self.shared, item.game) if game]
            found, said[3] = say(games, item.track, item.guard, row, said[base])
            said[5:7] = found[:2]
            if len(found) > 2:
                said[-2:] = found[2:]
        insured = said[3:][: len(said) if item.game else self.first - 3 + len(table)]
        said[0] = np.sort(self.insurance.weights(len(insured) - 1) @ insured)

    def update(self, made: QuantileRound, outcomes: Floats) -> None:
        """Learn from the outcomes that are not NaN."""
        more = self.n - made.rows.shape[2]
        rows = np.pad(made.rows, ((0, 0), (0, 0), (0, more)), constant_values=np.nan)
        items, heard = [self.items[item] for item in made.items], list[tuple[Floats, Floats]]()
        middle = int(np.abs(self.levels - 0.5).argmin())
        for item, row, y in zip(items, rows, outcomes.tolist(), strict=True):
            awake, told = np.where(np.isnan(row[0]), 0.0, 1.0), row
            if not math.isnan(y):
                item.guard.see(row[middle], y)
                told = self._guarded(item, row)
            heard.append((told, awake))
        values = made.values
        said = values[~np.isnan(values[:, 0, 0])]
        known = int(np.count_nonzero(~np.isnan(values[:, 0, 0]) & ~np.isnan(outcomes)))
        portion = self.usual_rows.see(known)
        if len(self.items) == 1:
            portion = Portion()
        late = (self.rounds - made.number - 1) * portion.mean_share
        if len(self.items) == 1 or np.isnan(said[:, 2]).any():
            base = values[:, 3 if self.inside else 4]
            self._learn(self.shared, self.ways, items, heard, values, base, outcomes, late, portion)
            self._correct(items, values, outcomes, late, portion, alone=False)
            self.insurance.settle(values, outcomes, items, late, portion, alone=True)  # type: ignore[arg-type]
            return
        ways = len(self.priors)
        for k, item in enumerate(items):
            if item.game is not None:
                one = slice(k, k + 1)
                self._learn(
                    item.game, ways, items[one], heard[one], values[one], values[one, 2],
                    outcomes[one], late, Portion(),
                )  # fmt: skip
        self._learn(self.shared, ways, items, heard, values, values[:, 1], outcomes, late, portion)
        usual = [item.choice for item in items]
        base = values[:, 3 if self.inside else 4]
        self.choice.settle(values[:, 1:3], base, outcomes, usual, late, portion)
        self._correct(items, values, outcomes, late, portion, alone=True)
        self.insurance.settle(values, outcomes, items, late, portion)  # type: ignore[arg-type]

    def _correct(
        self,
        items: list[Item],
        values: Floats,
        outcomes: Floats,
        late: float,
        portion: Portion,
        *,
        alone: bool,
    ) -> None:
        """Let the corrections, and the choice between them, learn."""
        if self.inside:
            return
        shared, rises = self.shared.corrections, list[Floats]()
        slopes = list[tuple[float, float, Floats]]()
        for item, said, outcome in zip(items, values, outcomes, strict=True):
            y = float(outcome)
            if math.isnan(y) or np.isnan(said[0, 0]):
                continue
            own = item.game.corrections if alone and item.game else None
            table = np.concatenate([said[4:7], said[-2:]]) if own else said[4:7]
            rise = rises_of(item.track, said[3], table, y, self.levels)
            rises += [] if rise is None else [rise]
            item.track.see(self.loss(said[4], y))
            slopes.append(shared.slopes(said[4], item.track.unit, y))
            if own:
                own.follow([own.slopes(said[4], item.track.unit, y)], late)
                if rise is not None:
                    own.judge(rise, late)
        if slopes:
            shared.follow(slopes, late, portion.share)
        if rises:
            shared.judge(portion.share * np.mean(rises, axis=0), late)

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
        """Let the strands of a game, and the level above them, learn."""
        alone = game is not self.shared
        first = self.first + len(self.plain) + (len(self.hedged) if alone else 0)
        for c, strands in enumerate(game.components):
            for k, strand in enumerate(strands):
                rows = [
                    Settled(row, rated, said[first + c], float(y), item.ranges[alone][c][k])
                    for item, (row, rated), said, y in zip(
                        items, heard, values, outcomes, strict=True
                    )
                ]
                if isinstance(strand.hedger, Relative):
                    self._learn_relative(strand, rows, values[:, self.mean], portion.share)
                else:
                    strand.judge.settle(strand.hedger, rows, portion)
        usual = [item.own if alone else item.common for item in items]
        game.above.settle(
            values[:, self.first : self.first + ways], own, outcomes, usual, late, portion
        )

    @staticmethod
    def _learn_relative(strand: Strand, rows: list[Settled], means: Floats, share: float) -> None:
        judge = strand.judge
        told = [
            (
                judge.costs(row),
                row.rated,
                quantile_loss(mean, row.outcome, judge.levels, judge.shares),
            )
            for row, mean in zip(rows, means, strict=True)
            if not math.isnan(row.outcome) and row.rated.any()
        ]
        if told:
            strand.hedger.learn(told, share)
