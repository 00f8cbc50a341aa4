"""What could have been: the best that was there to follow, seen from the end of a game.

All take the gains, T x N, and a discount rate: a gain s rounds before the end counts for
``(1 - alpha)^s`` of one, as in discounted regrets. What a hedger earned, summed in the same way
(`total`), is compared with these. The best fixed convex combination of *gains* is the best expert,
for gains are averaged; of forecasts it is not, and `mixtures` has that.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _core, _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers.state import rank


class Followed(NamedTuple):
    """Whom to have followed, and what it would have earned.

    Attributes
    ----------
    gain
        The (discounted) total gain.
    experts
        The expert of each round.
    """

    gain: float
    experts: np.ndarray


def total(gains: npt.ArrayLike, alpha: float = 0.0) -> Floats:
    """Return ``sum_t (1 - alpha)^(T - t) g_t`` over the rows; rounds that are NaN count nothing.

    Examples
    --------
    >>> total([[1.0, 0.0], [0.5, 1.0]], alpha=0.5)
    array([1., 1.])
    """
    table = np.asarray(gains, dtype=np.float64)
    late = _kept(alpha) ** np.arange(len(table) - 1, -1, -1, dtype=np.float64)
    return np.asarray(late @ np.nan_to_num(table))


def leads(gains: npt.ArrayLike, alpha: float = 0.0) -> Floats:
    """Return the largest discounted total after each round.

    What a hedger earned, as a table of one column, has leads too: the difference is its discounted
    regret to the best expert, round by round.

    Examples
    --------
    >>> leads([[1.0, 0.0], [0.5, 1.0]], alpha=0.5)
    array([1., 1.])
    """
    table = _table(gains)
    result = np.empty(len(table))
    _core.leads(table, _kept(alpha), result)
    return result


def best_expert(gains: npt.ArrayLike, alpha: float = 0.0) -> Followed:
    """Return the expert with the largest total gain.

    Examples
    --------
    >>> best_expert([[1.0, 0.0], [0.5, 1.0]]).gain
    1.5
    """
    table = _table(gains)
    totals = total(table, alpha)
    best = int(totals.argmax())
    return Followed(float(totals[best]), np.full(len(table), best))


def best_quantile(gains: npt.ArrayLike, quantile: float, alpha: float = 0.0) -> float:
    """Return the total gain that a share of the experts reaches: ``ceil(quantile N)`` of them.

    Examples
    --------
    >>> best_quantile([[1.0, 0.5, 0.0, -1.0]], quantile=0.5)
    0.5
    """
    totals = total(_table(gains), alpha)
    place = len(totals) - rank(_inputs.quantile(quantile), len(totals))
    return float(np.partition(totals, place)[place])


def best_sequence(gains: npt.ArrayLike, switches: int, alpha: float = 0.0) -> Followed:
    r"""Return the best sequence of experts with at most so many switches, exactly.

    .. math::

        B_t(m, i) = g_{t,i} + \max\left(B_{t-1}(m, i),\ \max_j B_{t-1}(m - 1, j)\right)

    It costs O(T N m) time, and a byte for each of these to find the way back.

    Parameters
    ----------
    gains
        T x N, a round in each row.
    switches
        m, how often it may change the expert.
    alpha
        The discount rate, in [0, 1).

    Examples
    --------
    >>> gains = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 0]]
    >>> best_sequence(gains, switches=1)
    Followed(gain=4.0, experts=array([0, 0, 1, 1, 1]))
    """
    table = _table(gains)
    rounds = len(table)
    if switches != 0:
        switches = min(_inputs.count("switches", switches), rounds - 1)
    late = _kept(alpha) ** np.arange(rounds - 1, -1, -1, dtype=np.float64)
    experts = np.empty(rounds, dtype=np.int64)
    return Followed(_core.best_sequence(table * late[:, None], switches, experts), experts)


def _kept(alpha: float) -> float:
    return 1.0 - _inputs.number("alpha", alpha, 0.0, 1.0 - 1e-16, closed=True)


def _table(gains: npt.ArrayLike) -> Floats:
    table = _inputs.numbers_array("gains", gains).astype(np.float64, order="C")
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"gains must have a row for each round and a column for each expert, at least one of "
            f"each, got shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError("gains must be finite numbers")
    return table
