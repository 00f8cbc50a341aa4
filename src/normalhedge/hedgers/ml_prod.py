"""ML-Prod (Gaillard, Stoltz and van Erven, 2014)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge._inputs import Floats
from normalhedge._jit import STRICT, VECTOR, kernel
from normalhedge._vector import log, log1p
from normalhedge.hedgers._ledger import (
    KEEP,
    OWN,
    RISE,
    SCORE,
    log_experts,
    meet,
    spread_scores,
)
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ledger_hedger import NEEDS_COUNT, LedgerHedger
from normalhedge.hedgers.ledger_state import LedgerState
from normalhedge.potentials import LOG2_E


@dataclass(frozen=True)
class MLProd(LedgerHedger):
    r"""Multiply weights by one plus the rate times the regret, each expert at its own rate.

    The bound to an expert is in the squares of its own excess losses: small to an expert that is
    reliably ahead, where it is constant in T, and to one that is rarely awake.

    .. math::

        p_i \propto \eta_i w_i, \qquad
        w_i \leftarrow \left(w_i (1 + \eta_i \rho_i)\right)^{\eta'_i / \eta_i}, \quad
        \eta_i = \min\left(\tfrac12, \sqrt{\ln N / (1 + \textstyle\sum_t \rho_{i,t}^2)}\right)

    with eta' the rate after the round, w = 1/N at the start, and ``rho = r / 2``, the differences
    of the losses ``(1 - g) / 2``.

    Parameters
    ----------
    alpha
        The discount rate of the squares and of ln w, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, ``R_i <= 2 (C / sqrt(ln N) sqrt(1 + V_i) + 2 C)`` for every expert, where
    ``C = 3 ln N + ln(1 + N (1 + ln(1 + T)) / 2e)`` and ``V_i = sum_t rho_i^2``: `bounds` uses V,
    `bound` ``V <= T``. With a discount there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Gaillard, Stoltz and van Erven, "A second-order bound with excess losses" (2014): ML-Prod with
    rates that adapt, and the corollary for these rates.

    Examples
    --------
    >>> MLProd().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.412, 0.372, 0.216])
    """

    alpha: float = 0.0

    rows: ClassVar[tuple[str, ...]] = ("squares", "log weight")
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def __post_init__(self) -> None:
        self._prepare()

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds

    def _begin(self, columns: Floats, n: int) -> None:
        columns[OWN + 1] = -math.log(n)

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:  # noqa: ARG002
        if self.alpha > 0.0:
            return math.inf, "no theorem covers ML-Prod with a discount"
        return float(_bounded(n, rounds, np.float64(rounds))), "Gaillard et al. 2014, ML-Prod"

    def _a_posteriori(self, state: LedgerState) -> Floats:
        if self.alpha > 0.0:
            return super()._a_posteriori(state)
        return np.asarray(_bounded(state.joined, state.rounds, state.ledger[OWN]))


def _bounded(n: int, rounds: int, squares: Any) -> Any:
    log_n = math.log(max(n, 2))
    c = 3.0 * log_n + math.log1p(n * (1.0 + math.log1p(rounds)) / (2.0 * math.e))
    return 2.0 * (c / math.sqrt(log_n) * np.sqrt(1.0 + squares) + 2.0 * c)


@kernel(STRICT)
def rate(log_n: float, squares: float) -> float:
    """Return the learning rate of an expert with these squares."""
    return min(0.5, math.sqrt(log_n / (1.0 + squares)))


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    scores, squares, logs = ledger[SCORE], ledger[OWN], ledger[OWN + 1]
    log_n = log_experts(scores.size)
    for i in range(scores.size):
        scores[i] = LOG2_E * (log(rate(log_n, squares[i])) + logs[i])


@kernel(VECTOR, inline=False)
def _grow(ledger: Floats, keep: float) -> None:
    rises, squares, logs = ledger[RISE], ledger[OWN], ledger[OWN + 1]
    log_n = log_experts(rises.size)
    for i in range(rises.size):
        rho, before = rises[i], rate(log_n, squares[i])
        squares[i] = keep * squares[i] + rho * rho
        grown = keep * logs[i] + log1p(before * rho)
        logs[i] = rate(log_n, squares[i]) / before * grown


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
    keep = settings[KEEP]
    for t in range(len(gains)):
        gain = meet(weights, ledger, keep, gains, confidence, t, records, played)
        if gain == BAD_INPUT:
            return t
        _grow(ledger, keep)
        _score(ledger, totals, settings)
        spread_scores(ledger[SCORE], weights)
    return len(gains)
