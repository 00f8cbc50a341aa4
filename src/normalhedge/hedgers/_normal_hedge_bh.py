"""NormalHedge.BH (Freund, Harvey, Portella, Qi and Wang, 2026)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import State

FACTORS = 1.0 + np.geomspace(1e-4, 3.0, 150)
"""How fast the time may run, relative to the second moments; each gives a bound."""


@dataclass(frozen=True)
class NormalHedgeBH(CompiledHedger):
    r"""Weigh experts by a normal potential in a time that keeps the sum of the potentials constant.

    The time runs only as fast as the regrets spread: it stands still while one expert stays ahead,
    and never runs faster than the rounds do, but for a factor. It is solved for in every round, as
    in `NormalHedge2009`, but the average potential is the one at the start and not e.

    .. math::

        p_i \propto [S_i]_+ \exp([S_i]_+^2 / 2t), \qquad
        \frac1N \textstyle\sum_i \frac{1}{\sqrt t} \exp([S_i]_+^2 / 2t) = \frac{1}{\sqrt{t_0}}
        \quad \text{(uniform when every } S_i \le 0)

    with ``S = R / 2``, the regret in losses ``(1 - g) / 2``. The potential obeys the backwards heat
    equation.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets.
    start
        The time at the start, ``t_0``, in [1e-100, 1e100]. With a larger one the hedger is slower
        to tell experts apart.

    Notes
    -----
    The equation for t says at once, whatever the discount, that the regret to the best
    epsilon-quantile of experts is at most ``2 sqrt(2 t ln(1 + (sqrt(t / t_0) - 1) / epsilon))``,
    which `bounds` returns. With alpha = 0, for every f > 1 the time is at most ``t_1 + f V``, where
    V is the cumulative second moment of the regrets under a distribution that the algorithm
    chooses, ``V <= T``, and t_1 is of order ln N: `bound` puts the least of these for t. This
    theorem holds for any t_0 and is proved on the page of normal potentials; the paper's own is for
    a t_0 of some thousands times ln N.

    A round costs O(N) time for each Newton step, about three from the root of the previous round,
    and a state O(N) memory.

    References
    ----------
    Freund, Harvey, Portella, Qi and Wang, "A second order regret bound for NormalHedge" (2026).

    Examples
    --------
    >>> hedger = NormalHedgeBH()
    >>> state = hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state
    >>> state.weights.round(3), round(hedger.time(state), 3)
    (array([0.685, 0.315, 0.   ]), 1.102)
    """

    alpha: float = 0.0
    start: float = 1.0

    algorithm: ClassVar[str] = "normal_hedge_bh"
    total_names: ClassVar[tuple[str, ...]] = ("time since the start", "leading regret")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"time since the start": 2}
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "the average potential is over all experts, asleep or not"
    }

    def __post_init__(self) -> None:
        start = inputs.number("start", self.start, 1e-100, 1e100, closed=True)
        object.__setattr__(self, "start", start)
        self._prepare(start)

    def time(self, state: State) -> float:
        """Return t, the time of the potential; ``start`` if no regret is positive."""
        return self.start + float(state.totals[0])

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        if self.alpha > 0.0:
            return math.inf, "no theorem covers NormalHedge.BH with a discount"
        time = float(np.min(latest_start(n, self.start, FACTORS) + FACTORS * rounds))
        return self._promised(
            time - self.start, share
        ), "the theorem on the page of normal potentials"

    def _a_posteriori(self, state: State) -> Floats:
        n = len(state.weights)
        return np.full(n, self._promised(float(state.totals[0]), 1.0 / n) * (1.0 + 1e-9))

    def _promised(self, since_start: float, share: float) -> float:
        """Return the bound at a time, given as what it is more than at the start."""
        if math.isinf(since_start):
            return math.inf
        growth = since_start / self.start
        odds = growth / (1.0 + math.sqrt(1.0 + growth)) / share  # (sqrt(t / t_0) - 1) / epsilon
        return 2.0 * math.sqrt(2.0 * (self.start + since_start) * math.log1p(odds))


def latest_start(n: int, start: float, factors: Floats) -> Floats:
    """Return ``t_1``: the time is never above ``t_1 + factor V``, V the second moments so far.

    If ``[S]+ <= a t`` for all experts, ``a = (sqrt(factor) - 1) / factor``, then a round adds at
    most factor times its second moment to the time. By the equation for t that is so while ``2 ln N
    + ln(t / t_0) <= a^2 t``; the last t at which it is not is approached from above. Up to there a
    step is at most ``1 + sqrt t``, whoever plays what.
    """
    spread = 2.0 * math.log(n)
    scale = (factors / (np.sqrt(factors) - 1.0)) ** 2
    time = np.maximum(start, 2.0 * scale * (spread + np.log(2.0 * scale / start) - 1.0))
    for _ in range(20):
        time = np.maximum(start, scale * (spread + np.log(time / start)))
    return np.where(time == start, start, time + 1.0 + np.sqrt(time))
