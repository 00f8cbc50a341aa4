"""A learning rate for each expert, from its excess losses: ML-Prod, BOA and ML-Poly."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import NEEDS_COUNT, DiscountedHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class MLProd(DiscountedHedger):
    r"""Multiply each weight by one plus its learning rate times the regret of the round.

    The bound on the regret to an expert uses the squares of that expert's excess losses: it is
    small for an expert that is rarely awake, and constant in T for one that is reliably ahead.

    .. math::

        p_i \propto \eta_i w_i, \qquad
        w_i \leftarrow \left(w_i (1 + \eta_i \rho_i)\right)^{\eta'_i / \eta_i}, \quad
        \eta_i = \min\left(\tfrac12, \sqrt{\ln N / (1 + \textstyle\sum_t \rho_{i,t}^2)}\right)

    where eta' is the rate after the round, w = 1/N at the start, and ``rho = r / 2`` are the
    differences of the losses ``(1 - g) / 2``.

    Notes
    -----
    With alpha = 0, ``R_i <= 2 (C / sqrt(ln N) sqrt(1 + V_i) + 2 C)`` for every expert, where
    ``C = 3 ln N + ln(1 + N (1 + ln(1 + T)) / 2e)`` and ``V_i = sum_t rho_i^2``: `bounds` uses V,
    `bound` uses ``V <= T``. With a discount there is no theorem.

    References
    ----------
    Gaillard, Stoltz and van Erven, "A second-order bound with excess losses" (2014): ML-Prod with
    rates that adapt, and the corollary for these rates.

    Examples
    --------
    >>> MLProd().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.412, 0.372, 0.216])
    """

    algorithm = "ml_prod"
    row_names = ("squares", "log weight")
    has_initial_ledger = True
    # A log weight grows in proportion to the gains while the rate is at its largest, and more
    # slowly once it has fallen. Halving it is on the safe side: the weights become more even.
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}
    uncovered = "ML-Prod with a discount"

    def newcomers(self, count: int, n: int) -> Floats:
        """Return the ledger columns of new experts, whose weight is 1/n."""
        columns = super().newcomers(count, n)
        columns[OWN_ROW + 1] = -math.log(n)
        return columns

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return float(_ml_prod_bound(n, rounds, np.float64(rounds))), "Gaillard et al. 2014, ML-Prod"

    def _a_posteriori(self, state: State) -> Floats:
        return np.asarray(_ml_prod_bound(state.joined, state.rounds, state.ledger[OWN_ROW]))


@dataclass(frozen=True)
class BOA(DiscountedHedger):
    r"""Hedge on regrets minus a penalty for their variance, with a learning rate for each expert.

    .. math::

        p_i \propto \eta_i \exp\left(\eta_i \textstyle\sum_t
        (\rho_{i,t} - \eta_{i,t} \rho_{i,t}^2)\right), \qquad
        \eta_i = \min\left(\tfrac12, \sqrt{\ln N / (1 + \textstyle\sum_t \rho_{i,t}^2)}\right)

    where eta_(i,t) is the rate in round t, and ``rho = r / 2`` are the differences of the losses
    ``(1 - g) / 2``.

    Notes
    -----
    `MLProd` has the same rates, for gains of known range; Wintenberger's rates also learn the
    range. With alpha = 0, for every expert
    ``R_i <= 2 (2 sqrt(ln N (1 + V_i)) + G / eta_i)``, where
    ``G = ln N + ln(1 + (1 + ln(1 + T)) / 2e)`` and ``V_i = sum_t rho_i^2``: `bounds` uses V and
    eta, `bound` uses ``V <= T``. It is the proof of ML-Prod, with ``e^(x - x^2) <= 1 + x`` (for
    x >= -1/2) in place of ``1 + x``, and weights that start at 1 instead of 1/N. With a discount
    there is no theorem.

    References
    ----------
    Wintenberger, "Optimal learning with Bernstein online aggregation" (2017); Gaillard, Stoltz and
    van Erven, "A second-order bound with excess losses" (2014), for the proof.

    Examples
    --------
    >>> BOA().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.408, 0.378, 0.214])
    """

    algorithm = "boa"
    row_names = ("squares", "priced regret")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}
    uncovered = "BOA with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return float(_boa_bound(n, rounds, np.float64(rounds))), "as ML-Prod"

    def _a_posteriori(self, state: State) -> Floats:
        return np.asarray(_boa_bound(state.joined, state.rounds, state.ledger[OWN_ROW]))


@dataclass(frozen=True)
class MLPoly(DiscountedHedger):
    r"""Weigh experts by their positive regret times a learning rate for each expert.

    An expert whose gains stay close to the hedger's keeps a high rate; one whose gains swing wildly
    has less weight for the same regret. There is nothing to tune, and N is not used.

    .. math:: p_i \propto \eta_i [R_i]_+, \qquad 1/\eta_i = 1 + \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``.

    Notes
    -----
    With alpha = 0, for every expert ``R_i <= 2 sqrt(N (1 + ln(1 + T)) (1 + V_i))``,
    ``V_i = sum_t rho_i^2 <= T``: `bounds` uses V, `bound` uses T. Proof: in each round
    ``sum_i eta_i [R_i]+^2`` grows by at most ``sum_i eta_i rho_i^2``, and these add up to at most
    ``N (1 + ln(1 + T))``. With a discount there is no theorem. `MLPolyOpera` has ``max rho^2`` in
    place of the 1, which makes it free of scale.

    References
    ----------
    Gaillard, Stoltz and van Erven, "A second-order bound with excess losses" (2014),
    where ML-Poly is in the appendix.

    Examples
    --------
    >>> MLPoly().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.63, 0.37, 0.  ])
    """

    algorithm = "ml_poly"
    row_names = ("squares",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    uncovered = "ML-Poly with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        quantile_size = share * n  # this many experts share the potential
        regret = 2.0 * math.sqrt(n / quantile_size * (1.0 + math.log1p(rounds)) * (1.0 + rounds))
        return regret, "Gaillard et al. 2014, ML-Poly"

    def _a_posteriori(self, state: State) -> Floats:
        factor = state.joined * (1.0 + math.log1p(state.rounds))
        return np.asarray(2.0 * np.sqrt(factor * (1.0 + state.ledger[OWN_ROW])))


@dataclass(frozen=True)
class MLPolyOpera(DiscountedHedger):
    r"""ML-Poly that learns the scale of the gains; opera calls it MLpol.

    The largest square so far takes the place of the 1 of `MLPoly`. So ten times the gains give the
    same weights, and learning is not slow if the gains are much smaller than their range.

    .. math::

        p_i \propto \eta_i [R_i]_+, \qquad
        1/\eta_i = \max_{t, j} \rho_{j,t}^2 + \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``. The weights are uniform if no (awake) expert has a positive regret.

    Parameters
    ----------
    alpha
        The discount rate, in [0, 1); 0 never forgets, like opera. With a discount the rule is the
        same on gains that grow by ``1 / (1 - alpha)`` in each round: the squares, and the largest
        of them, decay by ``(1 - alpha)^2``.

    Notes
    -----
    There is no bound. The theorem of Gaillard, Stoltz and van Erven (2014) is about `MLPoly` on
    losses of known range: its potential grows by the sum of ``eta_i rho_i^2``, and the proof needs
    rho^2 to be at most the 1 in ``1 / eta_i`` *before* the round. Here a difference can be larger
    than all earlier ones, so that step of the proof fails.

    References
    ----------
    Gaillard and Goude, "opera: Online Prediction by Expert Aggregation", a package for R, where it
    is ``MLpol``; and "Forecasting electricity consumption by aggregating experts; how to design a
    good set of experts" (2015).

    Examples
    --------
    >>> MLPolyOpera().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.556, 0.444, 0.   ])
    """

    algorithm = "ml_poly_opera"
    row_names = ("squares",)
    total_names = ("largest square",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2, "largest square": 2}
    free_of_scale = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        del n, rounds, share
        return math.inf, "no theorem covers ML-Poly with a learned scale"


def _ml_prod_bound(n: int, rounds: float, squares: Any) -> Any:
    log_n = math.log(max(n, 2))
    c = 3.0 * log_n + math.log1p(n * (1.0 + math.log1p(rounds)) / (2.0 * math.e))
    return 2.0 * (c / math.sqrt(log_n) * np.sqrt(1.0 + squares) + 2.0 * c)


def _boa_bound(n: int, rounds: float, squares: Any) -> Any:
    log_n = math.log(max(n, 2))
    price = 2.0 * np.sqrt(log_n * (1.0 + squares))
    start = math.log(n) + math.log1p((1.0 + math.log1p(rounds)) / (2.0 * math.e))
    return 2.0 * (price + start / np.minimum(0.5, np.sqrt(log_n / (1.0 + squares))))
