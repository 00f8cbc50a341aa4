"""ML-Poly (Gaillard, Stoltz and van Erven, 2014)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class MLPoly(CompiledHedger):
    r"""Weigh experts by their positive regret times a learning rate for each expert.

    An expert whose gains stay close to the hedger's keeps a high rate; one whose gains swing wildly
    has less weight for the same regret. There is nothing to tune, and N is not used.

    .. math:: p_i \propto \eta_i [R_i]_+, \qquad 1/\eta_i = 1 + \textstyle\sum_t \rho_{i,t}^2

    with ``rho = r / 2``, the differences of the losses ``(1 - g) / 2``.

    Parameters
    ----------
    alpha
        The discount rate of regrets and squares, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, for every expert ``R_i <= 2 sqrt(N (1 + ln(1 + T)) (1 + V_i))``,
    ``V_i = sum_t rho_i^2 <= T``: `bounds` uses V, `bound` uses T. Proof: in each round
    ``sum_i eta_i [R_i]+^2`` grows by at most ``sum_i eta_i rho_i^2``, and these add up to at most
    ``N (1 + ln(1 + T))``. With a discount there is no theorem. `MLPolyOpera` has ``max rho^2`` in
    place of the 1, which makes it free of scale.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Gaillard, Stoltz and van Erven, "A second-order bound with excess losses" (2014),
    where ML-Poly is in the appendix.

    Examples
    --------
    >>> MLPoly().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.63, 0.37, 0.  ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "ml_poly"
    row_names: ClassVar[tuple[str, ...]] = ("squares",)
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    uncovered: ClassVar[str] = "ML-Poly with a discount"

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        quantile_size = share * n  # this many experts share the potential
        regret = 2.0 * math.sqrt(n / quantile_size * (1.0 + math.log1p(rounds)) * (1.0 + rounds))
        return regret, "Gaillard et al. 2014, ML-Poly"

    def _a_posteriori(self, state: State) -> Floats:
        factor = state.joined * (1.0 + math.log1p(state.rounds))
        return np.asarray(2.0 * np.sqrt(factor * (1.0 + state.ledger[OWN_ROW])))
