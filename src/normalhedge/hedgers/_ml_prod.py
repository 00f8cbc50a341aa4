"""ML-Prod (Gaillard, Stoltz and van Erven, 2014)."""

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
class MLProd(CompiledHedger):
    r"""Multiply each weight by one plus its learning rate times the regret of the round.

    The bound on the regret to an expert uses the squares of that expert's excess losses: it is
    small for an expert that is rarely awake, and constant in T for one that is reliably ahead.

    .. math::

        p_i \propto \eta_i w_i, \qquad
        w_i \leftarrow \left(w_i (1 + \eta_i \rho_i)\right)^{\eta'_i / \eta_i}, \quad
        \eta_i = \min\left(\tfrac12, \sqrt{\ln N / (1 + \textstyle\sum_t \rho_{i,t}^2)}\right)

    where eta' is the rate after the round, w = 1/N at the start, and ``rho = r / 2`` are the
    differences of the losses ``(1 - g) / 2``.

    Parameters
    ----------
    alpha
        The discount rate of the squares and of ln w, in [0, 1); 0 never forgets.

    Notes
    -----
    With alpha = 0, ``R_i <= 2 (C / sqrt(ln N) sqrt(1 + V_i) + 2 C)`` for every expert, where
    ``C = 3 ln N + ln(1 + N (1 + ln(1 + T)) / 2e)`` and ``V_i = sum_t rho_i^2``: `bounds` uses V,
    `bound` uses ``V <= T``. With a discount there is no theorem.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Gaillard, Stoltz and van Erven, "A second-order bound with excess losses" (2014): ML-Prod with
    rates that adapt, and the corollary for these rates.

    Examples
    --------
    >>> MLProd().run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.412, 0.372, 0.216])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "ml_prod"
    row_names: ClassVar[tuple[str, ...]] = ("squares", "log weight")
    has_initial_ledger: ClassVar[bool] = True
    # A log weight grows in proportion to the gains while the rate is at its largest, and more
    # slowly once it has fallen. Halving it is on the safe side: the weights become more even.
    scaling_exponents: ClassVar[Mapping[str, int]] = {"squares": 2}
    breaks: ClassVar[Mapping[str, str]] = {"a_sleeper_changes_nothing": NEEDS_COUNT}
    uncovered: ClassVar[str] = "ML-Prod with a discount"

    def _begin(self, columns: Floats, n: int) -> None:
        columns[OWN_ROW + 1] = -math.log(n)

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:  # noqa: ARG002
        return float(_bounded(n, rounds, np.float64(rounds))), "Gaillard et al. 2014, ML-Prod"

    def _a_posteriori(self, state: State) -> Floats:
        return np.asarray(_bounded(state.joined, state.rounds, state.ledger[OWN_ROW]))


def _bounded(n: int, rounds: float, squares: Any) -> Any:
    log_n = math.log(max(n, 2))
    c = 3.0 * log_n + math.log1p(n * (1.0 + math.log1p(rounds)) / (2.0 * math.e))
    return 2.0 * (c / math.sqrt(log_n) * np.sqrt(1.0 + squares) + 2.0 * c)
