"""The Kalman filters of the experts: their settings, predictions and updates."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats

WIDE = 7.0
"""The width of the Cauchy density of absurd observations, relative to ordinary ones."""


FAR = 1e150
"""The largest error, in deviations, whose square is still a float."""


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


def fitted(
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
