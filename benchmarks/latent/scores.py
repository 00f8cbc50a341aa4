"""Scores of probabilistic forecasts, and the agreement of states with the truth.

The logarithmic score, Brier's score and the CRPS are proper: on average no forecast beats the true
distribution. The L1 loss of the paper, 1 - p(y), is not proper: for a symbol with probability 0.7
it is smallest for the forecast 1. Among experts that forecast 0.5, 0.6, ..., 0.9 and 0.99 for such
a symbol, NormalHedge with the L1 loss ends at 0.99 (L1 0.295, Brier 0.569, log score -1.344), and
with the log score at 0.70 (0.416, 0.412, -0.603): see ``benchmarks/latent/improper.py``.
"""

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._matching import Labels, assignment


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


def agreement(states: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Return the share of rounds with the right state, after the best one-to-one matching.

    Examples
    --------
    >>> agreement([1, 1, 0, 0], [0, 0, 1, 0])
    0.75
    """
    found, true = (inputs.numbers_array("states", part).astype(np.intp) for part in (states, truth))
    if found.shape != true.shape or not found.size:
        raise ValueError(
            f"states and truth must have the same length, got {found.shape} and {true.shape}"
        )
    return float((matched(found, true) == true).mean())


def matched(states: Labels, truth: Labels) -> Labels:
    """Return states by the true names, matched one to one; -1 for a state without a true one."""
    table = np.zeros((states.max() + 1, truth.max() + 1))
    np.add.at(table, (states, truth), 1.0)
    return assignment(table)[states]


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
