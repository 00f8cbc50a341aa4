"""Hedge (Freund and Schapire, 1997) on discounted gains."""

import math
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.boundary import inputs
from normalhedge.guarantees import Bound, hedge_bound
from normalhedge.guarantees.potentials import LOG2_E, ExponentialPotential
from normalhedge.hedgers._potential_hedger import PotentialHedger


@dataclass(frozen=True)
class Hedge(PotentialHedger):
    r"""Weigh experts by the exponential of their discounted gain.

    .. math::

        p_i \propto \exp(\eta G_i), \qquad G_i \leftarrow (1 - \alpha) G_i + g_i

    The regrets ``R_i = G_i - G_A`` differ from the gains ``G_i`` by the same number for all
    experts, so ``p_i ∝ exp(eta R_i)``; the state keeps the regrets. With confidences the increment
    of a regret becomes ``confidence_i (g_i - g_A)``, as for `NormalHedge`.

    Parameters
    ----------
    alpha
        The discount rate, strictly between 0 and 1.
    eta
        The learning rate, > 0. `corrected`, `derived` and `simulated` choose it from the number of
        experts.

    Notes
    -----
    Every regret stays below ``ln N / eta + eta / (2 alpha (1 - alpha))``
    (`normalhedge.guarantees.hedge_bound` proves it, and explains why the paper's bound is false).

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Freund and Schapire, "A decision-theoretic generalization of on-line learning" (1997);
    discounted in Section 4.1 of Freund and Hsu.

    Examples
    --------
    >>> hedger = Hedge.corrected(alpha=0.01, n_experts=3)
    >>> state = hedger.init(3)
    >>> for _ in range(50):
    ...     state = hedger.step(state, gains=[1.0, 0.0, -1.0])
    >>> state.weights.round(3)
    array([0.997, 0.003, 0.   ])
    """

    algorithm: ClassVar[str] = "hedge"

    alpha: float
    eta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", inputs.number("alpha", self.alpha, 0.0, 1.0))
        potential = ExponentialPotential(self.eta)
        object.__setattr__(self, "eta", potential.eta)
        self._prepare(LOG2_E * potential.rate)

    @classmethod
    def simulated(cls, alpha: float, n_experts: int) -> "Hedge":
        """Use the rate of the paper's simulations: ``sqrt((alpha - alpha^2/2) ln N)``.

        Parameters
        ----------
        alpha, n_experts
            The discount rate, strictly between 0 and 1, and the number of experts N.
        """
        alpha, log_n = _checked(alpha, n_experts)
        return cls(alpha, math.sqrt((alpha - alpha * alpha / 2.0) * log_n))

    @classmethod
    def derived(cls, alpha: float, n_experts: int) -> "Hedge":
        """Use the rate derived in Section 4.1: ``sqrt(4 (alpha - alpha^2/2) ln N)``.

        It is twice the rate of the paper's simulations.

        Parameters
        ----------
        alpha, n_experts
            The discount rate, strictly between 0 and 1, and the number of experts N.
        """
        alpha, log_n = _checked(alpha, n_experts)
        return cls(alpha, math.sqrt(4.0 * (alpha - alpha * alpha / 2.0) * log_n))

    @classmethod
    def corrected(cls, alpha: float, n_experts: int) -> "Hedge":
        """Use the rate that minimises the bound: ``sqrt(2 alpha (1 - alpha) ln N)``.

        The bound is then ``sqrt(2 ln N / (alpha (1 - alpha)))``.

        Parameters
        ----------
        alpha, n_experts
            The discount rate, strictly between 0 and 1, and the number of experts N.
        """
        alpha, log_n = _checked(alpha, n_experts)
        return cls(alpha, math.sqrt(2.0 * alpha * (1.0 - alpha) * log_n))

    def _bound(self, n_experts: int, quantile: float | None) -> Bound:
        return hedge_bound(self.alpha, n_experts, self.eta, quantile)


def _checked(alpha: float, n_experts: int) -> tuple[float, float]:
    # ln 1 = 0 is no rate. Any rate will do for one expert: use that of two.
    n_experts = max(inputs.count("n_experts", n_experts), 2)
    return inputs.number("alpha", alpha, 0.0, 1.0), math.log(n_experts)
