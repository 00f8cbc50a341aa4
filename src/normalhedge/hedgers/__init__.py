"""The algorithms: `init`, `play`, `step` and `run`, pure functions of a state."""

from normalhedge.hedgers.hedge import Hedge
from normalhedge.hedgers.normal_hedge import NormalHedge
from normalhedge.hedgers.potential_hedger import PotentialHedger, RegretState
from normalhedge.hedgers.protocol import Hedger, Run
from normalhedge.hedgers.report import Report

__all__ = [
    "Hedge",
    "Hedger",
    "NormalHedge",
    "PotentialHedger",
    "RegretState",
    "Report",
    "Run",
]
