"""Scores of probabilistic forecasts.

The logarithmic score, Brier's score and the CRPS are proper: on average no forecast beats the true
distribution. The L1 loss of the paper, 1 - p(y), is not proper: for a symbol with probability 0.7
it is smallest for the forecast 1. Among experts that forecast 0.5, 0.6, ..., 0.9 and 0.99 for such
a symbol, NormalHedge with the L1 loss ends at 0.99 (L1 0.295, Brier 0.569, log score -1.344), and
with the log score at 0.70 (0.416, 0.412, -0.603): see ``benchmarks/latent/improper.py``.
"""

import math

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import normal_cdf


def log_score(probability: npt.ArrayLike) -> Floats:
    """Return ln p(y), for the density or probability p(y) of the outcome; larger is better."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(inputs.numbers_array("probability", probability)))


def brier(probabilities: npt.ArrayLike, outcomes: npt.ArrayLike) -> Floats:
    """Return sum_s (p_s - [s = y])^2, between 0 and 2; smaller is better.

    Examples
    --------
    >>> brier([[0.7, 0.3], [0.7, 0.3]], [0, 1])
    array([0.18, 0.98])
    """
    given, observed = _probabilities(probabilities, outcomes)
    return np.asarray(np.square(given - np.eye(given.shape[1])[observed]).sum(axis=1))


def l1(probabilities: npt.ArrayLike, outcomes: npt.ArrayLike) -> Floats:
    """Return 1 - p(y), the loss of Freund and Hsu; smaller is better, but it is not proper.

    Examples
    --------
    The mean loss of an honest and of a bold forecast, if a symbol has probability 0.7:

    >>> for p in 0.7, 1.0:
    ...     losses = l1([[p, 1 - p], [p, 1 - p]], [0, 1])
    ...     print(p, round(0.7 * losses[0] + 0.3 * losses[1], 2))
    0.7 0.42
    1.0 0.3
    """
    given, observed = _probabilities(probabilities, outcomes)
    return np.asarray(1.0 - given[np.arange(len(observed)), observed])


def crps(shares: npt.ArrayLike, means: npt.ArrayLike, deviations: npt.ArrayLike, y: float) -> float:
    """Return the continuous ranked probability score of a mixture of normal distributions.

    It is the integral of (F(x) - [x >= y])^2, in the units of y; smaller is better:

        sum_i p_i A(y - m_i, s_i^2) - 1/2 sum_ij p_i p_j A(m_i - m_j, s_i^2 + s_j^2)
        A(m, v) = 2 sqrt(v) phi(m / sqrt(v)) + m (2 Phi(m / sqrt(v)) - 1)

    References
    ----------
    Grimit, Gneiting, Berrocal and Johnson (2006).

    Examples
    --------
    >>> round(crps([1.0], [0.0], [1.0], 0.0), 4)
    0.2337
    """
    p, m, s = (np.asarray(part, dtype=np.float64) for part in (shares, means, deviations))
    apart = _distance(m[:, np.newaxis] - m, np.square(s)[:, np.newaxis] + np.square(s))
    return float(p @ _distance(y - m, np.square(s)) - 0.5 * p @ apart @ p)


def _distance(mean: Floats, variance: Floats) -> Floats:
    """Return E|x| of a normal x."""
    deviation = np.sqrt(variance)
    z = mean / deviation
    density = np.exp(-0.5 * np.square(np.clip(z, -40.0, 40.0))) / math.sqrt(2.0 * math.pi)
    return np.asarray(2.0 * deviation * density + mean * (2.0 * normal_cdf(z) - 1.0))


def _probabilities(
    probabilities: npt.ArrayLike, outcomes: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.intp]]:
    given = inputs.numbers_array("probabilities", probabilities).astype(np.float64)
    observed = inputs.numbers_array("outcomes", outcomes).astype(np.intp)
    if given.ndim != 2 or observed.shape != (len(given),):
        raise ValueError(
            f"probabilities must be T x m and outcomes T, got {given.shape} and {observed.shape}"
        )
    if observed.size and not 0 <= observed.min() <= observed.max() < given.shape[1]:
        raise ValueError(f"outcomes must be whole numbers from 0 to {given.shape[1] - 1}")
    return given, observed
