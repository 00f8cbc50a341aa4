"""Linear dynamics as experts: a ladder of Kalman filters, and hypotheses about jumps.

Each column of the observations has a position and a velocity. The experts differ in how fast these
change, in units of the noise of the observations:

    x <- x + phi v + noise,   v <- phi v + noise,   y = x + s noise

Local levels have phi = 0, damped velocities phi = 0.8, and constant velocities phi = 1.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import FixedShare, Hedger
from normalhedge.latent.tracking._kalman import (
    Filters,
    Readings,
    fit_filters,
    ladder,
    least_variance,
    move,
    read_on,
    update,
)

NATS = 10.0  # half the largest difference of log densities between experts that a round can count
# the share of the weight that is redistributed among the filters in every round, because tracks
# manoeuvre
SHARE = 0.015

HYPOTHESES = 4
JUMP = 0.002  # the prior weight of a jump, relative to an absurd observation
CAP = 5.0  # the largest difference of log densities between hypotheses that a round can count
# the number of first observations from which the scales are estimated again in each round
WARM = 12
LONGEST = 60  # the largest number of rounds of this beginning, if a column is rarely observed
MEMORY = 50.0  # the memory of the scales and of the share of absurd observations, in observations
GROWTH = 3.0  # the squared error, in variances, that an absurd observation counts for in the scale
CLEAN = 1e-14  # the smallest variance of the noise, in units of the squared step of the track
TURNS = 0.09  # the smallest ratio q of a filter whose velocity may change by a whole absurd error
# the largest weight of a filter that is ignored in averages: it may be very far away
HOPELESS = 1e-6


class Belief(NamedTuple):
    """The complete state of a ladder; nothing in it is ever changed in place."""

    filters: Filters  # the filters after the last round
    # variance, counts: the estimated variance of the noise, and the number of observations it is
    # based on, H x E x k
    variance: Floats
    counts: Floats
    absurd: Floats  # the estimated share of absurd observations, H x E
    games: tuple[Any, ...]  # the hedger's state for each hypothesis
    logs: Floats  # the logarithms of the weights of the hypotheses, H
    # the first rounds, while the scales are still being estimated; None afterwards
    first: tuple[Floats, ...] | None
    readings: Readings  # the resolution of the observations
    origin: Floats  # the origin of the positions of the filters, for each column


class Ladder:
    """Kalman filters with many settings, weighed by a hedger.

    The score of a filter is the log density of an observation. The density has an ordinary and an
    absurd part, so that no single observation is decisive:

        p_i(y) = (1 - e_i) N(y; x_i, s_i^2 F_i) + e_i Cauchy(y; x_i, 7 s F^1/2)

    A filter moves by K (y - x_i) times the probability that y was ordinary. A hypothesis is a copy
    of all filters. After an observation that is probably absurd, a new hypothesis with a small
    weight assumes that the track has jumped there. Bayes' rule weighs the hypotheses.
    """

    def __init__(self, columns: int, hedger: Hedger[Any] | None = None) -> None:
        self.columns = columns
        self.bank = ladder()
        self.hedger: Hedger[Any] = FixedShare(NATS, SHARE) if hedger is None else hedger
        self.experts = len(self.bank.phi)
        self.handed = SHARE if hedger is None else 0.0

    def init(self) -> Belief:
        """Return the belief before the first observation."""
        zero = np.zeros((1, self.experts, self.columns))
        nothing = np.zeros(self.columns)
        return Belief(
            Filters(zero, zero, zero, zero, zero),
            np.full_like(zero, np.nan),
            zero,
            np.full((1, self.experts), 0.05),
            (self.hedger.init(self.experts),),
            np.zeros(1),
            (),
            Readings(nothing + np.nan, nothing + np.inf, nothing + np.inf, nothing, nothing),
            nothing,
        )

    def step(self, belief: Belief, y: Floats) -> Belief:
        """Return the belief after a round."""
        belief = belief._replace(readings=read_on(belief.readings, y))
        if belief.first is None:
            return self._step(belief, y - belief.origin)
        first = (*belief.first, y)[-LONGEST:]
        if np.isnan(y).all():
            return self._step(belief, y)._replace(first=first if belief.first else ())
        rows = np.array(first)
        belief = self._begin(rows, belief.readings)
        for row in rows:
            belief = self._step(belief, row - belief.origin)
        done = (np.isfinite(rows).sum(axis=0) >= WARM).all()
        return belief._replace(first=None if done else first)

    def move_on(self, belief: Belief, steps: int) -> Filters:
        """Return the filters some rounds later, without observations."""
        filters = belief.filters
        for _ in range(steps):
            filters = move(self.bank, filters)
        return filters

    def weights(self, belief: Belief) -> Floats:
        """Return the weights of the filters, H x E."""
        inner = np.array([game.weights for game in belief.games])
        return inner * np.exp(belief.logs)[:, np.newaxis]

    def earned_weights(self, games: Iterable[Any]) -> Floats:
        """Return the weights of the filters without the shared-out part and hopeless filters."""
        w = np.array([game.weights for game in games]) - self.handed / self.experts
        w = np.where(w > HOPELESS, w, 1e-300)
        return np.asarray(w / w.sum(axis=1, keepdims=True))

    def _begin(self, rows: Floats, readings: Readings) -> Belief:
        """Estimate the scales from differences of first and second order, whose noise is known."""
        belief = self.init()
        start, variance = np.zeros(self.columns), np.full((self.experts, self.columns), np.nan)
        origin, speed = np.nan_to_num(readings.last), np.ones((self.experts, self.columns))
        velocity = self.bank.phi > 0.0
        rounding = readings.rounding()
        for column in range(self.columns):
            y = rows[np.isfinite(rows[:, column]), column]
            if not y.size:
                continue
            origin[column] = np.sort(y)[y.size // 2]
            start[column] = y[0] - origin[column]
            once, twice = _spread(y, 1), _spread(y, 2)
            least = least_variance(origin[column]) + rounding[column]
            over = np.where(velocity, 6.0, 2.0) + self.bank.q00 + self.bank.q11
            noise = np.where(velocity, twice if y.size > 2 else once, once) / over
            noise = np.maximum(noise, np.maximum(least, CLEAN * once))
            speed[:, column] = np.maximum(once / noise, 1.0)
            variance[:, column] = noise if y.size > 1 else np.nan
        x = np.broadcast_to(start, belief.filters.x.shape)
        scale = np.where(velocity, 1.0, 0.0)[:, np.newaxis]
        wide = np.full_like(x, 1e4)
        fast = np.maximum(wide, 10.0 * speed) * scale
        filters = Filters(x, np.zeros_like(x), wide, np.zeros_like(x), fast)
        counts = np.full_like(x, 3.0)
        return belief._replace(
            filters=filters,
            variance=variance[np.newaxis],
            counts=counts,
            readings=readings,
            origin=origin,
        )

    def _step(self, belief: Belief, y: Floats) -> Belief:
        moved = move(self.bank, belief.filters)
        seen = np.isfinite(y) & np.isfinite(belief.variance[0, 0])
        if not seen.any():
            return belief._replace(filters=moved)
        weights = self.weights(belief)
        fit = fit_filters(
            moved, (belief.variance, belief.absurd), np.where(seen, y, 0.0), seen, weights
        )
        games, scores = [], np.empty(len(belief.logs))
        for h, (game, row) in enumerate(zip(belief.games, fit.logs, strict=True)):
            most = row.max()
            scores[h] = most + np.log(game.weights @ np.exp(row - most))
            games.append(self.hedger.step(game, np.maximum(1.0 + (row - most) / NATS, -1.0)))
        logs = belief.logs + np.maximum(scores - scores.max(), -CAP)
        logs -= np.log(np.exp(logs).sum())
        filters = update(moved, fit, seen)
        counts = np.minimum(belief.counts + seen, MEMORY)
        share = fit.ordinary[..., np.newaxis]
        square = share * fit.square + (1.0 - share) * GROWTH
        variance = belief.variance * np.where(seen, 1.0 + (square - 1.0) / counts, 1.0)
        least = least_variance(belief.origin + filters.x) + belief.readings.rounding()
        variance = np.maximum(variance, least)
        absurd = belief.absurd + (1.0 - fit.ordinary - belief.absurd) / MEMORY
        absurd = np.clip(absurd, 0.005, 0.3)
        filters = self._interact(filters, variance, games)
        new = belief._replace(
            filters=filters,
            variance=variance,
            counts=counts,
            absurd=absurd,
            games=tuple(games),
            logs=logs,
            first=None,
        )
        leader = int(belief.logs.argmax())
        if (weights[leader] * fit.ordinary[leader]).sum() < 0.5 * weights[leader].sum():
            new = self._jump(new, belief, moved, leader, y, seen)
        return new

    def _interact(self, f: Filters, variance: Floats, games: list[Any]) -> Filters:
        """Mix the state of each filter with the mean of all, by the weight that it got from them.

        w_j = (1 - share) v_j + share / E:  a_j = 1 - share / (E w_j),  x_j <- a_j x_j + (1 - a_j) x

        where x is the sum of v_j x_j.
        """
        w = np.array([game.weights for game in games])[..., np.newaxis]
        kept = np.maximum(1.0 - SHARE / self.experts / np.maximum(w, 1e-300), 0.0)
        w = self.earned_weights(games)[..., np.newaxis]
        x, v = (w * f.x).sum(axis=1, keepdims=True), (w * f.v).sum(axis=1, keepdims=True)
        dx, dv = f.x - x, f.v - v
        p00, p01, p11 = (
            (w * (variance * p + a * b)).sum(axis=1, keepdims=True) / variance
            for p, a, b in ((f.p00, dx, dx), (f.p01, dx, dv), (f.p11, dv, dv))
        )
        rest, both = 1.0 - kept, kept * (1.0 - kept) / variance
        return Filters(
            x + kept * dx,
            v + kept * dv,
            kept * f.p00 + rest * p00 + both * dx * dx,
            kept * f.p01 + rest * p01 + both * dx * dv,
            kept * f.p11 + rest * p11 + both * dv * dv,
        )

    def _jump(
        self,
        new: Belief,
        old: Belief,
        moved: Filters,
        leader: int,
        y: Floats,
        seen: npt.NDArray[Any],
    ) -> Belief:
        """Add the hypothesis that the track has jumped to y, in place of the least likely one.

        In fast filters the track has turned: the velocity may have changed by the whole error.
        """
        x = np.where(seen, y, moved.x[leader])
        error = np.where(seen, y - moved.x[leader], 0.0)
        turns = (self.bank.q11 >= TURNS)[:, np.newaxis]
        variance = old.variance[leader]
        variance = np.where(turns, np.maximum(variance, CLEAN * np.square(error)), variance)
        turned = np.where(self.bank.phi > 0.0, 4.0, 0.0)[:, np.newaxis]
        turned = turned + np.where(turns, np.square(error) / variance, 0.0)
        place = Filters(
            x,
            moved.v[leader],
            np.where(seen, 1.0, moved.p00[leader]),
            np.where(seen, 0.0, moved.p01[leader]),
            moved.p11[leader] + turned,
        )
        full = len(new.logs) == HYPOTHESES
        slot = int(new.logs.argmin()) if full else len(new.logs)

        def put(array: Floats, row: Floats) -> Floats:
            if slot == len(array):
                return np.concatenate([array, row[np.newaxis]])
            array = array.copy()
            array[slot] = row
            return array

        games = list(new.games)
        games[slot : slot + 1] = [old.games[leader]]
        logs = put(new.logs, np.asarray(np.log(JUMP)))
        logs -= np.log(np.exp(logs).sum())
        return new._replace(
            filters=Filters(*(put(a, b) for a, b in zip(new.filters, place, strict=True))),
            variance=put(new.variance, variance),
            counts=put(new.counts, old.counts[leader]),
            absurd=put(new.absurd, old.absurd[leader]),
            games=tuple(games),
            logs=logs,
        )


def _spread(y: Floats, order: int) -> float:
    """Return the variance of differences, from a low quantile that a few outliers do not change."""
    steps = np.abs(np.diff(y, n=order))
    return float(np.square(np.quantile(steps, 0.3) / 0.3853)) if steps.size else 0.0
