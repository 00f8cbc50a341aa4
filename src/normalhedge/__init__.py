"""Online learning with expert advice: weights that follow whoever is good now."""

from normalhedge.certificates import Bound
from normalhedge.hedgers import CompiledHedger, Hedge, Hedger, NormalHedge, Report, Run, State
from normalhedge.mixtures import Mixture, blend
from normalhedge.potentials import ExponentialPotential, NormalPotential

__version__ = "0.1.0"

__all__ = [
    "Bound",
    "CompiledHedger",
    "ExponentialPotential",
    "Hedge",
    "Hedger",
    "Mixture",
    "NormalHedge",
    "NormalPotential",
    "Report",
    "Run",
    "State",
    "blend",
]
