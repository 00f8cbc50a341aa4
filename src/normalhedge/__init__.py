"""Online learning with expert advice: weights that follow the experts that are good now."""

import importlib
from typing import TYPE_CHECKING, Any

from normalhedge.boundary import former_names

if TYPE_CHECKING:  # each name is imported when it is used
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
    from normalhedge.routing import Router
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
    "Router",
    "Run",
    "Squint",
    "SquintCommon",
    "State",
    "Uniform",
    "VariableShare",
    "blend",
]

_ROOMS = (
    "boundary", "checks", "cli", "guarantees", "hedgers", "integrations", "latent", "live",
    "mixtures", "reports", "research", "routing", "service", "tables",
)  # fmt: skip

_PLACES = {
    "AsyncClient": "service.client",
    "Bound": "guarantees",
    "Client": "service.client",
    "ExponentialPotential": "guarantees.potentials",
    "Mixture": "mixtures",
    "Router": "routing",
    "NormalPotential": "guarantees.potentials",
    "blend": "tables",
}
"""The package of each exported name that is not in `normalhedge.hedgers`."""


if not TYPE_CHECKING:  # a type checker would take every misspelt name for Any

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"normalhedge.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        package = importlib.import_module(f"normalhedge.{_PLACES.get(name, 'hedgers')}")
        value = globals()[name] = getattr(package, name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
