"""The common part of Fixed Share and Variable Share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from normalhedge.boundary import inputs
from normalhedge.guarantees.potentials import LARGEST_ETA
from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class SharingHedger(CompiledHedger):
    """Hedge that gives a share of the weight to other experts after every round.

    Parameters
    ----------
    eta
        The learning rate, > 0.
    share
        s, strictly between 0 and 1.
    alpha
        The discount rate of the regrets in the state, in [0, 1).
    """

    eta: float
    share: float
    alpha: float = 0.0

    scaling_exponents: ClassVar[Mapping[str, int]] = {"weights": 1}
    breaks: ClassVar[Mapping[str, str]] = {
        "a_sleeper_changes_nothing": "a share of the weight goes to every expert, asleep or not"
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        object.__setattr__(self, "share", inputs.number("share", self.share, 0.0, 1.0))

    @classmethod
    def tuned(
        cls, alpha: float, n_experts: int, *, share: float | None = None, eta: float | None = None
    ) -> Self:
        """Choose the rate that minimises the bound of Fixed Share for a switch every 1/s rounds.

        It is ``eta^2 = 2 (s ln(N / s) + (1 - s) ln(1 / (1 - s)))``.

        Parameters
        ----------
        alpha
            The discount rate of the regrets that the state keeps, and the default of ``share``.
        n_experts
            The number of experts N.
        share
            The share s, strictly between 0 and 1. None: alpha.
        eta
            The learning rate. None: the one above.
        """
        s = inputs.number("share", alpha if share is None else share, 0.0, 1.0)
        n = max(inputs.count("n_experts", n_experts), 2)
        nats = s * math.log(n / s) - (1.0 - s) * math.log1p(-s)
        return cls(math.sqrt(2.0 * nats) if eta is None else eta, s, alpha)
