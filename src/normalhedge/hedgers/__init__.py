"""The algorithms: `init`, `play`, `step` and `run`, pure functions of a state."""

from collections.abc import Callable

from normalhedge.hedgers.hedge import Hedge
from normalhedge.hedgers.normal_hedge import NormalHedge
from normalhedge.hedgers.potential_hedger import PotentialHedger
from normalhedge.hedgers.protocol import Hedger, Run
from normalhedge.hedgers.regret_state import RegretState
from normalhedge.hedgers.report import Report

HEDGERS: dict[str, Callable[..., PotentialHedger]] = {
    "normal-hedge": NormalHedge,
    "hedge": Hedge.corrected,
    "hedge-derived": Hedge.derived,
    "hedge-simulated": Hedge.simulated,
    "hedge-fixed": Hedge,
}
"""Every hedger by the name it has on the command line."""

__all__ = [
    "HEDGERS",
    "Hedge",
    "Hedger",
    "NormalHedge",
    "PotentialHedger",
    "RegretState",
    "Report",
    "Run",
]
