"""Optimistic Hedge (Rakhlin and Sridharan, 2013)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees.potentials import LARGEST_ETA
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._hedge import Hedge
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class OptimisticHedge(CompiledHedger):
    r"""Hedge that counts the last round twice, as a guess of the next round.

    If gains change slowly the guess is good and the regret stays bounded; if they jump about the
    guess costs a constant factor.

    .. math:: p_i \propto \exp\left(\eta ((1 - \alpha) R_i + r_i)\right)

    where r is the increment of R in the last round.

    Parameters
    ----------
    eta
        The learning rate, > 0; `tuned` chooses it from alpha and the number of experts.
    alpha
        The discount rate, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0 every regret stays below ``ln N / eta + eta D``, where D is the sum over rounds
    of ``(max_i d_i - min_i d_i)^2 / 4`` with ``d = r_t - r_(t-1)``: `bounds` uses D, `bound` uses
    ``D <= 4 T``. With a discount there is no theorem here. The proof gives no better bound for the
    regret to a quantile.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Rakhlin and Sridharan, "Online learning with predictable sequences" (2013); Syrgkanis, Agarwal,
    Luo and Schapire, "Fast convergence of regularized learning in games" (2015): the bound of
    optimistic follow-the-regularised-leader by variation, with the entropy.

    Examples
    --------
    >>> hedger = OptimisticHedge(eta=0.5)
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.45, 0.45, 0.1 ])
    """

    eta: float
    alpha: float = 0.0

    algorithm: ClassVar[str] = "optimistic_hedge"
    row_names: ClassVar[tuple[str, ...]] = ("last rise",)
    total_names: ClassVar[tuple[str, ...]] = ("variation",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"variation": 2}
    uncovered: ClassVar[str] = "Optimistic Hedge with a discount"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", inputs.number("eta", self.eta, 0.0, LARGEST_ETA))
        self._prepare(self.eta)

    @classmethod
    def tuned(cls, alpha: float, n_experts: int) -> "OptimisticHedge":
        """Use the rate of `Hedge.corrected`: ``sqrt(2 alpha (1 - alpha) ln N)``.

        Parameters
        ----------
        alpha, n_experts
            As for `Hedge.corrected`.
        """
        hedge = Hedge.corrected(alpha, n_experts)
        return cls(hedge.eta, hedge.alpha)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return self._bounded(n, 4.0 * rounds), "Syrgkanis et al. 2015, optimistic FTRL"

    def _a_posteriori(self, state: State) -> Floats:
        limit = self._bounded(state.joined, float(state.totals[0]))
        return np.full(len(state.weights), limit)

    def _bounded(self, n: int, variation: float) -> float:
        return math.log(n) / self.eta + self.eta * variation
