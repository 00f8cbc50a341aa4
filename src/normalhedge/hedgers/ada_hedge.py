"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge._vector import excess, exp2, larger
from normalhedge.hedgers._ledger import (
    KEEP,
    REGRET,
    RISE,
    SCORE,
    log_experts,
    meet,
    score_exponential,
    score_leaders,
    spread_scores,
)
from normalhedge.hedgers._round import BAD_INPUT
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
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def __post_init__(self) -> None:
        self._prepare()

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds

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
def gap(weights: Floats, ledger: Floats, eta: float) -> float:
    """Return the mixability gap ``ln(sum_i p_i exp(eta r_i)) / eta`` of a round."""
    rises, scores = ledger[RISE], ledger[SCORE]
    widest = 0.0
    for i in range(rises.size):
        widest = larger(widest, abs(rises[i]))
    rate = 2.0 * eta  # rises are halves
    if rate * widest <= 1.0:
        above = 0.0  # as sum_i p_i r_i = 0, only what is above the tangent counts
        for i in range(rises.size):
            above += weights[i] * excess(rate * rises[i])
        return math.log1p(above) / eta
    slope = rate * LOG2_E
    before = leading(scores)
    after = -np.inf
    for i in range(rises.size):
        after = larger(after, scores[i] + slope * rises[i])
    old = 0.0
    new = 0.0
    for i in range(rises.size):
        old += exp2(scores[i] - before)
        # Fused, the same sum may come out an ulp above `after` or below it, and an ulp of 1e40 is
        # not nothing: who is ahead counts as one, whatever the rounding.
        new += exp2(-larger(after - (scores[i] + slope * rises[i]), 0.0))
    return max(((after - before) / LOG2_E + math.log(max(new, 1.0) / old)) / eta, 0.0)


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    if totals[0] <= TINY:
        score_leaders(ledger)
    else:
        score_exponential(ledger, log_experts(ledger.shape[1]) / totals[0])


@kernel(VECTOR)
def _rounds(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    settings: Floats,
    gains: Floats,
    confidence: Floats,
    records: Floats,
    played: Floats,
) -> int:
    keep, regrets = settings[KEEP], ledger[REGRET]
    for t in range(len(gains)):
        lead = keep * leading(regrets)
        gain = meet(weights, ledger, keep, gains, confidence, t, records, played)
        if gain == BAD_INPUT:
            return t
        totals[0] *= keep
        if totals[0] <= TINY:
            totals[0] = max(records[t, 1] - lead, 0.0)  # an infinite rate: what the leaders gained
        else:
            totals[0] += gap(weights, ledger, log_experts(regrets.size) / totals[0])
        _score(ledger, totals, settings)
        spread_scores(ledger[SCORE], weights)
    return len(gains)
