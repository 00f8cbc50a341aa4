"""Regret matching plus (Tammelin, 2014)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._regret_matching import blackwell_bound
from normalhedge.hedgers._state import OWN_ROW, State


@dataclass(frozen=True)
class RegretMatchingPlus(CompiledHedger):
    r"""Weigh experts by their regret, clipped at zero in every round.

    An expert that was bad for a long time has weight again after the first round in which it is
    good. So the hedger adapts quickly after a change, where `RegretMatching` first has to make up
    for the negative regret of the past.

    .. math:: Q_i \leftarrow [(1 - \alpha) Q_i + r_i]_+, \qquad p_i \propto Q_i

    Parameters
    ----------
    alpha
        The discount rate of the regrets, clipped or not, in [0, 1); 0 never forgets.

    Notes
    -----
    ``R_i <= Q_i``, and the length of Q has the same bound as that of [R]+ in `RegretMatching`:
    every regret stays below ``2 sqrt((N - 1) n)``, where n is the number of effective rounds. The
    theorem holds for any discount. `bounds` returns Q, plus a little for rounding.

    A round costs O(N) time and a state O(N) memory.

    References
    ----------
    Tammelin, Burch, Johanson and Bowling, "Solving heads-up limit Texas hold'em" (2015).

    Examples
    --------
    >>> hedger = RegretMatchingPlus()
    >>> hedger.run([[1.0, 0.0, -1.0], [0.5, 1.0, 0.0]]).state.weights.round(3)
    array([0.667, 0.333, 0.   ])
    """

    alpha: float = 0.0

    algorithm: ClassVar[str] = "regret_matching_plus"
    row_names: ClassVar[tuple[str, ...]] = ("clipped regret",)
    free_of_scale: ClassVar[bool] = True

    def _a_priori(self, n: int, rounds: float, share: float) -> tuple[float, str]:
        return blackwell_bound(n, self.effective_rounds(rounds), share), "Tammelin et al. 2015"

    def _a_posteriori(self, state: State) -> Floats:
        # Q and R have different rounding errors.
        return np.asarray(state.ledger[OWN_ROW] * (1.0 + 1e-9) + 1e-12)
