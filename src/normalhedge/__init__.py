"""Online learning with expert advice: weights that follow whoever is good now."""

from normalhedge.certificates import Bound
from normalhedge.hedgers import (
    Hedge,
    Hedger,
    NormalHedge,
    PotentialHedger,
    RegretState,
    Report,
    Run,
)
from normalhedge.mixtures import Mixture, blend
from normalhedge.potentials import ExponentialPotential, NormalPotential

__version__ = "0.1.0"

__all__ = [
    "Bound",
    "ExponentialPotential",
    "Hedge",
    "Hedger",
    "Mixture",
    "NormalHedge",
    "NormalPotential",
    "PotentialHedger",
    "RegretState",
    "Report",
    "Run",
    "blend",
]
