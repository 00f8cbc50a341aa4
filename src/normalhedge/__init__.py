"""Online learning with expert advice: weights that follow the experts that are good now."""

from normalhedge.boundary import former_names
from normalhedge.guarantees import Bound
from normalhedge.guarantees.potentials import ExponentialPotential, NormalPotential
from normalhedge.hedgers import (
    BOA,
    DORM,
    AdaHedge,
    AdaHedgeD,
    AdaNormalHedge,
    BatesGranger,
    CoinBetting,
    CompiledHedger,
    DecreasingHedge,
    DORMPlus,
    FixedShare,
    FlipFlop,
    FollowTheLeader,
    Hedge,
    Hedger,
    MLPoly,
    MLPolyOpera,
    MLProd,
    NormalHedge,
    NormalHedge2009,
    NormalHedgeBH,
    NormalHedgeDT,
    OptimisticHedge,
    RegretMatching,
    RegretMatchingPlus,
    Report,
    Run,
    Squint,
    SquintCommon,
    State,
    Uniform,
    VariableShare,
)
from normalhedge.mixtures import Mixture
from normalhedge.service.client import AsyncClient, Client
from normalhedge.tables import blend

former_names.install()

__version__ = "0.2.0"

__all__ = [  # noqa: RUF022 -- as `sorted` has it
    "AdaHedge",
    "AdaHedgeD",
    "AdaNormalHedge",
    "AsyncClient",
    "BOA",
    "BatesGranger",
    "Bound",
    "Client",
    "CoinBetting",
    "CompiledHedger",
    "DORM",
    "DORMPlus",
    "DecreasingHedge",
    "ExponentialPotential",
    "FixedShare",
    "FlipFlop",
    "FollowTheLeader",
    "Hedge",
    "Hedger",
    "MLPoly",
    "MLPolyOpera",
    "MLProd",
    "Mixture",
    "NormalHedge",
    "NormalHedge2009",
    "NormalHedgeBH",
    "NormalHedgeDT",
    "NormalPotential",
    "OptimisticHedge",
    "RegretMatching",
    "RegretMatchingPlus",
    "Report",
    "Run",
    "Squint",
    "SquintCommon",
    "State",
    "Uniform",
    "VariableShare",
    "blend",
]
