"""Regret matching (Hart and Mas-Colell, 2000)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from normalhedge.hedgers._compiled_hedger import CompiledHedger


@dataclass(frozen=True)
class RegretMatching(CompiledHedger):
    r"""Weigh experts in proportion to their positive regret.

    It is the simplest rule without a learning rate. The price is ``sqrt(N)`` in the bound where
    others have ``sqrt(ln N)``. It is the limit of `NormalHedge` as c grows.

    .. math:: p_i \propto [R_i]_+ \quad \text{(uniform when every } R_i \le 0)

    Parameters
    ----------
    alpha
        The discount rate of the regrets, in [0, 1); 0 never forgets.

    Notes
    -----
    Every regret stays below ``2 sqrt((N - 1) n)``, where n is the number of effective rounds (T if
    alpha = 0, never more than ``1 / (1 - (1-alpha)^2)``). Since ``sum_i [R_i]+ r_i = 0``, in each
    round the squared length of ``[R]+`` shrinks by ``(1-alpha)^2`` and then grows by at most
    ``sum_i r_i^2 <= 4 (N - 1)`` (Blackwell). So the theorem holds for any discount.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium" (2000);
    Cesa-Bianchi and Lugosi, "Prediction, Learning, and Games" (2006), the polynomially weighted
    forecaster with p = 2.

    Examples
    --------
    >>> hedger = RegretMatching()
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "regret_matching"
    free_of_scale: ClassVar[bool] = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        return blackwell_bound(n, self.effective_rounds(rounds), share), "Blackwell's condition"


def blackwell_bound(n: int, effective_rounds: float, share: float) -> float:
    """Return the largest regret to a share of the experts that Blackwell's condition allows.

    The k-th largest of [R]+ is at most 1/sqrt(k) of the length of [R]+.
    """
    return 2.0 * math.sqrt((n - 1) * effective_rounds / (share * n))
