"""Comparators in hindsight: the best expert, quantile and sequence of experts after a game.

Every function takes the gains, T x N, and a discount rate alpha: a gain s rounds before the end is
multiplied by ``(1 - alpha)^s``, as in discounted regrets. The regret of a hedger is the gain of a
comparator minus the `total` of the hedger's gains. The best fixed convex combination of *gains* is
the best expert, because gains are averaged. That is not so for forecasts: see `mixtures`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._arguments import read_table
from normalhedge.hedgers._state import rank


class Comparator(NamedTuple):
    """A sequence of experts to compare a hedger with, and its total gain.

    Attributes
    ----------
    gain
        The (discounted) total gain of the sequence.
    experts
        The index of the expert in each round.
    """

    gain: float
    experts: np.ndarray


def total(gains: npt.ArrayLike, alpha: float = 0.0) -> Floats:
    """Return ``sum_t (1 - alpha)^(T - t) g_t``, the discounted sum of the rows.

    Examples
    --------
    >>> total([[1.0, 0.0], [0.5, 1.0]], alpha=0.5)
    array([1., 1.])
    """
    table = np.asarray(gains, dtype=np.float64)
    late = _kept(alpha) ** np.arange(len(table) - 1, -1, -1, dtype=np.float64)
    return np.asarray(late @ np.nan_to_num(table))


def leads(gains: npt.ArrayLike, alpha: float = 0.0) -> Floats:
    """Return the discounted total gain of the best expert after each round.

    The hedger's gains, as a table with one column, also have leads. The difference of the two is
    the discounted regret of the hedger to the best expert after each round.

    Parameters
    ----------
    gains, alpha
        T x N finite numbers, one round in each row; and the discount rate, in [0, 1).

    Examples
    --------
    >>> leads([[1.0, 0.0], [0.5, 1.0]], alpha=0.5)
    array([1., 1.])
    """
    table = _table(gains)
    result = np.empty(len(table))
    _core.leads(table, _kept(alpha), result)
    return result


def best_expert(gains: npt.ArrayLike, alpha: float = 0.0) -> Comparator:
    """Return the expert with the largest total gain.

    Parameters
    ----------
    gains, alpha
        As for `leads`.

    Examples
    --------
    >>> best_expert([[1.0, 0.0], [0.5, 1.0]]).gain
    1.5
    """
    table = _table(gains)
    totals = total(table, alpha)
    best = int(totals.argmax())
    return Comparator(float(totals[best]), np.full(len(table), best))


def best_quantile(gains: npt.ArrayLike, quantile: float, alpha: float = 0.0) -> float:
    """Return the total gain that the best ``ceil(quantile N)`` experts all reach.

    Parameters
    ----------
    gains, alpha
        As for `leads`.
    quantile
        The share of the experts, in (0, 1].

    Examples
    --------
    >>> best_quantile([[1.0, 0.5, 0.0, -1.0]], quantile=0.5)
    0.5
    """
    totals = total(_table(gains), alpha)
    place = len(totals) - rank(inputs.quantile(quantile), len(totals))
    return float(np.partition(totals, place)[place])


def best_sequence(gains: npt.ArrayLike, switches: int, alpha: float = 0.0) -> Comparator:
    r"""Return the best sequence of experts with a limited number of switches.

    .. math::

        B_t(m, i) = g_{t,i} + \max\left(B_{t-1}(m, i),\ \max_j B_{t-1}(m - 1, j)\right)

    The result is exact. It costs O(T N m) time and T N m bytes of memory.

    Parameters
    ----------
    gains, alpha
        As for `leads`.
    switches
        The largest number m of switches from one expert to another.

    Examples
    --------
    >>> gains = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 0]]
    >>> best_sequence(gains, switches=1)
    Comparator(gain=4.0, experts=array([0, 0, 1, 1, 1]))
    """
    table = _table(gains)
    rounds = len(table)
    switches = min(inputs.count("switches", switches, 0), rounds - 1)
    late = _kept(alpha) ** np.arange(rounds - 1, -1, -1, dtype=np.float64)
    experts = np.empty(rounds, dtype=np.int64)
    return Comparator(_core.best_sequence(table * late[:, None], switches, experts), experts)


def _kept(alpha: float) -> float:
    return 1.0 - inputs.number("alpha", alpha, 0.0, 1.0 - 1e-16, closed=True)


def _table(gains: npt.ArrayLike) -> Floats:
    table = read_table("gains", gains).astype(np.float64, order="C")
    if not np.isfinite(table).all():
        raise ValueError("gains must be finite numbers")
    return table
