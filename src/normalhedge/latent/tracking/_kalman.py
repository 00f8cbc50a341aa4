"""The Kalman filters of the experts, and the resolution of the readings that they get."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats

WIDE = 7.0  # the width of the Cauchy density of absurd observations, relative to ordinary ones
FAR = 1e150  # the largest error, in deviations, whose square is still a float
REPEATS = 0.2  # the share of repeated readings from which on rounding counts in full
REPEATS_MEMORY = 50.0  # the memory of the share of repeated readings, in readings
TINY = 1e-280  # the smallest variance of the noise


class Bank(NamedTuple):
    """The settings of the experts, each of shape E: phi, and the noise of position and velocity."""

    phi: Floats
    q00: Floats
    q01: Floats
    q11: Floats


class Filters(NamedTuple):
    """The states of the filters of all hypotheses, H x E x k.

    Covariances are in units of the variance of the noise.
    """

    x: Floats
    v: Floats
    p00: Floats
    p01: Floats
    p11: Floats


def ladder() -> Bank:
    """Return the settings of all experts: local levels, damped and constant velocities."""
    rows = [(0.0, q, 0.0, 0.0) for q in 10.0 ** np.arange(-4.0, 1.6)]
    for phi, lowest in (0.8, -3.0), (1.0, -6.0):
        rows += [(phi, q / 3.0, q / 2.0, q) for q in 10.0 ** np.arange(lowest, 1.1)]
    return Bank(*np.array(rows).T)


class Fit(NamedTuple):
    """The fit to an observation: errors, their squares in variances, and log densities."""

    error: Floats
    square: Floats
    logs: Floats
    ordinary: Floats


def move(bank: Bank, f: Filters) -> Filters:
    """Return the filters one round later, without an observation."""
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


def fit_filters(
    moved: Filters,
    noise: tuple[Floats, Floats],
    y: Floats,
    seen: npt.NDArray[np.bool_],
    weights: Floats,
) -> Fit:
    """Return the fit of the filters to an observation."""
    variance, absurd = noise
    error = np.where(seen, y - moved.x, 0.0)
    spread = np.where(seen, variance * (1.0 + moved.p00), 1.0)
    typical = np.exp(np.einsum("he,hek->k", weights, np.log(spread)) / weights.sum())
    wide = np.maximum(WIDE * np.sqrt(typical), np.sqrt(spread))
    square = np.square(np.clip(error / np.sqrt(spread), -FAR, FAR))
    normal = -0.5 * (np.log(2.0 * np.pi * spread) + square)
    cauchy = -np.log(np.pi * wide) - np.log1p(np.square(np.clip(error / wide, -FAR, FAR)))
    plain = np.log1p(-absurd) + (normal * seen).sum(axis=2)
    odd = np.log(absurd) + (cauchy * seen).sum(axis=2)
    logs = np.logaddexp(plain, odd)
    return Fit(error, square, logs, np.exp(plain - logs))


def update(m: Filters, fit: Fit, seen: npt.NDArray[np.bool_]) -> Filters:
    """Update the filters by an observation.

    They move by the probability w of an ordinary observation, and keep the variance of the mixture:

        x <- x + w K e,  P <- P - w K F K' + w (1 - w) K e e' K' / s^2

    The sums are written so that no digits cancel if the variance of the position is large.
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


class Readings(NamedTuple):
    """Summaries of the readings, a number for each column."""

    last: Floats  # the last reading; NaN before the first one
    # least, second: the two smallest nonzero differences between successive readings, forgotten
    # slowly
    least: Floats
    second: Floats
    # repeated, pairs: the share of readings that repeat the previous one, and the number of pairs
    # behind it
    repeated: Floats
    pairs: Floats

    def rounding(self) -> Floats:
        """Return the variance of rounding, resolution^2 / 12; 0 if readings do not repeat."""
        width = np.where(np.isfinite(self.second), self.second, 0.0)
        return np.square(width) / 12.0 * np.minimum(self.repeated / REPEATS, 1.0)


def read_on(known: Readings, y: Floats) -> Readings:
    """Return the summaries after one more reading."""
    step = np.abs(y - known.last)
    pair = np.isfinite(step)
    repeats = pair & (step <= 2.0 * np.spacing(np.abs(np.where(pair, y, 0.0))))
    pairs = np.where(pair, np.minimum(known.pairs + 1.0, REPEATS_MEMORY), known.pairs)
    share = known.repeated + np.where(pair, repeats - known.repeated, 0.0) / np.maximum(pairs, 1.0)
    moved, slow = pair & ~repeats, 1.0 + 1.0 / REPEATS_MEMORY
    least, second = known.least * slow, known.second * slow
    return Readings(
        np.where(np.isfinite(y), y, known.last),
        np.where(moved, np.minimum(least, step), known.least),
        np.where(moved, np.minimum(second, np.maximum(least, step)), known.second),
        share,
        pairs,
    )


def least_variance(place: Any) -> Any:
    """Return the smallest variance of noise at a place: the last digit of a float."""
    return np.square(2.0**-52 * place) + TINY
