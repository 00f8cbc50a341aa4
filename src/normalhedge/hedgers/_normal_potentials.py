"""Normal potentials that need no memory: three NormalHedges and AdaNormalHedge."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import DiscountedHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class NormalHedge2009(DiscountedHedger):
    r"""Weigh experts by a normal potential whose spread keeps the average potential at e.

    The spread c is solved for in every round, so there is nothing to tune, and the algorithm is
    free of scale: ten times the regrets give the same weights.

    .. math::

        p_i \propto \frac{[R_i]_+}{c} \exp([R_i]_+^2 / 2c), \qquad
        \frac1N \textstyle\sum_i \exp([R_i]_+^2 / 2c) = e
        \quad \text{(uniform when every } R_i \le 0)

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

    algorithm = "normal_hedge_2009"
    total_names = ("exponent of the leader", "leading regret")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"exponent of the leader": 0}
    free_of_scale = True
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


FACTORS = 1.0 + np.geomspace(1e-4, 3.0, 150)
"""How fast the time may run, relative to the second moments; each gives a bound."""


@dataclass(frozen=True)
class NormalHedgeBH(DiscountedHedger):
    r"""Weigh experts by a normal potential in a time that keeps the sum of the potentials constant.

    The time runs only as fast as the regrets spread: it stops while one expert stays ahead, and
    never runs faster than a constant factor times the rounds. It is solved for in every round, as
    in `NormalHedge2009`, but the average potential keeps its value at the start.

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
        The time at the start, ``t_0``, in [1e-100, 1e100]. With a larger start the hedger is
        slower to distinguish experts.

    Notes
    -----
    The equation for t implies, whatever the discount, that the regret to the best
    epsilon-quantile of experts is at most ``2 sqrt(2 t ln(1 + (sqrt(t / t_0) - 1) / epsilon))``,
    which `bounds` returns. With alpha = 0, for every f > 1 the time is at most ``t_1 + f V``, where
    V is the cumulative second moment of the regrets under a distribution that the algorithm
    chooses, ``V <= T``, and t_1 is of order ln N: `bound` uses the least of these bounds. This
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

    start: float = 1.0

    algorithm = "normal_hedge_bh"
    total_names = ("time since the start", "leading regret")
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
        return self._bound_at(
            time - self.start, share
        ), "the theorem on the page of normal potentials"

    def _a_posteriori(self, state: State) -> Floats:
        n = len(state.weights)
        return np.full(n, self._bound_at(float(state.totals[0]), 1.0 / n) * (1.0 + 1e-9))

    def _bound_at(self, since_start: float, share: float) -> float:
        """Return the bound at a time, given as the time since the start."""
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


@dataclass(frozen=True)
class NormalHedgeDT(DiscountedHedger):
    r"""Weigh experts by the normal potential of their regret over the time played.

    This is NormalHedge derived from a drifting game. It has no learning rate, does not use the
    number of experts, and does not solve an equation in each round as `NormalHedge2009` does.

    .. math:: p_i \propto \exp([S_i + 1]_+^2 / 3t) - \exp([S_i - 1]_+^2 / 3t)

    in round t, with ``S = R / 2``, the regret in losses ``(1 - g) / 2``, after t - 1 rounds.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. With a discount t becomes
        ``1 + (1 - alpha) + (1 - alpha)^2 + ...``.

    Notes
    -----
    With alpha = 0 the regret to the best epsilon-quantile of experts stays below
    ``2 sqrt(3 T ln((e^(4/3) - 1)(ln T + 1) / (2 epsilon) + 1))``; epsilon = 1/N for the best. With
    a discount there is no theorem (`NormalHedge` has one).

    References
    ----------
    Luo and Schapire, "A drifting-games analysis for online learning and applications to boosting"
    (2014).

    Examples
    --------
    >>> NormalHedgeDT().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.597, 0.393, 0.01 ])
    """

    algorithm = "normal_hedge_dt"
    total_names = ("time",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"time": 0}
    uncovered = "NormalHedge.DT with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        potential = math.expm1(4.0 / 3.0) * (math.log(rounds) + 1.0) / (2.0 * share) + 1.0
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential))
        return regret, "Luo and Schapire 2014"


@dataclass(frozen=True)
class AdaNormalHedge(DiscountedHedger):
    r"""Weigh experts by the normal potential of their regret, each over its own clock.

    The clock of an expert is the sum of the differences between its losses and the hedger's. An
    expert that was asleep, or agreed with the hedger, has a slow clock, and its weight reacts fast
    when it differs. There is no learning rate, the number of experts is not used, and experts may
    sleep and join.

    .. math::

        \Phi(R, C) &= \exp([R]_+^2 / 3C), \quad \Phi(R, 0) = 1 \\
        p_i &\propto \tfrac12 \left(\Phi(S_i + 1, C_i + 1) - \Phi(S_i - 1, C_i + 1)\right), \qquad
        C_i = \textstyle\sum_t |\rho_{i,t}|

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``.

    Notes
    -----
    With alpha = 0, for every expert ``R_i <= 2 sqrt(3 C_i ln(N B))`` where
    ``B = 1 + 1/2 mean_i (1 + ln(1 + C_i)) <= 3/2 + 1/2 ln(1 + T)``. With 1/epsilon in place of N it
    bounds the regret to the best epsilon-quantile. `bounds` uses the clocks, `bound` uses
    ``C <= T``. The paper has 3/2 in the place of 1/2; ``docs/two-levels.md`` has the proof. With a
    discount there is no theorem.

    References
    ----------
    Luo and Schapire, "Achieving all with no parameters: AdaNormalHedge" (2015), Theorem 1.

    Examples
    --------
    >>> AdaNormalHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.525, 0.47 , 0.005])
    """

    algorithm = "ada_normal_hedge"
    row_names = ("clock",)
    uncovered = "AdaNormalHedge with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        potential = 1.5 + 0.5 * math.log1p(rounds)
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential / share))
        return regret, "Luo and Schapire 2015, Theorem 1"

    def _a_posteriori(self, state: State) -> Floats:
        clocks = state.ledger[OWN_ROW]
        # The clocks of experts that have left are not known: at most the number of rounds.
        unknown = (state.joined - len(clocks)) * (1.0 + math.log1p(state.rounds))
        potential = 1.0 + 0.5 * (float(np.sum(1.0 + np.log1p(clocks))) + unknown) / state.joined
        return np.asarray(2.0 * np.sqrt(3.0 * clocks * math.log(state.joined * potential)))
