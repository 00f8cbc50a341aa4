"""Online learning with expert advice: weights that follow whoever is good now."""

from typing import TYPE_CHECKING, Any

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
from normalhedge.potentials import ExponentialPotential, NormalPotential

if TYPE_CHECKING:
    from normalhedge.mixtures import Mixture, blend

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


def __getattr__(name: str) -> Any:
    """Import what lives in `mixtures` when it is first asked for: it has many kernels."""
    if name in {"Mixture", "blend"}:
        from normalhedge import mixtures  # noqa: PLC0415

        return getattr(mixtures, name)
    raise AttributeError(f"module 'normalhedge' has no attribute {name!r}")
