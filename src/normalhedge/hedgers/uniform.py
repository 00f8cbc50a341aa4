"""The plain average: a yardstick."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge.hedgers._ledger import KEEP, meet
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ledger_hedger import LedgerHedger


@dataclass(frozen=True)
class Uniform(LedgerHedger):
    """Hear every expert alike, for ever: what a hedger that learns has to beat.

    Parameters
    ----------
    alpha
        The discount rate of the regrets that are kept, in [0, 1); the weights do not depend on it.

    Notes
    -----
    The regret to the average expert is never positive; to the best one it can reach
    ``2 T (N - 1) / N``. A round costs O(N) time and a state O(N) memory.

    Examples
    --------
    >>> Uniform().run([[1.0, 0.0], [1.0, -1.0]]).gains
    array([0.5, 0. ])
    """

    alpha: float = 0.0

    def __post_init__(self) -> None:
        self._prepare()

    @property
    def _kernels(self) -> tuple[Callable[..., Any], Callable[..., int]]:
        return _score, _rounds


@kernel(VECTOR, inline=False)
def _score(ledger: Floats, totals: Floats, settings: Floats) -> None:
    """Leave the scores at zero."""


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
    for t in range(len(gains)):
        gain = meet(weights, ledger, settings[KEEP], gains, confidence, t, records, played)
        if gain == BAD_INPUT:
            return t
    return len(gains)
