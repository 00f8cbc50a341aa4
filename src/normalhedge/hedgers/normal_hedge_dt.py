"""NormalHedge.DT (Luo and Schapire, 2014)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge.hedgers._ledger import KEEP, REGRET, SCORE, meet, spread_scores
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ada_normal_hedge import log_rise
from normalhedge.hedgers.ledger_hedger import LedgerHedger
from normalhedge.potentials import LOG2_E


@dataclass(frozen=True)
class NormalHedgeDT(LedgerHedger):
    r"""Weigh experts by the normal potential of their regret over the time played.

    NormalHedge as a drifting game gives it: no learning rate, N is not used, and no equation is to
    be solved in a round, as `NormalHedge2009` has to.

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

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Luo and Schapire, "A drifting-games analysis for online learning and applications to boosting"
    (2014).

    Examples
    --------
    >>> NormalHedgeDT().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.597, 0.393, 0.01 ])
    """

    alpha: float = 0.0

    names: ClassVar[tuple[str, ...]] = ("time",)

    def __post_init__(self) -> None:
        self._prepare()

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds

    def _a_priori(self, n: int, rounds: int, share: float) -> tuple[float, str]:  # noqa: ARG002
        if self.alpha > 0.0:
            return math.inf, "no theorem covers NormalHedge.DT with a discount"
        potential = math.expm1(4.0 / 3.0) * (math.log(rounds) + 1.0) / (2.0 * share) + 1.0
        regret = 2.0 * math.sqrt(3.0 * rounds * math.log(potential))
        return regret, "Luo and Schapire 2014"


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    regrets, scores = ledger[REGRET], ledger[SCORE]
    clock = settings[KEEP] * totals[0] + 1.0
    for i in range(regrets.size):
        scores[i] = LOG2_E * log_rise(0.5 * regrets[i], clock)


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
        totals[0] = keep * totals[0] + 1.0
        _score(ledger, totals, settings)
        spread_scores(ledger[SCORE], weights)
    return len(gains)
