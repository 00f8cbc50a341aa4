"""Follow the leader: a yardstick."""

from dataclasses import dataclass
from typing import ClassVar

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, kernel
from normalhedge.hedgers._ledger import REGRET, kernels_of
from normalhedge.hedgers._scores import score_leaders, spread_leaders
from normalhedge.hedgers.ledger_hedger import LedgerHedger


@dataclass(frozen=True)
class FollowTheLeader(LedgerHedger):
    r"""Give all the weight to the expert that is ahead, in equal parts where several are.

    Hard to beat where one expert is truly the best, and beaten by any two that take turns: a
    yardstick, as no other hedger here can be drawn into losing every round.

    .. math:: p_i \propto 1[R_i = \max_j R_j]

    Among those awake it is the leader of these that is followed.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets.

    Notes
    -----
    No theorem for arbitrary gains: where the leader loses and all others gain, round after round,
    the regret reaches ``2 T (N - 1) / N``. A round costs O(N) time and a state O(N) memory.

    Examples
    --------
    >>> FollowTheLeader().run([[0.5, 0.0], [-1.0, 1.0], [1.0, -1.0]]).gains
    array([ 0.25, -1.  , -1.  ])
    """

    alpha: float = 0.0

    free_of_scale: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._prepare()


@kernel(VECTOR, inline=False)
def _score(
    weights: Floats, ledger: Floats, totals: Floats, settings: Floats, scores: Floats
) -> None:
    score_leaders(ledger[REGRET], scores)


@kernel(VECTOR, inline=False)
def _weigh(weights: Floats, ledger: Floats, totals: Floats, settings: Floats) -> None:
    spread_leaders(ledger[REGRET], weights)


FollowTheLeader._kernels = kernels_of(_score, weigh=_weigh)
