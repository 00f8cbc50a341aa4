"""What could have been: the best that was there to follow, seen from the end of a game.

All take the gains, T x N, and a discount rate: a gain s rounds before the end counts for
``(1 - alpha)^s`` of one, as in discounted regrets. What a hedger earned, summed in the same way
(`total`), is compared with these. The best fixed convex combination of *gains* is the best expert,
for gains are averaged; of forecasts it is not, and `mixtures` has that.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import larger
from normalhedge.hedgers.regret_state import rank


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
    return _leads(_table(gains), _kept(alpha))


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
    rounds, n = table.shape
    if switches != 0:
        switches = min(_inputs.count("switches", switches), rounds - 1)
    late = _kept(alpha) ** np.arange(rounds - 1, -1, -1, dtype=np.float64)
    experts = np.empty(rounds, dtype=np.int64)
    stayed = np.empty((rounds, switches + 1, n), dtype=np.bool_)
    gain = _best_sequence(table * late[:, None], switches, stayed, experts)
    return Followed(gain, experts)


def _kept(alpha: float) -> float:
    return 1.0 - _inputs.number("alpha", alpha, 0.0, 1.0 - 1e-16, closed=True)


def _table(gains: npt.ArrayLike) -> Floats:
    table = _inputs.numbers_array("gains", gains).astype(np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"gains must have a row for each round and a column for each expert, at least one of "
            f"each, got shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError("gains must be finite numbers")
    return table


@kernel(VECTOR)
def _leads(gains: Floats, keep: float) -> Floats:
    totals, result = np.zeros(gains.shape[1]), np.empty(len(gains))
    for t in range(len(gains)):
        lead = -np.inf
        for i in range(totals.size):
            totals[i] = keep * totals[i] + gains[t, i]
            lead = larger(lead, totals[i])
        result[t] = lead
    return result


@kernel(STRICT)
def _largest(table: Floats, row: int) -> int:
    """Return the first place of the largest number in a row."""
    place = 0
    for i in range(1, table.shape[1]):
        if table[row, i] > table[row, place]:
            place = i
    return place


@kernel(STRICT)
def _best_sequence(gains: Floats, switches: int, stayed: np.ndarray, experts: np.ndarray) -> float:
    """Write the best sequence, and on the way who stayed where he was; return its total."""
    rounds, n = gains.shape
    best = np.full((switches + 1, n), -np.inf)
    for i in range(n):
        best[0, i] = gains[0, i]
    leaders = np.empty((rounds, switches + 1), dtype=np.int64)  # at the end of the round before
    for t in range(1, rounds):
        for m in range(switches + 1):
            leaders[t, m] = _largest(best, m)
        for m in range(switches, -1, -1):
            moved = best[m - 1, leaders[t, m - 1]] if m > 0 else -np.inf
            for i in range(n):
                stay = best[m, i] >= moved
                stayed[t, m, i] = stay
                best[m, i] = gains[t, i] + (best[m, i] if stay else moved)
    m, i = 0, _largest(best, 0)
    for k in range(1, switches + 1):
        j = _largest(best, k)
        if best[k, j] > best[m, i]:
            m, i = k, j
    result = float(best[m, i])
    for t in range(rounds - 1, 0, -1):
        experts[t] = i
        if not stayed[t, m, i]:
            m -= 1
            i = leaders[t, m]
    experts[0] = i
    return result
