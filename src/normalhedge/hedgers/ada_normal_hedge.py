"""AdaNormalHedge (Luo and Schapire, 2015)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import larger, log, one_less_exp
from normalhedge.hedgers._ledger import (
    KEEP,
    NOTHING,
    OWN,
    REGRET,
    RISE,
    SCORE,
    meet,
    spread_scores,
)
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ledger_hedger import LedgerHedger
from normalhedge.hedgers.ledger_state import LedgerState
from normalhedge.potentials import LOG2_E, TINY


@dataclass(frozen=True)
class AdaNormalHedge(LedgerHedger):
    r"""Weigh experts by the normal potential of their regret, each over its own clock.

    The clock of an expert is how much its losses differed from the hedger's: one that slept, or
    agreed, stays young, and moves fast when it matters. Nothing is tuned, N is not used, and
    experts may sleep and join.

    .. math::

        \Phi(R, C) &= \exp([R]_+^2 / 3C), \quad \Phi(R, 0) = 1 \\
        p_i &\propto \tfrac12 \left(\Phi(S_i + 1, C_i + 1) - \Phi(S_i - 1, C_i + 1)\right), \qquad
        C_i = \textstyle\sum_t |\rho_{i,t}|

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``, and ``S = R / 2``.

    Parameters
    ----------
    alpha
        The discount rate of regrets and clocks, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, for every expert ``R_i <= 2 sqrt(3 C_i ln(N B))`` where
    ``B = 1 + 3/2 mean_i (1 + ln(1 + C_i)) <= 5/2 + 3/2 ln(1 + T)``; with 1/epsilon for N it holds
    of the best epsilon-quantile. `bounds` uses the clocks, `bound` ``C <= T``. With a discount
    there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Luo and Schapire, "Achieving all with no parameters: AdaNormalHedge" (2015), Theorem 1.

    Examples
    --------
    >>> AdaNormalHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.525, 0.47 , 0.005])
    """

    alpha: float = 0.0

    rows: ClassVar[tuple[str, ...]] = ("clock",)

    def __post_init__(self) -> None:
        self._prepare()

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:  # noqa: ARG002
        if self.alpha > 0.0:
            return math.inf, "no theorem covers AdaNormalHedge with a discount"
        potential = 2.5 + 1.5 * math.log1p(rounds)
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential / share))
        return regret, "Luo and Schapire 2015, Theorem 1"

    def _a_posteriori(self, state: LedgerState) -> Floats:
        if self.alpha > 0.0:
            return super()._a_posteriori(state)
        clocks = state.ledger[OWN]
        left = (state.joined - len(clocks)) * (1.0 + math.log1p(state.rounds))  # at most
        potential = 1.0 + 1.5 * (float(np.sum(1.0 + np.log1p(clocks))) + left) / state.joined
        return np.asarray(2.0 * np.sqrt(3.0 * clocks * math.log(state.joined * potential)))


@kernel(STRICT)
def log_rise(regret: float, clock: float) -> float:
    """Return ``ln(Phi(regret + 1, clock) - Phi(regret - 1, clock))``; `NOTHING` for zero."""
    up = larger(regret + 1.0, 0.0)
    width = 1.0 / (3.0 * clock)
    drop = (4.0 * regret if regret > 1.0 else up * up) * width
    value = up * up * width + log(larger(one_less_exp(drop), TINY))
    return value if drop > TINY else NOTHING


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    regrets, scores, clocks = ledger[REGRET], ledger[SCORE], ledger[OWN]
    for i in range(regrets.size):
        scores[i] = LOG2_E * log_rise(0.5 * regrets[i], clocks[i] + 1.0)


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
    keep, rises, clocks = settings[KEEP], ledger[RISE], ledger[OWN]
    for t in range(len(gains)):
        gain = meet(weights, ledger, keep, gains, confidence, t, records, played)
        if gain == BAD_INPUT:
            return t
        for i in range(rises.size):
            clocks[i] = keep * clocks[i] + abs(rises[i])
        _score(ledger, totals, settings)
        spread_scores(ledger[SCORE], weights)
    return len(gains)
