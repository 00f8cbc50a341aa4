"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import excess, exp2, larger
from normalhedge.hedgers._ledger import KEEP, REGRET, kernels_of
from normalhedge.hedgers._scores import log_experts, score_exponential, score_leaders
from normalhedge.hedgers.ledger_hedger import NEEDS_COUNT, LedgerHedger
from normalhedge.hedgers.ledger_state import LedgerState
from normalhedge.potentials import LOG2_E, TINY, leading


@dataclass(frozen=True)
class AdaHedge(LedgerHedger):
    r"""Hedge whose learning rate falls only as far as the gains force it to.

    What the hedger loses on account of its rate is the mixability gap; the rate is ln N over the
    sum of the gaps so far. Easy games keep it high, and it starts by following the leader. Scales
    are not used: gains ten times as large give the same weights.

    .. math::

        p_i \propto \exp(\eta R_i), \quad \eta = \frac{\ln N}{\Delta}, \qquad
        \Delta \leftarrow (1 - \alpha) \Delta + \delta, \quad
        \delta = \frac1\eta \ln \textstyle\sum_i p_i e^{\eta r_i}

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. In a round the regrets and Delta decay first,
        and eta is that of the decayed Delta.

    Notes
    -----
    Every regret stays below ``2 Delta`` (`bounds`), and that below
    ``2 sqrt(n ln N) + 2 (4/3 ln N + 2)``, n the effective rounds, T where alpha = 0 (`bound`).
    The theorem allows any ranges of the gains, known or not; a discounted game is the game without
    discount on gains that grow by ``1 / (1 - alpha)`` a round, and AdaHedge is the same on it: so
    it carries over to any discount.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen, "Follow the leader if you can, hedge if you must"
    (2014), the second-order bound of AdaHedge, with a variance of at most a quarter of the squared
    range.

    Examples
    --------
    >>> AdaHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.602, 0.355, 0.043])
    """

    alpha: float = 0.0

    names: ClassVar[tuple[str, ...]] = ("gap",)
    free_of_scale: ClassVar[bool] = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def __post_init__(self) -> None:
        self._prepare()

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = 2.0 * gap_bound(n, self.effective_rounds(rounds))
        return regret, "de Rooij et al. 2014, AdaHedge"

    def _a_posteriori(self, state: LedgerState) -> Floats:
        return np.full(len(state.weights), 2.0 * state.totals[0] * (1.0 + 1e-9))


def gap_bound(n: int, effective_rounds: float) -> float:
    """Return what Delta never exceeds where gains are in [-1, 1]."""
    if n == 1:
        return 0.0
    log_n = math.log(n)
    return math.sqrt(effective_rounds * log_n) + 2.0 * (2.0 / 3.0 * log_n + 1.0)


@kernel(VECTOR, inline=False)
def gap(
    weights: Floats, regrets: Floats, keep: float, told: Floats, level: float, eta: float
) -> float:
    """Return the mixability gap ``ln(sum_i p_i exp(eta r_i)) / eta`` of a round.

    The regrets are those before it, and p is theirs at the rate eta once they have decayed.
    """
    widest = 0.0
    for i in range(told.size):
        widest = larger(widest, abs(told[i] - level))
    if eta * widest <= 1.0:
        above = 0.0  # as sum_i p_i r_i = 0, only what is above the tangent counts
        for i in range(told.size):
            above += weights[i] * excess(eta * (told[i] - level))
        return math.log1p(above) / eta
    slope = eta * LOG2_E
    lead = leading(regrets)
    after = -np.inf
    for i in range(told.size):
        after = larger(after, slope * (keep * (regrets[i] - lead) + (told[i] - level)))
    old = 0.0
    new = 0.0
    for i in range(told.size):
        before = keep * (regrets[i] - lead)
        old += exp2(slope * before)
        # Fused, the same sum may come out an ulp above `after` or below it, and an ulp of 1e40 is
        # not nothing: who is ahead counts as one, whatever the rounding.
        new += exp2(-larger(after - slope * (before + (told[i] - level)), 0.0))
    return max((after / LOG2_E + math.log(max(new, 1.0) / old)) / eta, 0.0)


@kernel(VECTOR, inline=False)
def leaders_rise(regrets: Floats, keep: float, told: Floats, level: float) -> float:
    """Return how much the leading regret rises in a round: the gap at an infinite rate."""
    after = -np.inf
    for i in range(told.size):
        after = larger(after, keep * regrets[i] + (told[i] - level))
    return max(after - keep * leading(regrets), 0.0)


@kernel(VECTOR, inline=False)
def _learn(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    told: Floats,
    level: float,
    gain: float,
) -> None:
    keep, regrets = settings[KEEP], ledger[REGRET]
    totals[0] *= keep
    if totals[0] <= TINY:
        totals[0] = leaders_rise(regrets, keep, told, level)
    else:
        eta = log_experts(regrets.size) / totals[0]
        totals[0] += gap(weights, regrets, keep, told, level, eta)


@kernel(VECTOR, inline=False)
def _score(
    weights: Floats, ledger: Floats, totals: Floats, settings: Floats, scores: Floats
) -> None:
    regrets = ledger[REGRET]
    if totals[0] <= TINY:
        score_leaders(regrets, scores)
    else:
        score_exponential(regrets, log_experts(regrets.size) / totals[0], scores)


AdaHedge._kernels = kernels_of(_score, _learn)
