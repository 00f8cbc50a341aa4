"""NormalHedge without a parameter (Chaudhuri, Freund and Hsu, 2009)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class NormalHedge2009(CompiledHedger):
    r"""Weigh experts by a normal potential whose spread keeps the average potential at e.

    The spread c is solved for in every round, so there is nothing to tune, and the algorithm is
    free of scale: ten times the regrets give the same weights.

    .. math::

        p_i \propto \frac{[R_i]_+}{c} \exp([R_i]_+^2 / 2c), \qquad
        \frac1N \textstyle\sum_i \exp([R_i]_+^2 / 2c) = e
        \quad \text{(uniform when every } R_i \le 0)

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, for every delta in (0, 1/2] the regret to the best epsilon-quantile stays below
    ``2 sqrt((1 + ln(1/epsilon)) (3 (1 + 50 delta) T + (16 ln^2 N / delta^2) (10.2 / delta^2 +
    ln N)))``: `bound` minimises over delta. In practice the regret is much smaller. At any
    discount, the equation for c gives ``R_i <= sqrt(2 c (1 + ln N))``, which `bounds` returns; with
    a discount there is no bound on c.

    A round costs O(N) time for each Newton step, about three from the root of the previous round,
    and a state O(N) memory.

    References
    ----------
    Chaudhuri, Freund and Hsu, "A parameter-free hedging algorithm" (2009), Figure 1 and Theorem 1.

    Examples
    --------
    >>> NormalHedge2009().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.879, 0.121, 0.   ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "normal_hedge_2009"
    total_names: ClassVar[tuple[str, ...]] = ("exponent of the leader", "leading regret")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"exponent of the leader": 0}
    free_of_scale: ClassVar[bool] = True
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "the average potential is over all experts, asleep or not"
    }

    def spread(self, state: State) -> float:
        """Return c, the spread of the potential; 0 if no regret is positive."""
        exponent, lead = state.totals
        return float(lead * lead / (2.0 * exponent)) if exponent > 0.0 else 0.0

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        if self.alpha > 0.0:
            return math.inf, "no theorem covers the NormalHedge of 2009 with a discount"
        delta = np.geomspace(1e-3, 0.5, 400)
        first = 16.0 * math.log(n) ** 2 / delta**2 * (10.2 / delta**2 + math.log(n))
        least = float(np.min(3.0 * (1.0 + 50.0 * delta) * rounds + first))
        regret = 2.0 * math.sqrt((1.0 + math.log(1.0 / share)) * least)
        return regret, "Chaudhuri, Freund and Hsu 2009, Theorem 1"

    def _a_posteriori(self, state: State) -> Floats:
        n = len(state.weights)
        return np.full(n, math.sqrt(2.0 * self.spread(state) * (1.0 + math.log(n))) * (1.0 + 1e-9))
