"""The Kalman filters of the experts: their settings, predictions and updates."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge._inputs import Floats

WIDE = 7.0
"""The width of the Cauchy density of absurd observations, relative to ordinary ones."""


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
    """The fit of the filters to an observation: errors with their variances, and log densities."""

    error: Floats
    spread: Floats
    logs: Floats
    ordinary: Floats


def move(bank: Bank, f: Filters) -> Filters:
    """Return the filters one round later, without an observation.

    Parameters
    ----------
    bank
        The settings of the experts.
    f
        The filters.
    """
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
    """Return the fit of the filters to an observation.

    Parameters
    ----------
    moved
        The filters before the observation.
    noise
        The variance of the noise, H x E x k, and the share of absurd observations, H x E.
    y
        The observation, a number for each column.
    seen
        Whether each column is observed.
    weights
        The weights of the filters, H x E.
    """
    variance, absurd = noise
    error = np.where(seen, y - moved.x, 0.0)
    spread = np.where(seen, variance * (1.0 + moved.p00), 1.0)
    typical = np.exp(np.einsum("he,hek->k", weights, np.log(spread)) / weights.sum())
    wide = WIDE * np.sqrt(typical)
    normal = -0.5 * (np.log(2.0 * np.pi * spread) + np.square(error) / spread)
    cauchy = -np.log(np.pi * wide * (1.0 + np.square(error / wide)))
    plain = np.log1p(-absurd) + (normal * seen).sum(axis=2)
    odd = np.log(absurd) + (cauchy * seen).sum(axis=2)
    logs = np.logaddexp(plain, odd)
    return Fit(error, spread, logs, np.exp(plain - logs))


def update(m: Filters, fit: Fit, variance: Floats, seen: npt.NDArray[np.bool_]) -> Filters:
    """Update the filters by an observation.

    They move by the probability w of an ordinary observation, and keep the variance of the mixture:

        x <- x + w K e,  P <- P - w K F K' + w (1 - w) K e e' K' / s^2

    Parameters
    ----------
    m
        The filters before the observation.
    fit
        Their fit to the observation.
    variance
        The variance of the noise, H x E x k.
    seen
        Whether each column is observed.
    """
    total = 1.0 + m.p00
    k0, k1 = np.where(seen, m.p00 / total, 0.0), np.where(seen, m.p01 / total, 0.0)
    w = fit.ordinary[..., np.newaxis]
    less = w * (total - (1.0 - w) * np.minimum(np.square(fit.error) / variance, 1e30))
    return Filters(
        m.x + w * k0 * fit.error,
        m.v + w * k1 * fit.error,
        m.p00 - less * k0 * k0,
        m.p01 - less * k0 * k1,
        m.p11 - less * k1 * k1,
    )
