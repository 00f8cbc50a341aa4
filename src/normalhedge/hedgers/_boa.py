"""BOA, Bernstein online aggregation (Wintenberger, 2017)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._algorithm import NEEDS_COUNT
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class BOA(CompiledHedger):
    r"""Hedge on regrets minus a penalty for their variance, with a learning rate for each expert.

    .. math::

        p_i \propto \eta_i \exp\left(\eta_i \textstyle\sum_t
        (\rho_{i,t} - \eta_{i,t} \rho_{i,t}^2)\right), \qquad
        \eta_i = \min\left(\tfrac12, \sqrt{\ln N / (1 + \textstyle\sum_t \rho_{i,t}^2)}\right)

    where eta_(i,t) is the rate in round t, and ``rho = r / 2`` are the differences of the losses
    ``(1 - g) / 2``.

    Parameters
    ----------
    alpha
        The discount rate of both sums, in [0, 1); 0 never forgets.

    Notes
    -----
    The rates are those of `MLProd`, for gains of known range; Wintenberger's rates also learn the
    range. With alpha = 0, for every expert
    ``R_i <= 2 (2 sqrt(ln N (1 + V_i)) + G / eta_i)``, where
    ``G = ln N + ln(1 + (1 + ln(1 + T)) / 2e)`` and ``V_i = sum_t rho_i^2``: `bounds` uses V and
    eta, `bound` uses ``V <= T``. The proof is that of ML-Prod, with ``e^(x - x^2) <= 1 + x`` (for
    x >= -1/2) in place of ``1 + x``, and weights that start at 1 instead of 1/N. With a discount
    there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Wintenberger, "Optimal learning with Bernstein online aggregation" (2017); Gaillard, Stoltz and
    van Erven, "A second-order bound with excess losses" (2014), for the proof.

    Examples
    --------
    >>> BOA().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.408, 0.378, 0.214])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "boa"
    row_names: ClassVar[tuple[str, ...]] = ("squares", "priced regret")
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}
    uncovered: ClassVar[str] = "BOA with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return float(_bounded(n, rounds, np.float64(rounds))), "as ML-Prod"

    def _a_posteriori(self, state: State) -> Floats:
        return np.asarray(_bounded(state.joined, state.rounds, state.ledger[OWN_ROW]))


def _bounded(n: int, rounds: float, squares: Any) -> Any:
    log_n = math.log(max(n, 2))
    price = 2.0 * np.sqrt(log_n * (1.0 + squares))
    start = math.log(n) + math.log1p((1.0 + math.log1p(rounds)) / (2.0 * math.e))
    return 2.0 * (price + start / np.minimum(0.5, np.sqrt(log_n / (1.0 + squares))))
