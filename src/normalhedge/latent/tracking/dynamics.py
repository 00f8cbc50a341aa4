"""Linear dynamics as experts: a ladder of Kalman filters, and hypotheses about where the track is.

Each column of the observations has a position and a velocity, and the experts differ in how fast
these change, in units of the noise of the observations:

    x <- x + phi v + noise,   v <- phi v + noise,   y = x + s noise

Local levels have phi = 0, velocities that die out phi = 0.8, and constant velocities phi = 1.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge._inputs import Floats
from normalhedge.hedgers import FixedShare, Hedger

NATS = 10.0
"""Half the largest difference of log densities between experts that counts in a round."""

SHARE = 0.015
"""Of the weight is handed round among the filters in every round: tracks manoeuvre."""

HYPOTHESES = 4
JUMP = 0.002
"""A priori, the weight of "it has jumped there" beside "this observation is absurd"."""

CAP = 5.0
"""The largest difference of log densities between hypotheses that counts in a round."""

WIDE = 7.0
"""An absurd observation has a Cauchy density, so many times as wide as an ordinary one."""

WARM = 12
"""The first observations, from which the scales are found anew in each round."""

LONGEST = 60
"""Rounds that the beginning lasts at most, where some column is rarely observed."""

MEMORY = 50.0
"""Observations of which the scales and the share of absurd ones are averages."""

GROWTH = 3.0
"""How much of a variance an absurd observation counts for in the estimate of the scale."""

CLEAN = 1e-14
"""The least variance of the noise in units of the square of a step that the track has made."""

TINY = 1e-280
"""The least variance of the noise."""

FAR = 1e150
"""Deviations beyond which an observation is not farther: squares are still floats."""

TURNS = 0.09
"""The least ratio of a filter that lets the velocity change by all that an absurd error says."""

HOPELESS = 1e-6
"""The weight up to which a filter has no say: it may be very far away."""

REPEATS = 0.2
"""The share of repeated readings from which on their rounding counts in full."""


class Bank(NamedTuple):
    """The experts' settings, each of shape E: phi and the noise of position and velocity."""

    phi: Floats
    q00: Floats
    q01: Floats
    q11: Floats


class Filters(NamedTuple):
    """Where the filters of all hypotheses are, H x E x k.

    Covariances are in units of the variance of the noise.
    """

    x: Floats
    v: Floats
    p00: Floats
    p01: Floats
    p11: Floats


class Readings(NamedTuple):
    """What readings tell without a filter, a number for each column: whether they are rounded.

    Attributes
    ----------
    last
        The last reading; NaN: there was none.
    least, second
        The two smallest differences between a reading and the next, apart from repeated ones.
        They are forgotten slowly.
    repeated, pairs
        The share of readings that repeat the one before, and of how many it is.
    """

    last: Floats
    least: Floats
    second: Floats
    repeated: Floats
    pairs: Floats

    def rounding(self) -> Floats:
        """Return the variance of rounding, resolution^2 / 12; 0 where readings do not repeat."""
        width = np.where(np.isfinite(self.second), self.second, 0.0)
        return np.square(width) / 12.0 * np.minimum(self.repeated / REPEATS, 1.0)


class Belief(NamedTuple):
    """All that a ladder knows; nothing in it is ever changed in place.

    Attributes
    ----------
    filters
        After the last round.
    variance, counts
        Of the noise, and from how many observations, H x E x k.
    absurd
        The share of absurd observations, H x E.
    games
        The hedger's state for each hypothesis.
    logs
        The logarithms of the weights of the hypotheses, H.
    first
        The first rounds, while the scales are still being found; None afterwards.
    readings
        Whether the observations are rounded.
    origin
        What the filters' positions are relative to: an observation of each column.
    """

    filters: Filters
    variance: Floats
    counts: Floats
    absurd: Floats
    games: tuple[Any, ...]
    logs: Floats
    first: tuple[Floats, ...] | None
    readings: Readings
    origin: Floats


def ladder() -> Bank:
    """Return the settings: local levels, damped and constant velocities."""
    rows = [(0.0, q, 0.0, 0.0) for q in 10.0 ** np.arange(-4.0, 1.6)]
    for phi, lowest in (0.8, -3.0), (1.0, -6.0):
        rows += [(phi, q / 3.0, q / 2.0, q) for q in 10.0 ** np.arange(lowest, 1.1)]
    return Bank(*np.array(rows).T)


class Ladder:
    """Kalman filters with many settings, weighed by a hedger.

    The log density of an observation is the score of a filter. It has an ordinary and an absurd
    part, so that no observation decides alone:

        p_i(y) = (1 - e_i) N(y; x_i, s_i^2 F_i) + e_i Cauchy(y; x_i, 10 s F)

    and filters move by K (y - x_i) times the probability that y was ordinary. A hypothesis is a
    copy of all filters. Where an observation is most likely absurd, another hypothesis says that
    the track has jumped there, at a hundredth of the weight; Bayes' rule weighs hypotheses.
    """

    def __init__(self, columns: int, hedger: Hedger[Any] | None = None) -> None:
        self.columns = columns
        self.bank = ladder()
        self.hedger: Hedger[Any] = FixedShare(NATS, SHARE) if hedger is None else hedger
        self.experts = len(self.bank.phi)
        self.handed = SHARE if hedger is None else 0.0

    def init(self) -> Belief:
        """Return what is known before the first observation: nothing."""
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
        """Return the belief after a round; NaN: that column was not observed."""
        belief = belief._replace(readings=_read(belief.readings, y))
        if belief.first is None:
            return self._step(belief, y - belief.origin)
        first = (*belief.first, y)[-LONGEST:]
        if np.isnan(y).all():
            return self._step(belief, y)._replace(first=first if belief.first else ())
        rows = np.array(first)
        belief = self._begun(rows, belief.readings)
        for row in rows:
            belief = self._step(belief, row - belief.origin)
        done = (np.isfinite(rows).sum(axis=0) >= WARM).all()
        return belief._replace(first=None if done else first)

    def moved(self, belief: Belief, steps: int) -> Filters:
        """Return where the filters go without observations."""
        filters = belief.filters
        for _ in range(steps):
            filters = _move(self.bank, filters)
        return filters

    def weights(self, belief: Belief) -> Floats:
        """Return the weights of the filters, H x E."""
        inner = np.array([game.weights for game in belief.games])
        return inner * np.exp(belief.logs)[:, np.newaxis]

    def earned(self, games: Iterable[Any]) -> Floats:
        """Return the filters' weights without what was handed round, nor those of the hopeless."""
        w = np.array([game.weights for game in games]) - self.handed / self.experts
        w = np.where(w > HOPELESS, w, 1e-300)
        return np.asarray(w / w.sum(axis=1, keepdims=True))

    def _begun(self, rows: Floats, readings: Readings) -> Belief:
        """Scales from the median difference of first or second order: that of noise is known."""
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
            least = _least(origin[column]) + rounding[column]
            over = np.where(velocity, 6.0, 2.0) + self.bank.q00 + self.bank.q11
            found = np.where(velocity, twice if y.size > 2 else once, once) / over
            found = np.maximum(found, np.maximum(least, CLEAN * once))
            speed[:, column] = np.maximum(once / found, 1.0)
            variance[:, column] = found if y.size > 1 else np.nan
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
        moved = _move(self.bank, belief.filters)
        seen = np.isfinite(y) & np.isfinite(belief.variance[0, 0])
        if not seen.any():
            return belief._replace(filters=moved)
        weights = self.weights(belief)
        fit = _fit(moved, belief, np.where(seen, y, 0.0), seen, weights)
        games, scores = [], np.empty(len(belief.logs))
        for h, (game, row) in enumerate(zip(belief.games, fit.logs, strict=True)):
            most = row.max()
            scores[h] = most + np.log(game.weights @ np.exp(row - most))
            games.append(self.hedger.step(game, np.maximum(1.0 + (row - most) / NATS, -1.0)))
        logs = belief.logs + np.maximum(scores - scores.max(), -CAP)
        logs -= np.log(np.exp(logs).sum())
        filters = _update(moved, fit, seen)
        counts = np.minimum(belief.counts + seen, MEMORY)
        share = fit.ordinary[..., np.newaxis]
        square = share * fit.square + (1.0 - share) * GROWTH
        variance = belief.variance * np.where(seen, 1.0 + (square - 1.0) / counts, 1.0)
        least = _least(belief.origin + filters.x) + belief.readings.rounding()
        variance = np.maximum(variance, least)
        absurd = belief.absurd + (1.0 - fit.ordinary - belief.absurd) / MEMORY
        absurd = np.clip(absurd, 0.005, 0.3)
        filters = self._handed_over(filters, variance, games)
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

    def _handed_over(self, f: Filters, variance: Floats, games: list[Any]) -> Filters:
        """Give each filter the state of all in the proportion in which it got its weight of all.

        w_j = (1 - share) v_j + share / E:  a_j = 1 - share / (E w_j),  x_j <- a_j x_j + (1 - a_j) x

        where x is the sum of v_j x_j.
        """
        w = np.array([game.weights for game in games])[..., np.newaxis]
        own = np.maximum(1.0 - SHARE / self.experts / np.maximum(w, 1e-300), 0.0)
        w = self.earned(games)[..., np.newaxis]
        x, v = (w * f.x).sum(axis=1, keepdims=True), (w * f.v).sum(axis=1, keepdims=True)
        dx, dv = f.x - x, f.v - v
        p00, p01, p11 = (
            (w * (variance * p + a * b)).sum(axis=1, keepdims=True) / variance
            for p, a, b in ((f.p00, dx, dx), (f.p01, dx, dv), (f.p11, dv, dv))
        )
        rest, both = 1.0 - own, own * (1.0 - own) / variance
        return Filters(
            x + own * dx,
            v + own * dv,
            own * f.p00 + rest * p00 + both * dx * dx,
            own * f.p01 + rest * p01 + both * dx * dv,
            own * f.p11 + rest * p11 + both * dv * dv,
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
        """Let a hypothesis say that the track has jumped to y, in place of the least likely one.

        Fast filters say that it has turned: the velocity changes by an error like this one.
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


class _Fit(NamedTuple):
    """How the filters explain an observation: errors, also squared in variances; log densities."""

    error: Floats
    square: Floats
    logs: Floats
    ordinary: Floats


def _move(bank: Bank, f: Filters) -> Filters:
    phi = bank.phi[:, np.newaxis]
    gone = phi * f.p11
    cross = f.p01 + gone
    return Filters(
        f.x + phi * f.v,
        phi * f.v,
        f.p00 + phi * (f.p01 + cross) + bank.q00[:, np.newaxis],
        phi * cross + bank.q01[:, np.newaxis],
        phi * gone + bank.q11[:, np.newaxis],
    )


def _fit(
    moved: Filters, belief: Belief, y: Floats, seen: npt.NDArray[np.bool_], weights: Floats
) -> _Fit:
    error = np.where(seen, y - moved.x, 0.0)
    spread = np.where(seen, belief.variance * (1.0 + moved.p00), 1.0)
    typical = np.exp(np.einsum("he,hek->k", weights, np.log(spread)) / weights.sum())
    wide = np.maximum(WIDE * np.sqrt(typical), np.sqrt(spread))
    square = np.square(np.clip(error / np.sqrt(spread), -FAR, FAR))
    normal = -0.5 * (np.log(2.0 * np.pi * spread) + square)
    cauchy = -np.log(np.pi * wide) - np.log1p(np.square(np.clip(error / wide, -FAR, FAR)))
    plain = np.log1p(-belief.absurd) + (normal * seen).sum(axis=2)
    odd = np.log(belief.absurd) + (cauchy * seen).sum(axis=2)
    logs = np.logaddexp(plain, odd)
    return _Fit(error, square, logs, np.exp(plain - logs))


def _update(m: Filters, fit: _Fit, seen: npt.NDArray[np.bool_]) -> Filters:
    """Move by the probability w of an ordinary observation, and keep the variance that it leaves.

    x <- x + w K e,  P <- P - w K F K' + w (1 - w) K e e' K' / s^2

    The sums are such that no digits cancel where the variance of the position is large.
    """
    total = 1.0 + m.p00
    k0, k1 = np.where(seen, m.p00 / total, 0.0), np.where(seen, m.p01 / total, 0.0)
    w = fit.ordinary[..., np.newaxis]
    left = np.where(seen, 1.0 - w + w / total, 1.0)
    more = w * (1.0 - w) * np.minimum(fit.square, 1e30) * total
    p00, p01 = m.p00 * left + more * k0 * k0, m.p01 * left + more * k0 * k1
    p11 = m.p11 - w * m.p01 * k1 + more * k1 * k1
    return Filters(
        m.x + w * k0 * fit.error,
        m.v + w * k1 * fit.error,
        p00,
        p01,
        np.maximum(p11, np.square(p01) / np.maximum(p00, 1e-300)),
    )


def _read(known: Readings, y: Floats) -> Readings:
    """Return what is known of the readings after one more."""
    step = np.abs(y - known.last)
    pair = np.isfinite(step)
    repeats = pair & (step <= 2.0 * np.spacing(np.abs(np.where(pair, y, 0.0))))
    pairs = np.where(pair, np.minimum(known.pairs + 1.0, MEMORY), known.pairs)
    share = known.repeated + np.where(pair, repeats - known.repeated, 0.0) / np.maximum(pairs, 1.0)
    moved, slow = pair & ~repeats, 1.0 + 1.0 / MEMORY
    least, second = known.least * slow, known.second * slow
    return Readings(
        np.where(np.isfinite(y), y, known.last),
        np.where(moved, np.minimum(least, step), known.least),
        np.where(moved, np.minimum(second, np.maximum(least, step)), known.second),
        share,
        pairs,
    )


def _least(place: Any) -> Any:
    """Return the least variance of noise at a place: that of the last digit of a float."""
    return np.square(2.0**-52 * place) + TINY


def _spread(y: Floats, order: int) -> float:
    """Return the variance of differences, from their lower quantile: one outlier is in three."""
    steps = np.abs(np.diff(y, n=order))
    return float(np.square(np.quantile(steps, 0.3) / 0.3853)) if steps.size else 0.0
