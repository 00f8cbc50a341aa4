"""Online learning with expert advice: weights that follow the best recent experts.

The names here serve the tasks of the start page: blend forecasts, find regimes, use a server. The
algorithms are in `normalhedge.hedgers`, proved bounds in `normalhedge.guarantees`, games and
the paper in `normalhedge.research`.
"""

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from normalhedge.boundary import former_names

if TYPE_CHECKING:  # each name is imported when it is used
    from normalhedge.hedgers import NormalHedge
    from normalhedge.latent import HedgedTracker, Regimes, infer
    from normalhedge.mixtures import Mixture
    from normalhedge.mixtures.intervals import Conformal
    from normalhedge.routing import Router
    from normalhedge.service.client import AsyncClient, Client
    from normalhedge.tables import blend
    from normalhedge.tables.hubs import blend_hub

former_names.install()

__version__ = "0.3.0"

__all__ = [
    "AsyncClient",
    "Client",
    "Conformal",
    "HedgedTracker",
    "Mixture",
    "NormalHedge",
    "Regimes",
    "Router",
    "blend",
    "blend_hub",
    "infer",
]

_PACKAGES = {
    "AsyncClient": "service.client",
    "Client": "service.client",
    "Conformal": "mixtures.intervals",
    "HedgedTracker": "latent",
    "Mixture": "mixtures",
    "NormalHedge": "hedgers",
    "Regimes": "latent",
    "Router": "routing",
    "blend": "tables",
    "blend_hub": "tables.hubs",
    "infer": "latent",
}
"""The package that defines each exported name."""

_ROOMS = (
    "boundary", "checks", "cli", "guarantees", "hedgers", "integrations", "latent", "live",
    "mixtures", "reports", "research", "routing", "service", "tables",
)  # fmt: skip


if not TYPE_CHECKING:  # a type checker would take every misspelt name for Any

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"normalhedge.{name}")
        package = _PACKAGES.get(name) or former_names.package_of(name)
        if package is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"normalhedge.{package}"), name)
        if name in _PACKAGES:
            globals()[name] = value
        else:
            warnings.warn(
                f"import {name} from normalhedge.{package}; normalhedge.{name} goes with the next "
                "release",
                DeprecationWarning,
                stacklevel=2,
            )
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
