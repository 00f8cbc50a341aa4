"""Quantiles of mixtures: of normal distributions, and of weighted points."""

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import normal_cdf


def quantiles(means: Floats, widths: Floats, weights: Floats, ends: Floats) -> Floats:
    """Return quantiles of a mixture of normal distributions.

    Newton's method on F(x) = sum_i w_i Phi((x - m_i) / s_i), kept inside a bracket.
    """
    shares = weights / weights.sum()
    rank = np.argsort(means, axis=-1)
    half = np.argmax(np.cumsum(shares[rank], axis=-1) >= 0.5, axis=-1)[..., np.newaxis]
    middle = np.take_along_axis(rank, half, axis=-1)
    reach = 40.0 * widths
    low, high = (means - reach).min(axis=-1), (means + reach).max(axis=-1)
    low, high = (np.repeat(end[..., np.newaxis], len(ends), axis=-1) for end in (low, high))
    start = np.array([_normal_quantile(p) for p in ends])
    x: Floats = np.take_along_axis(means, middle, axis=-1)
    x = x + np.take_along_axis(widths, middle, axis=-1) * start
    means, widths = means[..., np.newaxis, :], widths[..., np.newaxis, :]
    for _ in range(200):
        z = (x[..., np.newaxis] - means) / widths
        miss = normal_cdf(z) @ shares - ends
        if (np.abs(miss) < 1e-9).all():
            break
        low, high = np.where(miss < 0.0, x, low), np.where(miss < 0.0, high, x)
        density = np.exp(-0.5 * np.square(np.clip(z, -38.0, 38.0))) / widths
        with np.errstate(divide="ignore", over="ignore"):
            new = x - miss / (density @ shares / 2.5066282746)
        new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
        x = new
    return x


def weighted_quantiles(values: Floats, weights: Floats, ends: Floats) -> Floats:
    """Return quantiles of weighted points, by linear interpolation."""
    rank = np.argsort(values, kind="stable")
    below = np.cumsum(weights[rank]) - 0.5 * weights[rank]
    return np.asarray(np.interp(ends, below, values[rank]))


def _normal_quantile(p: float) -> float:
    """Return a starting point: the logistic approximation, within 0.02 for usual p."""
    return float(np.log(p / (1.0 - p)) / 1.702)
