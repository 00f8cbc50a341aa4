r"""Scores of quantile forecasts: pinball loss, weighted interval score, CRPS and coverage.

Let x_k be the forecast of the quantile of level tau_k, k = 1 .. K, and y the outcome.

.. math::

    \rho_k &= \tau_k (y - x_k)_+ + (1 - \tau_k) (x_k - y)_+ \\
    \mathrm{WIS} &= \frac1K \sum_k 2 \rho_k \\
    \mathrm{CRPS} &\approx \sum_k v_k 2 \rho_k, \qquad
    v_k = \tfrac12 (\tau_{k+1} + \tau_k) - \tfrac12 (\tau_k + \tau_{k-1})

where the first and the last cell of the CRPS reach to 0 and to 1. If the levels are those of the
median and of J central intervals with contents 1 - alpha_j, this is the usual form

.. math::

    \mathrm{WIS} = \frac{1}{J + 1/2} \left(\tfrac12 |y - m| + \sum_j \tfrac{\alpha_j}{2}
    \left(u_j - l_j + \tfrac{2}{\alpha_j} ((l_j - y)_+ + (y - u_j)_+)\right)\right).

The CRPS is the integral of 2 rho over all levels; equally spaced levels give WIS and CRPS the same
meaning. Bracher et al., "Evaluating epidemic forecasts in an interval format" (2021).
"""

from collections.abc import Sequence

import numpy as np

from normalhedge.boundary.inputs import Floats


def pinball_losses(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the pinball loss of each forecast; NaN where forecast or outcome is missing.

    Parameters
    ----------
    forecasts
        Quantiles: cells x levels, or cells x levels x experts.
    outcomes
        The outcome of each cell.
    levels
        The level of each column of forecasts.

    Examples
    --------
    >>> pinball_losses(np.array([[1.0, 3.0]]), np.array([2.0]), [0.1, 0.9])
    array([[0.1, 0.1]])
    """
    shape = (1, -1) + (1,) * (forecasts.ndim - 2)
    tau = np.asarray(levels, dtype=np.float64).reshape(shape)
    below = outcomes.reshape((-1,) + (1,) * (forecasts.ndim - 1)) - forecasts
    return np.asarray(np.where(below > 0.0, tau * below, (tau - 1.0) * below))


def wis_scores(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the weighted interval score of each cell; NaN where a level is missing.

    Parameters
    ----------
    forecasts, outcomes, levels
        As for `pinball_losses`.

    Examples
    --------
    >>> wis_scores(np.array([[1.0, 2.0, 4.0]]), np.array([5.0]), [0.25, 0.5, 0.75]).round(4)
    array([2.1667])
    """
    return np.asarray(2.0 * pinball_losses(forecasts, outcomes, levels).mean(axis=1))


def crps_scores(forecasts: Floats, outcomes: Floats, levels: Sequence[float]) -> Floats:
    """Return the continuous ranked probability score of each cell, by a sum over the levels.

    Parameters
    ----------
    forecasts, outcomes, levels
        As for `pinball_losses`.
    """
    losses = pinball_losses(forecasts, outcomes, levels)
    return np.asarray(2.0 * np.tensordot(cell_widths(levels), losses, axes=(0, 1)))


def cell_widths(levels: Sequence[float]) -> Floats:
    """Return the part of (0, 1) that each level stands for; they sum to one.

    Examples
    --------
    >>> cell_widths([0.05, 0.5, 0.95])
    array([0.275, 0.45 , 0.275])
    """
    tau = np.asarray(levels, dtype=np.float64)
    middles = 0.5 * (tau[1:] + tau[:-1])
    return np.diff(np.concatenate([[0.0], middles, [1.0]]))


def central_intervals(levels: Sequence[float]) -> list[tuple[float, int, int]]:
    """Return the central intervals that levels make: content, place of the lower and upper end.

    Examples
    --------
    >>> central_intervals([0.05, 0.25, 0.5, 0.75, 0.95])
    [(0.5, 1, 3), (0.9, 0, 4)]
    """
    return sorted(
        (round(levels[high] - levels[low], 9), low, high)
        for low in range(len(levels))
        for high in range(low + 1, len(levels))
        if abs(levels[low] + levels[high] - 1.0) < 1e-9
    )
