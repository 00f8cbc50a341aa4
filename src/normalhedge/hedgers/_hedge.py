"""Hedge (Freund and Schapire, 1997) on discounted gains, and two relatives."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound, hedge_bound
from normalhedge.guarantees.potentials import LARGEST_ETA, LOG2_E, ExponentialPotential
from normalhedge.hedgers._compiled_hedger import NEEDS_COUNT, CompiledHedger, DiscountedHedger
from normalhedge.hedgers._state import State


@dataclass(frozen=True)
class Hedge(CompiledHedger):
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

    algorithm = "hedge"
    has_potential = free_of_scale = True

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
        alpha, log_n = _check_tuning(alpha, n_experts)
        return cls(alpha, math.sqrt((alpha - alpha * alpha / 2.0) * log_n))

    @classmethod
    def derived(cls, alpha: float, n_experts: int) -> "Hedge":
        """Use the rate derived in Section 4.1: ``sqrt(4 (alpha - alpha^2/2) ln N)``.

        It is twice the rate of the paper's simulations.

        Parameters
        ----------
        alpha, n_experts
            As for `simulated`.
        """
        alpha, log_n = _check_tuning(alpha, n_experts)
        return cls(alpha, math.sqrt(4.0 * (alpha - alpha * alpha / 2.0) * log_n))

    @classmethod
    def corrected(cls, alpha: float, n_experts: int) -> "Hedge":
        """Use the rate that minimises the bound: ``sqrt(2 alpha (1 - alpha) ln N)``.

        The bound is then ``sqrt(2 ln N / (alpha (1 - alpha)))``.

        Parameters
        ----------
        alpha, n_experts
            As for `simulated`.
        """
        alpha, log_n = _check_tuning(alpha, n_experts)
        return cls(alpha, math.sqrt(2.0 * alpha * (1.0 - alpha) * log_n))

    def _bound_of_potential(self, n_experts: int, quantile: float | None) -> Bound:
        return hedge_bound(self.alpha, n_experts, self.eta, quantile)


def _check_tuning(alpha: float, n_experts: int) -> tuple[float, float]:
    # ln 1 = 0 is no rate. Any rate will do for one expert: use the rate of two.
    n_experts = max(inputs.count("n_experts", n_experts), 2)
    return inputs.number("alpha", alpha, 0.0, 1.0), math.log(n_experts)


@dataclass(frozen=True)
class DecreasingHedge(DiscountedHedger):
    r"""Hedge with a learning rate that falls with the number of rounds played.

    .. math::

        p_i \propto \exp(\eta_t (1 - \alpha) R_i), \qquad \eta_t = \sqrt{\ln N / n_t}, \quad
        n_t = 1 + (1 - \alpha)^2 n_{t-1}

    in round t; n_t = t if alpha = 0. The length of the game need not be known.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets. With a small discount the learning rate falls
        to about the rate of `Hedge.corrected`.

    Notes
    -----
    Every regret stays below ``2 sqrt(n_T ln N)``: ``2 sqrt(T ln N)`` without a discount, and never
    above ``2 sqrt(ln N / (1 - (1-alpha)^2))`` with one. A falling rate gives
    ``R <= ln N / eta_T + sum_t eta_t s_t^2 / 8`` for gains of ranges s_t; a discounted game is a
    game with growing ranges ``2 (1-alpha)^-t`` and falling rates. The bound on the regret to a
    quantile is the same.

    References
    ----------
    Auer, Cesa-Bianchi and Gentile, "Adaptive and self-confident on-line learning algorithms"
    (2002); the constant is from Bubeck, "Introduction to online optimization" (2011),
    for losses in [0, 1].

    Examples
    --------
    >>> DecreasingHedge().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.51 , 0.377, 0.112])
    """

    algorithm = "decreasing_hedge"
    total_names = ("time",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"time": 0}
    free_of_scale = True
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        regret = 2.0 * math.sqrt(self.effective_rounds(rounds) * math.log(n))
        return regret, "Hedge at a falling rate"


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

    algorithm = "optimistic_hedge"
    row_names = ("last rise",)
    total_names = ("variation",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"variation": 2}
    uncovered = "Optimistic Hedge with a discount"

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
        return self._bound_with(n, 4.0 * rounds), "Syrgkanis et al. 2015, optimistic FTRL"

    def _a_posteriori(self, state: State) -> Floats:
        limit = self._bound_with(state.joined, float(state.totals[0]))
        return np.full(len(state.weights), limit)

    def _bound_with(self, n: int, variation: float) -> float:
        return math.log(n) / self.eta + self.eta * variation
